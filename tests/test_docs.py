"""The documentation does what it says: each call, command and trigger in it is run, each link leads somewhere.

`tests/fences.py` says which kinds of fences there are and what is done with each.
"""

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import time
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread
import click
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents
from show import pages, part, results

from memory_server import __version__
from memory_server.cli.program import program as command_line
from memory_server.settings import EMBEDDER_KEY, RERANKER_KEY, Settings
from memory_server.sqlite.database import Database
from tests import postgres_server, warm
from tests.conftest import ROOT, Servers, call, eventually
from tests.fences import KINDS, Fence, calls, commands, fences, fits, same_text, without_fences

README, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
LAB = ROOT / "scripts" / "lab"
INDEX_CHINESE = ROOT / "docs" / "README.zh-CN.md"
INDEX, LAB_INDEX = ROOT / "docs" / "README.md", LAB / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), LAB_INDEX])
"""Every page that a person reads."""

SERVED = {"text call", "text attach", "js trigger", "console served"}
"""The kinds of fences that a server runs beside."""

_LIVE = SERVED | {"console", "sql"}
RUN = [page for page in PAGES if {fence.kind for fence in fences(page)} & _LIVE]
"""Those with something to run."""

PROGRAMS = {
    "pipx", "python", "git", "cd", "datasette", "sqlite3", "memory-server",
    ".venv/bin/pip", ".venv/bin/python", "scripts/run", "scripts/test", "scripts/check", "scripts/docs",
    "scripts/browser", "scripts/outside",
}  # fmt: skip
"""What a `bash` fence may call: it installs, changes a client's settings, asks for the network, or takes minutes."""

LONGEST_README = 150

SEARCHES = {"memory_search", "retrieve_memories", "memory_related"}
"""Tools whose answer depends on embeddings."""

WRITTEN_WITHIN = 20.0
"""Seconds until what a command shows must be true: the background writes embeddings and what was learnt."""

SHOWS = ("SELECT", "hook learnt", "On which days")
"""What such a command has in it. It changes nothing, and so may be asked again."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def every_fence() -> list[tuple[Path, Fence]]:
    return [(page, fence) for page in PAGES for fence in fences(page)]


# What is run


@pytest.mark.anyio
@pytest.mark.parametrize("page", RUN, ids=name)
async def test_each_call_and_command_of_a_page_does_what_is_shown(
    page: Path, tmp_path: Path, user_folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From top to bottom, on a new database at the default place, in a folder named `ledger`.

    A server runs only for the fences that are about one: who reads about a command has none beside it.
    """
    if "sqlite3" in page.read_text(encoding="utf-8") and shutil.which("sqlite3") is None:
        pytest.skip("the stock sqlite3 program is not installed")
    folder = tmp_path / "ledger"
    folder.mkdir()
    for variable in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    env = {
        **user_folders,
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        **({"LANG": "zh_CN.UTF-8"} if page == CHINESE else {}),
    }
    if "hook UserPromptSubmit" in page.read_text(encoding="utf-8"):
        env |= {"MEMORY_SERVER_ENGINE": "auto", "MEMORY_SERVER_ENGINE_IDLE": "10"}
    servers = Servers(folder, env)
    default = Settings().db
    assert isinstance(default, Path)
    servers.db = default
    shell = Shell(folder, default, {**env, "PATH": f"{_programs(tmp_path)}:{os.environ['PATH']}"})
    problems: list[str] = []
    for served, group in itertools.groupby(fences(page), lambda fence: fence.kind in SERVED):
        async with (
            servers("--embedder", "bundled", name="docs") if served else contextlib.nullcontext() as client
        ):
            for fence in group:
                found = [problem async for problem in _problems(fence, client, shell)]
                problems += [f"{name(page)}:{fence.line}: {problem}" for problem in found]
            if client is not None:
                await eventually(partial(_has_embedded, client), "the server has embedded everything")
    assert not problems, "\n".join(problems)


async def _has_embedded(client: Client) -> bool:
    """True if no text waits to be embedded: no command after the server's end does that."""
    stats = await call(client, "memory_stats")
    return bool(stats["embeddings"]["waiting"] == 0)


async def _problems(fence: Fence, client: Client | None, shell: "Shell") -> AsyncIterator[str]:
    match fence.kind:
        case "console" | "console served":
            found = await anyio.to_thread.run_sync(lambda: list(shell.run(fence.text)))
        case "sql":
            found = await anyio.to_thread.run_sync(lambda: list(shell.sql(fence.text)))
        case _ if client is None:
            found = []
        case "text call":
            found = [problem async for problem in _called(client, fence)]
        case "text attach":
            found = [problem async for problem in _attached(client, fence)]
        case "js trigger":
            found = [problem async for problem in _judged(client, fence)]
    for problem in found:
        yield problem


async def _called(client: Client, fence: Fence) -> AsyncIterator[str]:
    for step in calls(fence.text):
        if step.did in SEARCHES:
            await eventually(lambda: _is_embedded(client), "all memories are embedded")
        result = await client.call_tool(step.did, step.arguments)
        assert isinstance(result, CallToolResult)
        said = "".join(part.text for part in result.content if isinstance(part, TextContent))
        if step.shown.startswith("Error: "):
            shown = "\n".join(map(str.strip, step.shown.splitlines()))
            if not result.is_error or not same_text(shown, said):
                yield f"{step.did} said {said}"
        elif result.is_error:
            yield f"{step.did} failed: {said}"
        elif step.shown:
            for problem in fits(json.loads(step.shown), result.structured_content):
                yield f"{step.did}: {problem}"


async def _attached(client: Client, fence: Fence) -> AsyncIterator[str]:
    for step in calls(fence.text):
        try:
            if step.did.startswith("/"):
                message = (await client.get_prompt(step.did[1:], step.arguments)).messages[0].content
                said = message.text if isinstance(message, TextContent) else ""
            else:
                (content,) = (await client.read_resource(step.did)).contents
                said = content.text if isinstance(content, TextResourceContents) else ""
        except MCPError as error:
            said = f"Error: {error.error.message}"
        if not same_text("\n".join(map(str.strip, step.shown.splitlines())), said):
            yield f"{step.did} said {said}"


async def _is_embedded(client: Client) -> bool:
    """What was stored before the model was ready, or edited by hand, waits a moment for its embedding."""
    stats = await call(client, "memory_stats")
    return bool(stats["embeddings"]["embedded"] == stats["total"] and not stats["embeddings"]["waiting"])


async def _judged(client: Client, fence: Fence) -> AsyncIterator[str]:
    for trigger in filter(None, fence.text.splitlines()):
        result = await client.call_tool("test_trigger", {"trigger": trigger})
        assert isinstance(result, CallToolResult)
        if result.is_error or not isinstance((result.structured_content or {}).get("value"), bool):
            yield f"{trigger}: {result.content}"


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a folder, and SQL in a database."""

    folder: Path
    db: Path
    env: dict[str, str]

    def run(self, text: str) -> Iterator[str]:
        for step in commands(text):
            shows = any(each in step.did for each in SHOWS)
            patience = time.monotonic() + (WRITTEN_WITHIN if shows else 0)
            while True:
                done = self._done(["bash", "-c", step.did])
                if done.returncode == 0 and (not step.shown or same_text(step.shown, done.stdout)):
                    break
                if done.returncode != 0 or time.monotonic() > patience:
                    yield f"$ {step.did}\n{done.stdout}{done.stderr}"
                    break
                time.sleep(0.2)

    def sql(self, text: str) -> Iterator[str]:
        done = self._done(["sqlite3", "-batch", "-bail", str(self.db)], text)
        if done.returncode != 0:
            yield done.stderr

    def _done(self, command: list[str], given: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=self.folder, env=self.env, input=given, capture_output=True, text=True,
            encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip


def _programs(folder: Path) -> Path:
    """A folder with `memory-server` of this repository, and a `sqlite3` that waits as docs/file.md advises."""
    place = folder / "bin"
    place.mkdir()
    programs = {"memory-server": shlex.join(warm.program())}
    if sqlite3 := shutil.which("sqlite3"):
        programs["sqlite3"] = f'"{sqlite3}" -cmd ".timeout 20000"'
    for program, command in programs.items():
        path = place / program
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return place


# What is only read


def test_every_fence_is_of_a_known_kind() -> None:
    assert [
        (name(page), fence.line, fence.kind) for page, fence in every_fence() if fence.kind not in KINDS
    ] == []


def test_settings_of_clients_are_well_formed_and_start_the_program() -> None:
    readers = {"json": json.loads, "toml": tomllib.loads}
    for page, fence in every_fence():
        if fence.kind in readers:
            assert "memory-server" in json.dumps(readers[fence.kind](fence.text)), (
                f"{name(page)}:{fence.line}"
            )


def test_commands_that_are_not_run_are_well_formed_and_name_what_is_there() -> None:
    for page, fence in every_fence():
        if fence.kind != "bash":
            continue
        where = f"{name(page)}:{fence.line}"
        checked = subprocess.run(
            ["bash", "-n"], input=fence.text, capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, f"{where}: {checked.stderr}"
        for line in re.sub(r"\\\n", "", fence.text).splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words:
                assert words[0] in PROGRAMS, f"{where}: {words[0]} is not among PROGRAMS"
            for word in words:
                if word.startswith(("scripts/", "tests/", "docs/")):
                    assert (ROOT / word.partition("::")[0]).exists(), f"{where}: there is no {word}"


def test_flags_of_the_program_exist() -> None:
    """In commands that are not run too."""
    context = click.Context(command_line)
    verbs = [command_line.get_command(context, each) for each in command_line.list_commands(context)]
    verbs += [own for each in verbs if isinstance(each, click.Group) for own in each.commands.values()]
    known = {flag for each in (command_line, *verbs) if each for param in each.params for flag in param.opts}
    known.add("--help")
    for page, fence in every_fence():
        for line in fence.text.splitlines() if fence.kind in ("bash", "console") else []:
            arguments = re.match(r"(?:\$ )?memory-server (.*)", line)
            flags = set(re.findall(r"(?<!\S)--\w[\w-]*", arguments[1])) if arguments else set()
            assert flags <= known, f"{name(page)}:{fence.line}: {flags - known}"


def test_settings_in_the_text_exist() -> None:
    known = {EMBEDDER_KEY, RERANKER_KEY, postgres_server.NAMED}
    for setting, field in Settings.model_fields.items():
        aliases = getattr(field.validation_alias, "choices", None) or [f"MEMORY_SERVER_{setting.upper()}"]
        known |= {str(alias) for alias in aliases}
    for page in PAGES:
        named = set(re.findall(r"\bMEMORY_SERVER_[A-Z_]+\b", page.read_text(encoding="utf-8")))
        assert named <= known, f"{name(page)}: {named - known}"


def test_every_local_link_leads_to_a_page_and_a_heading() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(page)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            goal = (page.parent / path).resolve() if path else page
            if not goal.exists() or (anchor and anchor not in _anchors(goal)):
                broken.append(f"{name(page)}: {target}")
    assert broken == []


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", without_fences(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_path_of_the_repository_in_the_text_is_there() -> None:
    missing = []
    for page in PAGES:
        for quoted in re.findall(r"`([^`\n]+)`", without_fences(page)):
            if re.fullmatch(r"(?:memory_server|migrations|scripts|tests|docs)/[\w./-]+", quoted):
                missing += [] if (ROOT / quoted).exists() else [f"{name(page)}: {quoted}"]
    assert missing == []


def test_every_page_of_docs_is_linked_from_the_readme_or_its_pages() -> None:
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    }
    assert [name(page) for page in (ROOT / "docs").iterdir() if page.resolve() not in linked] == []


def test_each_page_stands_once_in_the_index_beside_the_need_that_it_meets() -> None:
    indexes = (INDEX, INDEX_CHINESE)
    for index in indexes:
        text = index.read_text(encoding="utf-8")
        entries = re.findall(r"^\| [^|]+ \| \[.+?\]\((.+?)\) \|$", text, re.MULTILINE)
        listed = sorted((index.parent / target).resolve() for target in entries)
        assert listed == [page for page in PAGES if page not in (*indexes, README, CHINESE)]
        assert text.count("\n| ") == len(entries) + 2 * text.count("\n| --- ")


def test_each_program_of_the_laboratory_stands_once_in_its_table() -> None:
    programs = [
        path.relative_to(LAB).as_posix()
        for path in LAB.rglob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8") and path.name != "launcher.py"
    ]
    listed = re.findall(
        r"^\| `python scripts/lab/([\w/.]+)", LAB_INDEX.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(program.removesuffix("/__main__.py") for program in programs)


def test_each_figure_of_the_laboratory_stands_on_the_page_that_it_names() -> None:
    wrong = []
    for answer, page in re.findall(
        r"\| ([^|\n]+) \(\[page\]\((.+?)[)#]", LAB_INDEX.read_text(encoding="utf-8")
    ):
        text = (LAB / page).read_text(encoding="utf-8")
        for figure in re.findall(r"[\d.,]*\d", answer):
            wrong += (
                [] if re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d)", text) else [f"{page}: {figure}"]
            )
    assert wrong == []


def test_the_documentation_names_no_place_of_one_machine() -> None:
    for page in PAGES:
        found = re.findall(r"(?:/wor[k]/|/home/|/Users/|/root/|file://)\S*", page.read_text(encoding="utf-8"))
        assert found == [], name(page)


# README in two languages


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= LONGEST_README
    assert len(CHINESE.read_text(encoding="utf-8").splitlines()) <= LONGEST_README


def test_both_readmes_have_the_same_examples_and_commands() -> None:
    english, chinese = (
        [(each.kind, _uncommented(each)) for each in fences(page)] for page in (README, CHINESE)
    )
    assert english == chinese


def _uncommented(fence: Fence) -> str:
    """Comments are translated, and in a console what is stored and printed."""
    if fence.kind == "console":
        return "\n".join(line.partition('"')[0] for line in fence.text.splitlines() if line.startswith("$ "))
    return re.sub(r" *#.*", "", fence.text) if fence.kind == "bash" else fence.text


def test_both_readmes_name_the_same_settings_tools_files_and_commands() -> None:
    english, chinese = (
        Counter(re.findall(r"`([^`\n]+)`", without_fences(page))) for page in (README, CHINESE)
    )
    assert english == chinese


def test_both_readmes_have_the_same_figures() -> None:
    english, chinese = (_figures(page) for page in (README, CHINESE))
    assert english == chinese


def _figures(page: Path) -> Counter[str]:
    comments = " ".join(
        " ".join(re.findall(r"#.*", fence.text)) for fence in fences(page) if fence.kind == "bash"
    )
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", without_fences(page) + comments))


def test_both_readmes_link_to_the_same_places() -> None:
    english, chinese = (
        Counter(re.findall(r"\]\(([^)\s]+)\)", without_fences(page).replace(".zh-CN.", ".")))
        for page in (README, CHINESE)
    )
    assert english == chinese


# Figures


def test_each_table_plot_and_figure_is_what_the_results_say() -> None:
    """Nobody copies a figure by hand: `--write` of a benchmark and `python scripts/lab/bench --render` do."""
    stale = [
        path.as_posix()
        for path, text in pages.rendered().items()
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text
    ]
    assert [*stale, *pages.left_over()] == [], "run: python scripts/lab/bench --render"


def test_each_benchmark_has_its_results_and_each_result_its_benchmark() -> None:
    scripts = {
        path.stem
        for path in (ROOT / "scripts" / "lab" / "bench").glob("*.py")
        if "Report(__file__" in path.read_text(encoding="utf-8")
    }
    assert {path.stem for path in pages.parts()} == scripts
    for path in pages.parts():
        assert part.load(path).command == f"python scripts/lab/bench/{path.stem}.py"
    assert results.load(ROOT / pages.KEPT).command.startswith(pages.COMMAND)


def test_each_table_of_performance_stands_below_its_command() -> None:
    text = (ROOT / pages.PAGE).read_text(encoding="utf-8")
    commands = {part.load(path).command for path in pages.parts()}
    assert set(re.findall(r"^<!-- (python .*?) -->$", text, re.MULTILINE)) == {pages.COMMAND, *commands}


# What describes the product to other programs


def test_the_page_of_the_file_names_every_table_and_view(file_database: Database) -> None:
    there = _tables(file_database)
    quoted = set(re.findall(r"`(\w+)`", without_fences(ROOT / "docs" / "file.md")))
    assert {each for each in there if not _is_shadow(each)} - quoted == set()


def test_datasette_hides_the_tables_of_the_machine_and_no_others(file_database: Database) -> None:
    metadata = json.loads((ROOT / "docs" / "datasette.json").read_text(encoding="utf-8"))
    tables = metadata["databases"]["memory"]["tables"]
    hidden = {table for table, about in tables.items() if about.get("hidden")}
    there = _tables(file_database)
    assert set(tables) - there == set()
    assert {each for each in there if _is_shadow(each)} <= hidden
    assert there - hidden == {
        *(each for each in there if each.startswith("readable_")),
        "memories", "memory_history", "edges", "facts", "fact_history", "turns",
        "conversations", "short_term_memories", "long_term_memories", "job_problems", "projects",
    }  # fmt: skip


def _tables(database: Database) -> set[str]:
    with database.read() as tx:
        return {
            str(row[0]) for row in tx.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        }


def _is_shadow(table: str) -> bool:
    """A table that SQLite makes for itself."""
    return (
        table.startswith("sqlite_")
        or re.fullmatch(r"\w+_words_(data|idx|content|docsize|config)", table) is not None
    )


def test_the_manifest_for_registries_fits_its_format_and_the_program() -> None:
    manifest = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    (package,) = manifest["packages"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", manifest["name"])
    assert 1 <= len(manifest["description"]) <= 100
    assert manifest["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"]
    assert package["transport"] == {"type": "stdio"}
    for variable in package["environmentVariables"]:
        assert variable.get("isSecret", False) == (variable["name"] in (EMBEDDER_KEY, RERANKER_KEY))
        if variable.get("isSecret"):
            continue
        setting = variable["name"].removeprefix("MEMORY_SERVER_").lower()
        assert setting in Settings.model_fields


def test_the_changelog_tells_the_version_of_the_program() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[?([^\]\s]+)\]?", text, re.MULTILINE)[:2] == ["Unreleased", __version__]


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert (ROOT / "memory_server" / "py.typed").exists()


def test_the_fences_are_compared_as_their_kinds_say() -> None:
    assert (
        list(
            fits(
                {"id": 1, "at": "2026-01-01T00:00:00.000Z"},
                {"id": 1, "at": "2031-05-06T07:08:09.123Z", "more": 2},
            )
        )
        == []
    )
    assert list(fits({"score": 0.5}, {"score": 0.51})) == []
    assert list(fits(["a", "…"], ["a", "b", "c"])) == []
    assert len(list(fits({"score": 0.5}, {"score": 0.6}))) == 1
    assert len(list(fits(["a"], ["a", "b"]))) == 1
    assert len(list(fits({"id": 1}, {"id": True}))) == 1
    assert same_text("one\n…\nfour", "one\ntwo\nthree\nfour")
    assert not same_text("one", "two")
