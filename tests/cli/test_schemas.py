"""The JSON of every command is a contract: its schema is in `schemas`, and what is printed fits it.

After a wanted change: python -m tests.cli.test_schemas
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from memory_server.answers.answer import whole
from memory_server.cli import answers, done
from memory_server.cli.program import program
from memory_server.cli.terminal import is_json as is_json_wanted
from memory_server.cli.terminal import read
from memory_server.domain.edge import Edge
from memory_server.domain.fact import Fact
from tests.answers.schema import schema_of as schema_of_answer
from tests.cli.conftest import Terminal, fill
from tests.conftest import ROOT, Servers, call

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
    "rules": (answers.RulesAnswer, [["rules"]]),
    "rule-log": (answers.RuleLogAnswer, [["rules", "log"]]),
    "ruling": (answers.RulingAnswer, [["rules", "try", "git push origin main"]]),
    "where": (answers.WhereAnswer, [["where"]]),
    "engines": (answers.EnginesAnswer, [["engine", "status"], ["engine", "stop"]]),
    "hook-log": (answers.HookLogAnswer, [["hook", "log"]]),
    "captured": (answers.CapturedAnswer, [["hook", "captured"]]),
    "learnt": (answers.LearntAnswer, [["hook", "learnt"]]),
    "unlearnt": (done.UnlearntAnswer, [["hook", "forget", "all"], ["hook", "unlearn", "all"]]),
    "token": (done.MadeToken, [["token", "add", "ada", "--all-projects"]]),
    "tokens": (answers.TokensAnswer, [["token", "list"], ["token", "revoke", "ada"]]),
    "rescue": (done.RescueAnswer, [["rescue", "{db}"]]),
    "doctor": (answers.DoctorAnswer, [["doctor"]]),
    "add": (done.StoredAnswer, [["add", "The mole is white"], ["add", "The mole is white"]]),
    "edit": (done.EditedAnswer, [["edit", "1", "--importance", "7"]]),
    "connect": (Edge, [["connect", "1", "solves", "2"], ["connect", "1", "solves", "2", "--end"]]),
    "forget": (
        done.ForgottenAnswer,
        [["forget", "2", "--dry-run"], ["forget", "2"], ["forget", "--tag", "none", "--yes"]],
    ),
    "undo": (done.UndoneAnswer, [["undo", "--dry-run"], ["undo", "--last", "1", "--yes"]]),
    "reviewed": (done.ReviewedAnswer, [["review", "drop", "--from", "web evil.example"]]),
    "renamed": (done.RenamedAnswer, [["projects", "rename", "shop", "store"]]),
    "joined": (
        done.JoinedAnswer,
        [["projects", "join", "store", "ledger", "--dry-run"], ["projects", "join", "store", "ledger"]],
    ),
    "backup": (done.BackupAnswer, [["backup", "{db}.copy", "--dry-run"], ["backup", "{db}.copy"]]),
    "export": (
        done.ExportedAnswer,
        [["export", "{db}.jsonl"], ["export", "--format", "markdown", "{db}.pages"]],
    ),
    "import": (
        done.ImportAnswer,
        [["import", "{db}.jsonl", "--dry-run"], ["import", "{db}.jsonl"], ["merge", "{db}.copy"]],
    ),
    "import-status": (done.ImportStatus, [["import", "--status"]]),
    "compact": (done.CompactedAnswer, [["compact", "--dry-run"], ["compact"]]),
    "restore": (
        done.RestoredAnswer,
        [["restore", "{db}.copy", "--dry-run"], ["restore", "{db}.copy", "--yes"]],
    ),
    "client": (
        done.ClientAnswer,
        [["install", "cursor", "--print"], ["install", "cursor", "--no-try"], ["uninstall", "cursor"]],
    ),
    "copy": (done.CopiedAnswer, []),  # tests/exchange/test_copy.py has the second store
}
"""What each command prints, and calls of it on a file with something of every kind."""


WITHOUT = {
    "serve": "standard output speaks MCP",
    "view": "prints an address for a browser, and serves until it is stopped",
    "demo": "a story for people",
    "completion": "prints a script for a shell",
}
"""The commands that take no `--json`, and why."""


def paths(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Each command with the words that call it, those that have further commands in them too."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, *path, name)


def all_commands() -> dict[str, click.Command]:
    context = click.Context(program)
    named = ((name, program.get_command(context, name)) for name in program.list_commands(context))
    return {
        " ".join(path): command
        for name, outer in named
        if outer is not None
        for path, command in paths(outer, name)
    }


def test_every_command_takes_json_but_those_named() -> None:
    without = {
        name
        for name, command in all_commands().items()
        if not any("--json" in option.opts for option in command.params)
    }
    assert without == set(WITHOUT)


def test_every_command_that_takes_json_has_a_schema() -> None:
    called = {" ".join(words) for _, calls in ANSWERS.values() for words in calls} | {"copy"}
    groups = {"token"}
    assert [
        name
        for name in all_commands().keys() - WITHOUT.keys() - groups
        if not any(f"{words} ".startswith(f"{name} ") for words in called)
    ] == []


def test_the_page_says_what_each_answer_has() -> None:
    """`| fields | commands |`"""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = {line for line in page.splitlines() if line.startswith("| `")}
    wanted = {f"| {', '.join(f'`{name}`' for name in written(answer)['properties'])} |" for answer in ANSWERS}
    assert {row for row in wanted if not any(line.endswith(row) for line in rows)} == set()


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["show", "99"], 1, "No memory 99. `memory-server list` and `memory-server search` show the ids."),
        (["list", "--limit", "0"], 2, "--limit: '0' is not a number from 1 to 10,000."),
        (["serve"], 2, "This command prints no JSON."),
        (["recall"], 2, "Ask a question, or choose by --kind, --since and --until."),
        (
            ["list", "turn"],
            2,
            "KIND: 'turn' is unknown. Did you mean `turns`? There are: memories, turns, short-term.",
        ),
        (
            ["restore", "nowhere.db"],
            1,
            "nowhere.db does not exist. Nothing was restored. "
            "Name a file that `memory-server backup` has written.",
        ),
        (["help"], 2, "Help is text: leave out --json."),
        (
            ["install", "cursor", "codex"],
            2,
            "`memory-server install` takes one CLIENT a call: type `memory-server install codex` too.",
        ),
        (["doctor", "extra"], 2, "`memory-server doctor` takes no argument: leave out 'extra'."),
        (
            ["edit", "1", "harbour"],
            2,
            "`memory-server edit` takes ID: leave out 'harbour', or quote what belongs together.",
        ),
        (
            ["uninstall"],
            2,
            "CLIENT is missing. There are: claude, claude-desktop, codex, cursor, vscode, opencode, gemini.",
        ),
        (["list", "-h"], 2, "Help is text: leave out --json."),
        (["serch"], 2, "unknown command 'serch'. Did you mean `search`?"),
        (
            ["rules", "off", "x"],
            1,
            "Only a person does this, on a terminal. A page of `memory-server view` confirms and switches too.",
        ),
        (["export"], 2, "--json tells what was written to FILE. Without one the export itself is printed."),
        (["list", "--engine", "x"], 2, "--engine: 'x' is unknown. There are: auto, off."),
    ],
)
def test_a_failure_is_json_too_on_standard_output_alone(
    terminal: Terminal, words: list[str], code: int, error: str
) -> None:
    failed = terminal(*words, "--json", code=code, LANG="zh_CN.UTF-8")
    assert failed.json == {"error": error}
    assert failed.err == ""


@pytest.mark.parametrize(
    ("words", "is_json"), [(["list", "--json"], True), (["add", "--", "--json"], False), (["list"], False)]
)
def test_what_stands_behind_two_dashes_is_no_flag(words: list[str], is_json: bool) -> None:
    read(words)
    assert is_json_wanted() is is_json
    read([])


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


def test_what_is_no_memory_of_ours_is_refused_with_what_mends_it(terminal: Terminal, tmp_path: Path) -> None:
    lines, database = tmp_path / "notes.jsonl", tmp_path / "theirs.db"
    lines.write_text("{}\n")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    assert terminal("merge", str(lines), "--json", code=1).json == {
        "error": f"{lines} is no database. Nothing was merged. "
        f"`memory-server import {lines}` takes over what other programs wrote."
    }
    assert f"`memory-server import {database}`" in terminal("merge", str(database), code=1).err
    refused = terminal("restore", str(database), "--yes", code=1).err
    assert refused.rstrip().endswith("Name a file that `memory-server backup` has written.")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each, (kind, _) in ANSWERS.items():
        text = json.dumps(schema_of(kind), ensure_ascii=False, indent=2)
        (FOLDER / f"{each}.json").write_text(text + "\n", encoding="utf-8")
