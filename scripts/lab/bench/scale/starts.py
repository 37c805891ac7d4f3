"""The start of our server beside that of a server of one tool on the same SDK, in turns."""

from collections.abc import Mapping, Sequence

from show.results import BARE, FLOOR, OURS, START, Measured, times

from scale import calls, floors
from scale.clients import Spent, connected
from scale.effort import Effort
from scale.files import temporary


async def measured(embedder: str, effort: Effort) -> list[Measured]:
    """Start to `tools/list`, of ours on a file that does not exist yet."""
    bare, ours = list[Spent](), list[Spent]()
    with temporary() as folder:
        for number in range(effort.cold + effort.starts):
            bare.append(await _start(floors.ONE_TOOL, {}))
            ours.append(await _start(calls.command(folder / f"{number}.db", embedder), calls.environment()))
    return [
        Measured(FLOOR, f"{START}, {BARE}", 0, times(bare[effort.cold :])),
        Measured(OURS, START, 0, times(ours[effort.cold :])),
    ]


async def _start(command: Sequence[str], environment: Mapping[str, str]) -> Spent:
    async with connected(command, environment) as server:
        return server.start
