"""An import in the background outlives its terminal, says how far it is, and goes on after a kill."""

import fcntl
import json
import os
import re
import signal
import sqlite3
from pathlib import Path

import pytest

from memory_server.cli import background
from tests.exchange.conftest import Run
from tests.exchange.test_events import lines

pytestmark = pytest.mark.skipif(os.name == "nt", reason="none on Windows")

TEXTS = [f"Berth {number} of the harbour is for ferries" for number in range(250)]


def wait(db: Path) -> None:
    """Wait until the import has ended: it holds a lock on its log."""
    with background.log_of(db).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return lines(tmp_path / "notes.jsonl", *TEXTS)


def test_it_returns_at_once_and_its_status_tells_what_became_of_it(
    source: Path, tmp_path: Path, run: Run
) -> None:
    db = tmp_path / "memory.db"
    assert run(db, "import", "--status").out == f"Nothing was imported in the background into {db}.\n"
    run(db, "add", "Stored before")
    with sqlite3.connect(db) as holder:
        holder.execute("BEGIN IMMEDIATE")
        begun = run(db, "import", source, "--background", "--project", "harbour")
        assert (begun.out, begun.code) == ("", 0)
        assert "It goes on in the background." in begun.err
        assert run(db, "import", "--status").out.startswith("It runs.\n")
        refused = run(db, "import", source, "--background")
        assert (refused.code, "runs in the background already" in refused.err) == (1, True)
    holder.close()
    wait(db)
    told = run(db, "import", "--status").out
    assert f"{source} (JSON, a memory a line or in a list)\n  memories: added 250\n" in told
    assert "`memory-server undo i1` takes it back\nEnded at " in told.replace("  `", "`")
    rows = sqlite3.connect(db).execute("SELECT project, count(*) FROM memories GROUP BY project").fetchall()
    assert ("harbour", 250) in rows


def test_one_that_is_killed_is_told_and_goes_on_when_it_is_repeated(
    source: Path, tmp_path: Path, run: Run
) -> None:
    db = tmp_path / "memory.db"
    run(db, "add", "Stored before")
    with sqlite3.connect(db) as holder:
        holder.execute("BEGIN IMMEDIATE")
        run(db, "import", source, "--background")
        while not (process := re.search(r"as process (\d+)", run(db, "import", "--status").out)):
            pass
        os.kill(int(process[1]), signal.SIGKILL)
        wait(db)
    holder.close()
    assert "It did not come to its end. Import the same again" in run(db, "import", "--status").out
    again = run(db, "import", source, "--json").summary
    assert (again["added"], again["present"]) == (250, 0)
    assert json.loads(run(db, "import", source, "--json").out)["added"] == 0


def test_what_cannot_be_left_alone_is_refused(source: Path, tmp_path: Path, run: Run) -> None:
    for words in (["-"], [source, "--dry-run"], [source, "--json"]):
        done = run(tmp_path / "memory.db", "import", "--background", *words)
        assert (done.code, "--background goes with neither" in done.err + done.out) == (2, True)
