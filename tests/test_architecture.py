"""Rules about the whole tree that neither the type checker nor the import contracts see."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_types import ToolAnnotations

from memory_server import app
from memory_server.settings import Settings
from memory_server.tools.tool import DESTROYS, READS, WRITES, Tool
from tests.conftest import ROOT

PACKAGE = ROOT / "memory_server"
CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}
CHANCE = {"random", "secrets", "numpy.random"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Each module of the package, by its path in it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def called(tree: ast.AST) -> set[str]:
    """What a tree calls, as far as a dotted name goes."""
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def all_tools() -> list[Tool]:
    toolsets = app.build(Settings(db=Path("never-opened.db"))).toolsets
    return [tool for tools in toolsets.values() for tool in tools]


def test_every_tool_has_one_of_the_three_effects() -> None:
    for tool in all_tools():
        assert tool.annotations in (READS, WRITES, DESTROYS), tool.name


@pytest.mark.parametrize("effect", [READS, WRITES, DESTROYS])
def test_an_effect_states_all_four_hints(effect: ToolAnnotations) -> None:
    hints = effect.model_dump(exclude={"title"})
    assert all(isinstance(hint, bool) for hint in hints.values()), hints


def test_tool_names_are_unique_and_their_methods_bear_them() -> None:
    names = [tool.name for tool in all_tools()]
    assert len(names) == len(set(names))
    assert names == [tool.fn.__name__ for tool in all_tools()]


def test_only_the_composition_root_reads_the_clock() -> None:
    readers = {name for name, tree in modules() if called(tree) & CLOCKS}
    assert readers == {"app.py"}


def test_chance_enters_by_the_composition_root_and_in_the_naps_of_a_busy_database() -> None:
    users = {name for name, tree in modules() if imported(tree) & CHANCE}
    assert users == {"app.py", "sqlite/database.py"}


def reads_environment(tree: ast.AST) -> bool:
    """To set a variable for a library is not to read one."""
    nodes = list(ast.walk(tree))
    written = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and id(node) not in written
        for node in nodes
    )


def test_only_the_settings_read_the_environment() -> None:
    readers = {name for name, tree in modules() if reads_environment(tree)}
    assert readers == {"settings.py"}


def test_nothing_prints_but_the_command_line_and_the_demo() -> None:
    printers = {name for name, tree in modules() if called(tree) & {"print", "sys.stdout.write", "input"}}
    assert printers == {"cli.py", "demo.py"}


def test_every_module_says_what_it_owns() -> None:
    silent = [name for name, tree in modules() if tree.body and not ast.get_docstring(tree)]
    assert silent == []


def tracked() -> list[Path]:
    """The files of the repository; without git, all that lies here."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        names = done.stdout.split("\0")
    else:
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
    hidden = (".", "build/", "dist/")
    return [ROOT / name for name in names if not name.startswith(hidden) and (ROOT / name).is_file()]


def texts() -> Iterator[tuple[str, str]]:
    for path in tracked():
        if ".venv" in path.parts or path.stat().st_size > 2_000_000:
            continue
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


OF_A_MACHINE = re.compile(
    "|".join(
        [
            r"/(?:home|Users)/(?!you\b|me\b|user\b|\.\.\.|\$|<|NAME)[\w.-]+",
            r"/root/\w",
            r"/" + "work/",
            r"C:\\\\?Users\\\\?(?!you\b|me\b)\w+",
        ]
    )
)


def test_no_file_names_a_machine_or_a_path_on_one() -> None:
    found = [
        f"{name}: {match[0]}"
        for name, text in texts()
        if name != "tests/test_architecture.py"
        for match in OF_A_MACHINE.finditer(text)
    ]
    assert found == []


def test_text_files_are_clean() -> None:
    """UTF-8 without a byte order mark, line feeds, one at the end; no mark of an unsolved merge."""
    dirty = []
    for name, text in texts():
        if text.startswith("\ufeff") or "\r" in text or (text and not text.endswith("\n")):
            dirty.append(name)
        if re.search(r"^(?:<{7} |>{7} )", text, re.MULTILINE):
            dirty.append(f"{name}: merge")
    assert dirty == []
