"""Rules travel whole: their effect, their examples, whether a person has confirmed them and whether they are off."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermDraft
from memory_server.settings import Settings
from tests.exchange.conftest import Run, Typed
from tests.postgres_server import new_place

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no terminal of this kind")

CONFIRMED, OFF, PROPOSED = "never push to main", "never read .env", "no pull"
AS_THEY_WERE = {CONFIRMED: ("deny", "on"), OFF: ("deny", "off"), PROPOSED: ("ask", "unconfirmed")}
TO_CONFIRM = {CONFIRMED: ("deny", "unconfirmed"), OFF: ("deny", "off"), PROPOSED: ("ask", "unconfirmed")}


@pytest.fixture
def ruled(tmp_path: Path, typed: Typed) -> Path:
    """A file with three rules."""
    db = tmp_path / "ruled.db"
    typed(db, "rules", "add", CONFIRMED)
    typed(db, "rules", "add", OFF)
    typed(db, "rules", "off", OFF)
    services = app.build(Settings(db=db, embedder="hashing"))
    rule = RuleDraft(Effect.ASK, ("git pull",), ("git fetch",))
    draft = LongTermDraft(PROPOSED, "Fetch, then look.", "runs(act, 'git pull')", None, rule=rule)
    services.rules.add(draft, "default", Caller("a model"))
    services.close()
    return db


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where the rules go."""
    if request.param == "postgres":
        return new_place().given
    return tmp_path / "other.db"


def states(run: Run, db: Path | str) -> dict[str, tuple[str, str]]:
    listed: dict[str, Any] = run(db, "rules", "--json").summary
    return {line["name"]: (line["effect"], line["state"]) for line in listed["rules"]}


def test_what_a_person_imports_holds_as_it_did(
    ruled: Path, other: Path | str, tmp_path: Path, run: Run, typed: Typed
) -> None:
    run(ruled, "export", tmp_path / "all.jsonl")
    printed = typed(other, "import", tmp_path / "all.jsonl")
    assert f"`{CONFIRMED}`: deny" in printed
    assert states(run, other) == states(run, ruled) == AS_THEY_WERE
    assert "deny" in run(other, "rules", "try", "sudo git push origin HEAD:main").out
    run(other, "export", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "all.jsonl").read_text()
    assert "rules:" not in typed(other, "import", tmp_path / "all.jsonl")


def test_what_a_program_imports_waits_for_a_person(
    ruled: Path, other: Path | str, tmp_path: Path, run: Run, typed: Typed
) -> None:
    run(ruled, "export", tmp_path / "all.jsonl")
    printed = run(other, "import", tmp_path / "all.jsonl").out
    assert f"`memory-server rules confirm '{CONFIRMED}'`" in printed
    assert states(run, other) == TO_CONFIRM
    assert run(other, "rules", "try", "git push origin main").out.startswith("say:")
    typed(other, "rules", "confirm", CONFIRMED)
    assert states(run, other)[CONFIRMED] == ("deny", "on")


def test_a_copy_has_all_rules_there_and_back(ruled: Path, tmp_path: Path, run: Run) -> None:
    place, back = new_place().given, tmp_path / "back.db"
    for source, target in ((ruled, place), (place, back)):
        done = run(ruled, "copy", source, target)
        assert done.code == 0, done.err
        assert states(run, target) == AS_THEY_WERE


def test_a_merge_into_an_empty_memory(ruled: Path, other: Path | str, run: Run, typed: Typed) -> None:
    typed(other, "merge", ruled)
    assert states(run, other) == AS_THEY_WERE


def test_an_export_of_an_older_program_is_taken_and_its_rules_are_told(
    ruled: Path, other: Path | str, tmp_path: Path, run: Run, typed: Typed
) -> None:
    lines = [json.loads(line) for line in run(ruled, "export").out.splitlines()]
    for line in lines:
        line.pop("rule", None)
    source = tmp_path / "older.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    printed = typed(other, "import", source)
    assert f"`{CONFIRMED}` came without its effect" in printed
    assert states(run, other) == {}
    run(ruled, "export", tmp_path / "all.jsonl")
    typed(other, "import", tmp_path / "all.jsonl")  # which mends it
    assert states(run, other) == AS_THEY_WERE


def test_no_program_weakens_what_a_person_has_confirmed(
    ruled: Path, tmp_path: Path, run: Run, typed: Typed
) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    for db in (here, there):
        typed(db, "merge", ruled)
    services = app.build(Settings(db=there, embedder="hashing"))
    with services.database.write() as tx:
        tx.statements.send(
            "UPDATE long_term_memories SET prompt = 'Push at will.', updated_at = '2099-01-01T00:00:00.000Z'"
        )
        tx.statements.send("UPDATE rules SET off = 1, effect = 'say'")
    services.close()
    assert "which a person has confirmed" in run(here, "merge", there).out
    assert {name: states(run, here)[name] for name in (CONFIRMED, OFF)} == {
        CONFIRMED: ("deny", "on"), OFF: ("deny", "off"),
    }  # fmt: skip
    typed(there, "forget", f"w:{CONFIRMED}")
    assert "so it stays" in run(here, "merge", there).out
    assert states(run, here)[CONFIRMED] == ("deny", "on")
    typed(here, "merge", there)  # what a person merges goes
    assert CONFIRMED not in states(run, here)


def test_an_import_is_taken_back_but_no_program_takes_back_a_rule_that_a_person_has_confirmed(
    ruled: Path, tmp_path: Path, run: Run, typed: Typed
) -> None:
    run(ruled, "export", tmp_path / "all.jsonl")
    db = tmp_path / "new.db"
    run(db, "import", tmp_path / "all.jsonl")
    typed(db, "rules", "confirm", CONFIRMED)
    assert f"w:{CONFIRMED}" in run(db, "undo", "i1").err
    assert states(run, db) == {CONFIRMED: ("deny", "on")}


def test_a_rule_comes_back_whole_from_the_trash_and_only_a_person_puts_it_there(
    ruled: Path, tmp_path: Path, run: Run, typed: Typed
) -> None:
    refused = run(ruled, "forget", "--project", "none", "--yes")
    assert states(run, ruled) == AS_THEY_WERE, refused
    typed(ruled, "forget", f"w:{CONFIRMED}")
    assert CONFIRMED not in states(run, ruled)
    typed(ruled, "undo", "d1")
    assert states(run, ruled) == AS_THEY_WERE


def test_people_read_the_effect_of_a_rule(ruled: Path, run: Run) -> None:
    page = run(ruled, "export", "--format", "markdown").out
    assert "rule: deny" in page
    assert "rule: unconfirmed" in page
    assert "rule: off" in page
