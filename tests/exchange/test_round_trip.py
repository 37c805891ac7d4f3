"""What is exported and imported into an empty file is the same there, to the last date."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Sqlite, damage
from tests.exchange.conftest import Run

Exported = Callable[..., str]
Taken = Callable[..., dict[str, Any]]


def test_an_export_imported_into_an_empty_file_is_exported_again_to_the_letter(
    copy: Path, tmp_path: Path, exported: Exported, taken: Taken
) -> None:
    first = exported(copy)
    kinds = {json.loads(line)["kind"] for line in first.splitlines()}
    assert kinds == {
        "memory-server", "project", "memory", "edge", "fact", "turn", "digest", "use", "question", "conversation",
        "short_term", "long_term",
    }  # fmt: skip
    (tmp_path / "export.jsonl").write_text(first, encoding="utf-8")
    other = tmp_path / "other.db"
    summary = taken(other, tmp_path / "export.jsonl")
    assert (summary["refused"], summary["secret"], summary["updated"], summary["duplicate"]) == (0, 0, 0, 0)
    assert exported(other).splitlines() == first.splitlines()
    assert damage(other) == []


def test_ids_stay_what_they_were(
    copy: Path, tmp_path: Path, exported: Exported, taken: Taken, sqlite: Sqlite
) -> None:
    (tmp_path / "export.jsonl").write_text(exported(copy), encoding="utf-8")
    other = tmp_path / "other.db"
    taken(other, tmp_path / "export.jsonl")
    for table in ("memories", "turns", "short_term_memories"):
        ids = f"SELECT group_concat(id || ' ' || created_at) FROM {table}"
        assert sqlite(other, ids) == sqlite(copy, ids)
    assert sqlite(other, "SELECT count(*) FROM origins") == "0"


def test_a_second_import_adds_nothing(copy: Path, tmp_path: Path, exported: Exported, taken: Taken) -> None:
    first = exported(copy)
    (tmp_path / "export.jsonl").write_text(first, encoding="utf-8")
    again = taken(copy, tmp_path / "export.jsonl")
    assert (again["added"], again["updated"], again["duplicate"], again["refused"]) == (0, 0, 0, 0)
    assert exported(copy) == first


def test_a_trial_writes_nothing(copy: Path, tmp_path: Path, exported: Exported, run: Run) -> None:
    (tmp_path / "export.jsonl").write_text(exported(copy), encoding="utf-8")
    other = tmp_path / "other.db"
    done = run(other, "import", tmp_path / "export.jsonl", "--dry-run", "--json")
    assert done.summary["added"] > 10
    assert not other.exists()


def test_vectors_come_along_on_request(
    copy: Path, tmp_path: Path, exported: Exported, taken: Taken, sqlite: Sqlite
) -> None:
    with_vectors = exported(copy, "--embeddings")
    (tmp_path / "export.jsonl").write_text(with_vectors, encoding="utf-8")
    other = tmp_path / "other.db"
    taken(other, tmp_path / "export.jsonl")
    assert exported(other, "--embeddings").splitlines() == with_vectors.splitlines()
    tables = ("embeddings", "part_embeddings", "embedding_bits", "turn_embeddings", "fact_embeddings")
    for table in (*tables, "embedding_queue", "turn_embedding_queue", "fact_embedding_queue"):
        count = f"SELECT count(*) FROM {table}"
        assert sqlite(other, count) == sqlite(copy, count), table


def test_a_project_is_exported_alone(copy: Path, exported: Exported) -> None:
    records = [json.loads(line) for line in exported(copy, "--project", "ledger").splitlines()[1:]]
    assert {each["project"] for each in records if each["kind"] in ("memory", "turn")} == {"ledger"}
    assert {each["scope"] for each in records if each["kind"] == "fact"} == {"project"}
    assert {each["conversation"] for each in records if each["kind"] == "long_term"} == {"project:ledger"}
    assert {each.get("project") for each in records if each["kind"] == "question"} == {"ledger"}
    own = {each["id"] for each in records if each["kind"] == "memory"}
    assert {each["memory"] for each in records if each["kind"] == "use"} < own


def test_a_project_that_is_not_there_is_named(copy: Path, tmp_path: Path, run: Run) -> None:
    done = run(copy, "export", tmp_path / "export.jsonl", "--project", "ledgr")
    assert (done.out, done.code) == ("", 1)
    assert "Did you mean `ledger`?" in done.err
    assert not (tmp_path / "export.jsonl").exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{not json", "is no JSON"),
        ('{"kind": "memory", "id": "1@x"}', "content"),
        ('{"kind": "memory", "id": "1@x", "content": "a", "type": "song"}', "CHECK constraint"),
        ('{"kind": "fact", "scope": "global", "owner": "", "key": "k", "steps": []}', "without any step"),
        ('{"kind": "whatever"}', "whatever"),
        ('{"kind": "memory", "id": "1@x", "content": "\\ud800"}', "not UTF-8"),
        ('{"kind": "memory", "id": "1@x", "content": "a", "metadata": {"a": 1e999}}', "infinite numbers"),
        ('{"kind": "memory", "id": "1@x", "content": "a", "access_count": 99999999999999999999}', "int"),
    ],
)
def test_a_line_that_is_none_is_named_and_the_others_are_taken(
    tmp_path: Path, line: str, why: str, taken: Taken
) -> None:
    good = '{"kind": "memory", "id": "7@2026-01-01", "content": "good", "created_at": "2026-01-01"}'
    path = tmp_path / "export.jsonl"
    path.write_text(f'{{"kind": "memory-server", "version": 1}}\n{line}\n{good}\n', encoding="utf-8")
    summary = taken(tmp_path / "memory.db", path)
    assert summary["added"] == 1
    (refused,) = summary["sources"][0]["refused_items"]
    assert why in refused["why"]


def test_secrets_are_left_out_and_counted(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    path = tmp_path / "export.jsonl"
    secret = "ghp_" + "a1B2" * 9
    step = {"version": 1, "action": "written", "value": secret}
    lines = [
        {"kind": "memory-server", "version": 1},
        {"kind": "memory", "id": "1@a", "content": f"the token is {secret}", "created_at": "2026-01-01"},
        {"kind": "fact", "scope": "global", "owner": "", "key": "token", "steps": [step]},
        {"kind": "turn", "id": "1@b", "message": secret, "summary": "s", "created_at": "2026-01-01"},
        {"kind": "question", "question": f"What is {secret} for?", "session": "s"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    summary = taken(tmp_path / "memory.db", path)
    assert (summary["secret"], summary["added"]) == (4, 0)
    assert secret not in json.dumps(summary)
    assert sqlite(tmp_path / "memory.db", "SELECT count(*) FROM memories") == "0"


def test_an_export_of_a_newer_version_is_refused(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text('{"kind": "memory-server", "version": 99}\n', encoding="utf-8")
    done = run(tmp_path / "memory.db", "import", path)
    assert done.code == 1
    assert "version 99" in done.err
