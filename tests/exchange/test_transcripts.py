"""Transcripts of clients: their turns are taken in once, found below what was stored, and go when their file goes.

The fixtures were written by Claude Code 2.1.330 and Codex 0.169.0; their requests to the model are left out.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeFilter, Kind
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.domain.recall import Recallable
from memory_server.domain.turn import TurnDraft
from memory_server.importing import session, transcripts
from memory_server.services import retrieval
from memory_server.services.looking import LookWish
from memory_server.services.meaning import Meaning
from memory_server.services.recall import RecallWish
from memory_server.settings import Settings
from memory_server.storage.tx import Tx
from memory_server.transfer.importing import Imported
from memory_server.transfer.taking.run import Outcome
from tests.exchange.sources import FIXTURES

SESSION = "f9fde369-0ed9-4b20-8e71-f231071dc618"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PORT = "The billing service listens on port 7443"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    services = app.build(Settings(db=tmp_path / "memory.db", embedder="hashing"))
    services.queue.warm_up()
    yield services
    services.close()


def line(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a line as Claude Code writes it."""
    message = {"role": role, "content": content}
    return {
        "isSidechain": False, "type": role, "message": message, "timestamp": "2026-03-04T05:06:07.000Z",
        "cwd": "/srv/shop", "sessionId": "s1", **more,
    }  # fmt: skip


def said(text: str) -> dict[str, Any]:
    return line("assistant", [{"type": "text", "text": text}])


def ran(command: str, id: str = "c1") -> dict[str, Any]:
    return line("assistant", [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}])


def written(folder: Path, *entries: Any, name: str = "s1") -> Path:
    path = folder / "projects/-srv-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    add(path, *entries)
    return path


def add(path: Path, *entries: Any) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)


def took(services: Services, path: Path) -> dict[Outcome, int]:
    done: Imported = services.imports.take(services.transcripts.source(path), None, Caller())
    return dict(done.counts.get("turn", {}))


def texts(services: Services) -> list[str]:
    with services.database.read() as tx:
        ids = [id for (id,) in tx.statements.rows("SELECT id FROM turns ORDER BY id")]
        return [turn.text for turn in tx.turns.select(ids)]


def test_a_transcript_of_claude_code(services: Services) -> None:
    path = FIXTURES / "transcripts/claude-code"
    assert took(services, path) == {Outcome.ADDED: 4}
    assert texts(services) == [
        "user: Fix the invoice exporter: it must round half up",
        "assistant: done\n"
        "$ printf 'def total(prices):\\n return sum(prices)\\n' > invoice.py && ls (exit 0)\n"
        "$ python3 -c 'import sys; print(\"2 failed\"); sys.exit(3)' (exit 3)\n"
        "changed: notes.txt, invoice.py",
        "user: Which port does the billing service use?",
        "assistant: done",
    ]
    turn = services.turns.get(1)
    assert (turn.project, turn.session) == ("shop", SESSION)
    assert (turn.created_by, turn.created_at) == (
        "user of claude-code (transcript)",
        "2026-11-26T17:33:59.983Z",
    )
    assert turn.file == str(path / f"projects/-srv-shop/{SESSION}.jsonl")
    assert took(services, path) == {Outcome.PRESENT: 2}


def test_a_transcript_of_codex(services: Services) -> None:
    path = FIXTURES / "transcripts/codex"
    assert took(services, path) == {Outcome.ADDED: 2}
    assert texts(services) == [
        "user: Fix the invoice exporter: it must round half up",
        "assistant: done\n"
        "$ printf 'def total(prices):\\n return sum(prices)\\n' > invoice.py && ls (exit 0)\n"
        "$ python3 -c 'import sys; print(\"2 failed\"); sys.exit(3)' (exit 3)\n"
        "changed: invoice.py",
    ]
    turn = services.turns.get(2)
    assert (turn.project, turn.session) == ("shop", "01a218ec-5594-7b20-aed1-c2a84cbb2362")
    assert turn.created_by == "codex (transcript)"
    assert took(services, path) == {Outcome.PRESENT: 2}


def test_a_transcript_that_grows_is_read_on_from_its_last_turn(services: Services, tmp_path: Path) -> None:
    path = written(tmp_path, line("user", "Start the harbour crane"), said("It starts."))
    add(path, line("user", "Paint the lighthouse"), said("I look for a brush."))
    assert took(services, tmp_path) == {Outcome.ADDED: 4}
    add(path, said("It is red now."), line("user", "Sweep the pier"))
    assert took(services, tmp_path) == {Outcome.PRESENT: 1, Outcome.UPDATED: 1, Outcome.ADDED: 1}
    assert texts(services)[2:] == [
        "user: Paint the lighthouse",
        "assistant: I look for a brush.\nIt is red now.",
        "user: Sweep the pier",
    ]


def test_a_line_that_is_still_being_written_waits(services: Services, tmp_path: Path) -> None:
    path = written(tmp_path, line("user", "Start the harbour crane"))
    whole = json.dumps(said("It starts."))
    with path.open("a") as file:
        file.write(whole[:40])
    assert took(services, tmp_path) == {Outcome.ADDED: 1}
    with path.open("a") as file:
        file.write(whole[40:] + "\n")
    assert took(services, tmp_path) == {Outcome.PRESENT: 1, Outcome.ADDED: 1}


def test_only_what_the_person_typed_begins_a_turn(services: Services, tmp_path: Path) -> None:
    written(
        tmp_path,
        line("user", "<command-name>/clear</command-name>"),
        line("user", "words of a skill", isMeta=True),
        line("user", "a subagent's task", isSidechain=True),
        line("user", "the session so far", isCompactSummary=True),
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        said("Nobody asked."),
        line("user", "Paint the lighthouse"),
        line("user", [{"type": "tool_result", "tool_use_id": "c1", "content": "a file"}]),
    )
    took(services, tmp_path)
    assert texts(services) == ["user: Paint the lighthouse"]


def test_credentials_are_cut_out(services: Services, tmp_path: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----"
    written(
        tmp_path,
        line("user", f"Push with {TOKEN}, then wait"),
        ran(f"curl -H 'Authorization: token {TOKEN}' https://example.com"),
        said(f"The key was\n{key}\nand it works."),
    )
    took(services, tmp_path)
    assert texts(services) == [
        "user: Push with [a GitHub token was here], then wait",
        "assistant: The key was\n[a private key was here]\nand it works.\n"
        "$ curl -H 'Authorization: token [a GitHub token was here]' https://example.com",
    ]


def test_a_credential_is_cut_out_before_a_text_is_shortened(services: Services, tmp_path: Path) -> None:
    half = session.PROMPT // 2
    written(tmp_path, line("user", "x" * (half - 10) + f" {TOKEN} " + "y " * half))
    took(services, tmp_path)
    assert TOKEN[:10] not in texts(services)[0]


def test_what_is_damaged_or_hostile_is_passed_over(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "LONGEST", 5_000)
    path = written(tmp_path, line("user", "Paint the lighthouse"))
    with path.open("ab") as file:
        file.write(b"\xff\xfe no json\n[1]\n{}\n" + b"[" * 200_000 + b"\n" + b"\0\n")
        file.write(b'{"type": "user", "message": 7}\n{"type": ["user"], "message": {"role": "user"}}\n')
        file.write(
            b'{"type": "assistant", "message": {"role": "assistant", "content": [7, {"type": "text"}]}}\n'
        )
        file.write(b'{"type":"assistant","message":{"role":"assistant","content":"a \\ud800 b \\u0000 c"}}\n')
    add(path, said("x" * 6_000), ran("ls", "c2"), said("It is red now."))
    add(path, line("assistant", [{"type": "tool_use", "id": 7, "name": "Bash", "input": "ls"}]))
    took(services, tmp_path)
    assert texts(services) == ["user: Paint the lighthouse", "assistant: a ? b  c\nIt is red now.\n$ ls"]
    assert took(services, tmp_path) == {Outcome.PRESENT: 2}


def test_what_is_kept_of_a_turn_is_bounded(services: Services, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line("user", "p" * 50_000),
        *(said("r" * 5_000) for _ in range(20)),
        *(ran("c" * 900, f"c{number}") for number in range(50)),
    )
    took(services, tmp_path)
    assert len(texts(services)[0]) < session.PROMPT + 20
    assert session.LEAST < len(texts(services)[1]) < path.stat().st_size // 100


def test_a_session_that_was_deleted_goes(services: Services, tmp_path: Path) -> None:
    path = written(tmp_path, line("user", "Paint the lighthouse"), said("It is red now."))
    other = written(tmp_path, line("user", "Sweep the pier"), name="s2")
    took(services, tmp_path)
    path.unlink()
    services.transcripts.follow(other, tmp_path / "projects", Caller())
    assert texts(services) == ["user: Sweep the pier"]
    with services.database.read() as tx:
        assert tx.statements.rows("SELECT 1 FROM trash") == []
        assert tx.statements.value("SELECT count(*) FROM origins") == 1


def test_what_lies_on_a_disk_that_is_not_there_stays(services: Services, tmp_path: Path) -> None:
    written(tmp_path, line("user", "Paint the lighthouse"))
    took(services, tmp_path)
    shutil.rmtree(tmp_path / "projects")
    assert services.transcripts.drop_gone(tmp_path / "projects", Caller()) == 0
    assert texts(services) == ["user: Paint the lighthouse"]


def test_a_turn_that_was_forgotten_does_not_come_back(services: Services, tmp_path: Path) -> None:
    written(tmp_path, line("user", "Paint the lighthouse"), said("It is red now."))
    took(services, tmp_path)
    services.turns.forget(1, purge=False, caller=Caller())
    assert took(services, tmp_path) == {Outcome.DELETED: 1, Outcome.PRESENT: 1}


def test_recall_has_transcripts_below_what_was_stored(services: Services, tmp_path: Path) -> None:
    written(tmp_path, line("user", "Which port has the billing service?"), said(f"{PORT}."))
    took(services, tmp_path)
    services.queue.work()
    question = "On which port does the billing service listen?"

    def answer() -> list[str]:
        return services.recall.recall(question, (), 800, RecallWish(), Caller()).answer.text.split("\n")

    line_of_transcript = f"2026-03-04, session s1: assistant: {PORT}. (project shop) [t2]"
    assert line_of_transcript in answer()
    memory = MemoryDraft("The billing service moved to port 8080 last week", MemoryType.DECISION)
    services.memories.store(memory, None, Caller())
    first, *others = answer()
    assert "[m1]" in first
    assert line_of_transcript in others


def test_only_the_kinds_of_turns_that_are_here_are_searched(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters: list[bool | None] = []
    rank_all = retrieval.rank_all

    def watched(tx: Tx, text: str, searches: tuple[Any, ...], meaning: Meaning | None) -> list[Any]:
        filters.extend(search.filter.transcripts for search in searches if search.kind is Embedded.TURNS)
        return rank_all(tx, text, searches, meaning)

    monkeypatch.setattr(retrieval, "rank_all", watched)

    def searched(question: str = f"{PORT}?") -> list[bool | None]:
        filters.clear()
        services.recall.recall(question, (), 800, RecallWish(), Caller())
        return list(filters)

    assert searched() == []
    written(tmp_path, line("user", "Which port has the billing service?"), said(f"{PORT}."))
    took(services, tmp_path)
    assert searched() == [None]
    services.turns.register(TurnDraft("The ledger listens on port 70", "port of the ledger"), {}, Caller())
    assert searched() == [False, True]
    for file in (tmp_path / "projects").rglob("*.jsonl"):
        file.unlink()
    services.transcripts.drop_gone(tmp_path / "projects", Caller())
    assert searched() == [None]


def test_the_newest_session_is_embedded_first_and_words_find_it_at_once(
    services: Services, tmp_path: Path
) -> None:
    question = line("user", "Which port has the billing service?")
    for name, text, second in (("s1", "The old port was 80", 1), ("s2", f"{PORT}.", 3), ("s3", "Port 90", 2)):
        path = written(tmp_path, question, said(text), name=name)
        os.utime(path, (1_750_000_000 + second, 1_750_000_000 + second))
    took(services, tmp_path)
    recalled = services.recall.recall(f"{PORT}?", (), 800, RecallWish(), Caller())
    assert PORT in recalled.answer.text
    assert [problem.text for problem in recalled.degraded] == [
        "6 turns are not embedded yet and were found by words only"
    ]
    with services.database.read() as tx:
        rows = tx.statements.rows("SELECT session FROM turns ORDER BY id", {})
    assert [session for (session,) in rows] == ["s2", "s2", "s3", "s3", "s1", "s1"]


def test_nothing_but_recall_sees_transcripts(services: Services, tmp_path: Path) -> None:
    written(tmp_path, line("user", "Which port has the billing service?"), said(f"{PORT}."))
    took(services, tmp_path)
    services.queue.work()
    assert services.turns.retrieve(PORT, 5, Caller()).turns == []
    (imported,) = services.changes.select(ChangeFilter(), 10, Caller()).changes
    assert imported.kind is Kind.IMPORT
    assert services.recall.find(PORT, RecallWish(), Caller()).hits == []
    wish = LookWish(frozenset({Recallable.TURN}))
    assert services.looking.look(PORT, wish, 10, Caller()).items == []
    assert services.looking.look("", wish, 10, Caller()).items == []
    with services.database.read() as tx:
        assert tx.turns.newest("shop", 10) == []
        assert tx.digests.notes("2027-01-01T00:00:00.000Z") == []
        assert tx.timeline.counts("2026-01-01T00:00:00.000Z", "9") == []
