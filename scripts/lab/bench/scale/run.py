"""One run: all that `python scripts/lab/bench` measures, in order."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from server import note
from show.results import Measured

from memory_server.embedding import Embedder
from scale import calls, files, floors, inside, peers, starts
from scale.effort import Effort


async def run(
    sizes: Sequence[int], embedder: Embedder, others: Path | None, effort: Effort
) -> AsyncIterator[Measured]:
    """`others` is the folder of other servers, None where they are left out."""
    provider = embedder.space.provider
    for found in await starts.measured(provider, effort):
        yield found
    yield await floors.call(effort)
    yield floors.commit(effort)
    for found in inside.taken(min(inside.TAKEN, sizes[0]), embedder):
        yield found
    for size in sizes:
        note(f"{size:,} memories")
        with files.copied(size, embedder) as db:
            for found in floors.of_file(db, size, effort):
                yield found
            async for found in calls.measured(db, size, provider, effort):
                yield found
            for found in calls.hooked(db, size, effort):
                yield found
            files.stop_engines(db)
            for found in inside.measured(db, size, embedder, effort):
                yield found
    if others is not None:
        async for found in peers.measured(others, sizes[0], effort):
            yield found
