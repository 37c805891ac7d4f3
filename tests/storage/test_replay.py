"""The same calls get the same answers from a file of SQLite and from PostgreSQL."""

import random
from pathlib import Path

import anyio
import pytest

from memory_server.where import Postgres
from tests.postgres_server import new_place
from tests.storage.replay import Side, calls, difference

CALLS = 250


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_history_has_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    anyio.run(replayed, tmp_path / "memory.db", new_place(), seed, CALLS, monkeypatch)


async def replayed(file: Path, place: Postgres, seed: int, number: int, patch: pytest.MonkeyPatch) -> None:
    """Make so many calls on both; fails at the first answer that is another one."""
    sides = [Side(where, seed, patch) for where in (file, place)]
    try:
        for count, (call, caller, later) in zip(range(number), calls(random.Random(seed)), strict=False):
            answers = []
            for side in sides:
                side.clock.advance(seconds=later.total_seconds())
                answers.append(await side.answer(call, caller))
            differs = difference(answers[0], answers[1])
            assert differs is None, f"call {count} of seed {seed}, {call}: {differs}"
        assert [side.services.database.problems() for side in sides] == [[], []]
    finally:
        for side in sides:
            side.close()
