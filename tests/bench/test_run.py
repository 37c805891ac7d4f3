"""One whole run at a tiny size: each kind of thing is measured, and can be shown."""

import asyncio
from pathlib import Path

import pytest
from scale import peers, run
from scale.effort import Effort
from show import plots, tables
from show.results import CPU, FLOOR, INSIDE, OURS, Measured, Results

from memory_server.embedding.hashing import HashingEmbedder

pytestmark = pytest.mark.slow

SIZE = 100
LITTLE = Effort(starts=1, calls=2, events=1, warm=1, cold=0)


async def _run(others: Path) -> list[Measured]:
    return [each async for each in run.run([SIZE], HashingEmbedder(), others, LITTLE)]


def test_a_run_measures_all_and_says_who_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Results("python scripts/lab/bench", "here", 0.0, "", asyncio.run(_run(tmp_path)))
    calls = {what.partition(",")[0] for what in found.whats(INSIDE, CPU)}
    assert calls == {
        "memory_search", "recall", "memory_get", "read_memory", "memory_stats", "smart_resume", "memory_store",
        "write_memory",
    }  # fmt: skip
    assert calls < {what.partition(",")[0] for what in found.whats(OURS, CPU)}
    assert len(found.whats(FLOOR, CPU)) == 2
    assert {each.what for each in found.measured if each.who == FLOOR and not each.size} >= {
        "one durable commit of one row"
    }
    assert all(value >= 0 for each in found.measured for value in each.values.values())
    assert "hook UserPromptSubmit" in tables.text(found)
    assert "| memory_search, the first ten of a process | " in tables.text(found)
    assert set(plots.plots(found)) == {"calls.svg", "inside.svg", "start.svg"}
    said = capsys.readouterr().err
    for peer in peers.PEERS:
        assert f"{peer.name} is left out" in said
