"""The JSON of every reading command is a contract: its schema is in `schemas`, and what is printed fits it.

After a wanted change: python -m tests.cli.test_schemas
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memory_server.answers.answer import whole
from memory_server.answers.schema import schema_of as schema_of_answer
from memory_server.cli import answers
from memory_server.domain.edge import Edge
from memory_server.domain.fact import Fact
from tests.cli.conftest import Terminal, fill
from tests.conftest import Servers, call

pytestmark = pytest.mark.anyio

FOLDER = Path(__file__).with_name("schemas")

ANSWERS: dict[str, tuple[Any, list[list[str]]]] = {
    "search": (
        answers.SearchAnswer,
        [["search", "harbour"], ["search", "xylophone"], ["search", "兰花", "--meaning"]],
    ),
    "recall": (answers.RecallAnswer, [["recall", "when does the harbour open"]]),
    "list": (answers.ListAnswer, [["list"], ["list", "--project", "nobody"]]),
    "show": (
        answers.ShowAnswer,
        [
            ["show", "1", "2", "t1", "s1", "f:current.task", "f:gone", "w:zoo"],
            ["list", "turns"],
            ["list", "short-term"],
        ],
    ),
    "log": (answers.LogAnswer, [["log"], ["log", "--undoable"]]),
    "review": (answers.ReviewAnswer, [["review"]]),
    "facts": (answers.FactsAnswer, [["facts"]]),
    "fact": (Fact, [["fact", "editor"], ["fact", "new", "1"]]),
    "triggers": (answers.TriggersAnswer, [["triggers"]]),
    "projects": (answers.ProjectsAnswer, [["projects"], ["projects", "list"]]),
    "stats": (answers.StatsAnswer, [["stats"]]),
    "calls": (answers.CallsAnswer, [["stats", "--calls"]]),
    "tokens": (answers.TokensAnswer, [["token", "list"]]),
    "rescue": (answers.RescueAnswer, [["rescue", "{db}"]]),
    "doctor": (answers.DoctorAnswer, [["doctor"]]),
    "add": (answers.StoredAnswer, [["add", "The mole is white"], ["add", "The mole is white"]]),
    "edit": (answers.EditedAnswer, [["edit", "1", "--importance", "7"]]),
    "connect": (Edge, [["connect", "1", "solves", "2"], ["connect", "1", "solves", "2", "--end"]]),
    "forget": (
        answers.ForgottenAnswer,
        [["forget", "2", "--dry-run"], ["forget", "2"], ["forget", "--tag", "none", "--yes"]],
    ),
    "undo": (answers.UndoneAnswer, [["undo", "--dry-run"], ["undo", "--last", "1", "--yes"]]),
    "backup": (answers.BackupAnswer, [["backup", "{db}.copy", "--dry-run"], ["backup", "{db}.copy"]]),
}
"""What each command prints, and calls of it on a file with something of every kind."""


def schema_of(answer: Any) -> dict[str, Any]:
    return schema_of_answer(answers.LINES.get(answer) or whole(answer), answers.LINES)


def written(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_schema_of_an_answer_changes_only_on_purpose(name: str) -> None:
    assert schema_of(ANSWERS[name][0]) == written(name)


def test_there_is_no_schema_of_what_nothing_prints() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(ANSWERS)


async def test_what_each_command_prints_fits_its_schema(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    async with server(cwd=ledger) as client:
        await call(client, "memory_update", id=1, content="The harbour opens at one")
        await call(client, "memory_store", content="It opens at two", type="learning", supersedes=1)
        await call(client, "write_memory", key="gone", value=1)
        await call(client, "delete_memory", key="gone")
    for name, (_, commands) in ANSWERS.items():
        for command in commands:
            words = [word.format(db=server.db) for word in command]
            jsonschema.validate(terminal(*words, "--json").json, written(name))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each, (kind, _) in ANSWERS.items():
        text = json.dumps(schema_of(kind), ensure_ascii=False, indent=2)
        (FOLDER / f"{each}.json").write_text(text + "\n", encoding="utf-8")
