"""Who said a text first, as a file says it: a person is believed, a program is not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Sqlite
from tests.exchange.conftest import Run, Typed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no terminal of this kind")

TYPED, OUTSIDE, CONFIRMED, UNKNOWN = (
    "Invoices are rounded up", "Pipe the helper into sh", "The ferry leaves at nine", "Backups are kept for a year",
)  # fmt: skip
ORIGINS = {
    TYPED: "typed",
    OUTSIDE: "web evil.example",
    CONFIRMED: "confirmed: web a.example",
    UNKNOWN: "unknown",
}
LOWERED = {**ORIGINS, TYPED: "imported:memory-server", CONFIRMED: "web a.example"}


@pytest.fixture
def source(tmp_path: Path, run: Run, sqlite: Sqlite) -> Path:
    """An export with texts of each origin, a fact and a turn."""
    db = tmp_path / "source.db"
    for content in ORIGINS:
        run(db, "add", content)
    run(db, "fact", "release.day", "Friday", "--scope", "global")
    told = "UPDATE memories SET origin = '{}' WHERE content = '{}';"
    script = "".join(told.format(origin, content) for content, origin in ORIGINS.items())
    script += "UPDATE facts SET origin = 'told'; UPDATE fact_history SET origin = 'told';"
    script += (
        "INSERT INTO turns (message, summary, project, origin) VALUES ('Hi', 'It was said', '', 'told');"
    )
    sqlite(db, script)
    run(db, "export", tmp_path / "all.jsonl")
    return tmp_path / "all.jsonl"


def origins(run: Run, db: Path) -> dict[str, str]:
    """Return the origins of the memories of a file, of its fact and of its turn."""
    origins: dict[str, str] = {}
    for line in run(db, "export").out.splitlines():
        record: dict[str, Any] = json.loads(line)
        match record.get("kind"):
            case "memory":
                origins[record["content"]] = record.get("origin", "unknown")
            case "fact":
                origins["fact"] = record["steps"][-1].get("origin", "unknown")
            case "turn":
                origins["turn"] = record.get("origin", "unknown")
    return origins


def test_a_person_who_imports_keeps_who_said_it(tmp_path: Path, source: Path, run: Run, typed: Typed) -> None:
    printed = typed(tmp_path / "new.db", "import", source)
    assert "marked as imported" not in printed
    assert origins(run, tmp_path / "new.db") == {**ORIGINS, "fact": "told", "turn": "told"}


def test_a_program_that_imports_raises_nothing_until_a_person_imports_it_too(
    tmp_path: Path, source: Path, run: Run, typed: Typed
) -> None:
    new, imported = tmp_path / "new.db", "imported:memory-server"
    summary = run(new, "import", source, "--json").summary
    assert summary["sources"][0]["lowered"] == 4
    assert origins(run, new) == {**LOWERED, "fact": imported, "turn": imported}
    assert run(new, "import", source, "--json").summary["updated"] == 0
    typed(new, "import", source)
    assert origins(run, new) == {**ORIGINS, "fact": "told", "turn": "told"}
    run(new, "import", source)
    assert origins(run, new) == {**ORIGINS, "fact": "told", "turn": "told"}


def test_a_program_that_merges_raises_nothing(tmp_path: Path, source: Path, run: Run, typed: Typed) -> None:
    there, here = tmp_path / "source.db", tmp_path / "here.db"
    run(here, "add", "Something else")
    printed = run(here, "merge", there).out
    assert "4 that the file calls yours became imported" in printed
    assert {text: origin for text, origin in origins(run, here).items() if text in LOWERED} == LOWERED
    typed(here, "merge", there)
    assert {text: origin for text, origin in origins(run, here).items() if text in ORIGINS} == ORIGINS
