"""Rules about the whole tree that neither the type checker nor the import contracts see."""

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from mcp_types import ToolAnnotations

from memory_server import app
from memory_server.cli import hints as cli_hints
from memory_server.errors import Mend
from memory_server.mcp import hints as mcp_hints
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.settings import Settings
from tests.conftest import ROOT

PACKAGE = ROOT / "memory_server"
CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}
CHANCE = {"random", "secrets", "numpy.random"}
FACES = {"engine", "front", "cli", "demo", "hook", "mcp", "web", "__init__.py", "__main__.py"}
"""What talks to people and models. All else lies below, and does not know who reads its words."""

INSTALLERS = "installation.py"
"""Words the commands of pip, pipx and uv, which are data for every face."""

WORDS = [pytest.param(mcp_hints.WORDS, id="mcp"), pytest.param(cli_hints.WORDS, id="cli")]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


VAGUE = frozenset(
    "each found given told said asked known wanted there one other others kept made taken held seen their theirs own"
    " rest among beside thing".split()
)
"""Names that tell where a value comes from, and not what it is."""

OPENERS = frozenset("What Whether How Which Those Of As Who Where Why When".split())
"""First words of docstrings that do not say what a function does."""

VAGUE_NAMES, OPENED_DOCSTRINGS = 36, 6
"""How many there are still: lower these numbers with each room that is made plain, and never raise them."""

AMBIGUOUS_CLASSES = 16
"""The most names of classes that stand for several things: no more than these."""


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Each module of the package, by its path in it."""
    return [
        (path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


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
    known = toolsets(app.build(Settings(db=Path("never-opened.db"))))
    return [tool for tools in known.values() for tool in tools]


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


def test_only_the_composition_roots_read_the_clock() -> None:
    readers = {name for name, tree in modules() if called(tree) & CLOCKS}
    assert readers == {"stores.py"}


def test_one_function_connects_to_files_so_that_no_schema_is_trusted() -> None:
    found = {path for path, tree in modules() if "apsw.Connection" in called(tree)}
    assert found == {"sqlite/pragmas.py", "postgres/terms.py"}  # the second has a database in memory alone


def test_chance_enters_by_the_composition_root_in_naps_and_in_names_of_unfinished_files() -> None:
    users = {name for name, tree in modules() if imported(tree) & CHANCE}
    assert users == {"app.py", "sqlite/waiting.py", "cli/install/files.py"}


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


def test_only_commands_that_serve_them_import_the_pages() -> None:
    importers = {
        name
        for name, tree in modules()
        if any(each.startswith("memory_server.web") for each in imported(tree))
    }
    assert {name for name in importers if not name.startswith("web/")} == {"cli/view.py", "cli/serve_http.py"}
    (view,) = (tree for name, tree in modules() if name == "cli/view.py")
    assert not any(
        "memory_server.web" in ast.unparse(node) for node in view.body if isinstance(node, ast.ImportFrom)
    )


def test_only_the_settings_read_the_environment() -> None:
    readers = {name for name, tree in modules() if reads_environment(tree)}
    assert readers == {
        "__main__.py",
        "settings.py",
        "flags.py",
        "cli/install/clients.py",
        "cli/install/launch.py",
        "cli/install/trial.py",
        "cli/main.py",
    }


MEMORY_ONLY = {
    "call/places.py",
    "engine/witness.py",
    "postgres/links.py",
    "postgres/watch.py",
    "services/calls.py",
    "services/mending.py",
    "services/nearness.py",
    "storage/later.py",
    "triggers/effort.py",
    "triggers/javascript/turns.py",
    "web/work.py",
}
"""Modules whose locks guard some lines of memory: nothing waits while it has one."""

UNBOUNDED = {
    "cli/serve.py": {"sleep"},  # the end of the process
    "engine/door.py": {"sleep"},  # the start of an engine, for ENDING at most
    "engine/reader.py": {
        "Lock",  # one thread sends an answer
        "carried_out.result()",  # the call has ended
    },
    "engine/readers.py": {"reader.process.wait()"},  # it has been killed
    "front/finding.py": {"flock", "sleep"},  # the start of a session, for STARTING at most
    "front/main.py": {
        "Lock",
        "Condition",
        "sleep",
    },  # a session of its own process: the engine waits for nothing
    "call/again.py": {"sleep"},  # only where the call has so much left
    "embedding/bundled.py": {"Condition", "self._turns.wait()"},  # a second at most
    "embedding/cross_encoder.py": {"Lock"},  # taken with what the call has left
    "embedding/endpoint.py": {"sleep"},  # only where nobody waits, or in a thread that is left alone
    "embedding/sentence_transformers.py": {"Lock"},  # the model computes one batch
    "mcp/audit.py": {"Lock"},  # one thread writes a line, as each call does itself
    "mcp/http/tenants.py": {
        "Lock",  # one thread builds what answers for a memory, and asks no database meanwhile
        "ending.wait()",  # what answers for a memory goes on until the memory is closed
    },
    "nlp/jieba.py": {"Lock"},  # one thread loads the dictionary, a second of its processor
    "nlp/keywords.py": {"Lock"},  # one thread loads the table of frequencies; a stemmer
    "postgres/connections.py": {
        "Lock",  # guards some lines of memory
        "sleep",  # for FAILOVER at most, and only where the call has so much left
    },
    "postgres/database.py": {"tx.wait()"},  # the connection bounds it
    "postgres/second_connection.py": {"self._jobs[0].result()"},  # a job's connection bounds it
    "postgres/together.py": {
        "Semaphore",  # hands a turn from one thread of a call to another: none waits for more than the connection
        "read.wait()",
        "self._back.acquire()",
        "self._turn.acquire()",
    },
    "services/answering.py": {"Lock"},  # while one name replaces another
    "services/erasure.py": {"sleep"},  # background work, and commands
    "services/filling.py": {"Lock"},  # that of a batch is taken by background work alone
    "services/prepared.py": {"Lock"},  # one thread cuts a text into words
    "sqlite/files.py": {"sleep", "flock"},  # until the call's end; the lock is asked for without waiting
    "sqlite/temporary.py": {"flock"},  # waits for what this process has just made
    "sqlite/waiting.py": {"sleep"},  # until the call's end
    "triggers/javascript/child.py": {
        "sleep",  # for half a millisecond
        "Condition",  # of the thread that kills the worker at the deadline
        "self._changed.wait()",
        "self._process.wait()",  # it has been killed
        "self._watch.join()",
    },
}
"""Waits without a bound of their own, and what bounds them. A new one takes `Places`, or `deadline.left()`."""

PRIMITIVES = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}
HOLDING = {"concurrent.futures", "multiprocessing", "queue", "subprocess", "threading"}
"""Modules whose objects can be waited for."""


def unbounded(tree: ast.Module) -> Iterator[str]:
    """Each way in which a module can wait for another thread, process or machine without saying how long."""
    holds = bool(imported(tree) & HOLDING)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name("threading"), name) if name in PRIMITIVES:
                yield name
            case ast.ImportFrom("threading", names):
                yield from (alias.name for alias in names if alias.name in PRIMITIVES)
            case ast.Attribute(ast.Name("time"), "sleep"):
                yield "sleep"
            case ast.Attribute(ast.Name("fcntl"), "flock" | "lockf"):
                yield "flock"
            case ast.Call(
                ast.Attribute(_, "wait" | "join" | "acquire" | "result" | "communicate"), [], []
            ) if holds:
                yield ast.unparse(node)
            case ast.Call(
                ast.Attribute(ast.Name("subprocess"), "run" | "call" | "check_call" | "check_output")
            ):
                if "timeout" not in {keyword.arg for keyword in node.keywords}:
                    yield ast.unparse(node.func)
            case ast.Attribute(
                ast.Name("psycopg") | ast.Attribute(ast.Name("psycopg"), "Connection"), "connect"
            ):
                yield ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import threading; lock = threading.Lock()", ["Lock"]),
        ("from threading import Lock", ["Lock"]),
        ("import threading; done.wait()", ["done.wait()"]),
        ("import threading; done.wait(deadline.left())", []),
        ("from concurrent.futures import Future; future.result()", ["future.result()"]),
        ("import time; time.sleep(1)", ["sleep"]),
        ("import subprocess; subprocess.run(['x'])", ["subprocess.run"]),
        ("import subprocess; subprocess.run(['x'], timeout=1)", []),
        ("import psycopg; psycopg.connect(url)", ["psycopg.connect"]),
    ],
)
def test_a_wait_without_a_bound_is_seen(text: str, found: list[str]) -> None:
    assert sorted(unbounded(ast.parse(text))) == found


def test_nothing_on_the_path_of_a_call_waits_without_a_bound() -> None:
    """Commands aside, at which a person sits."""
    waits = {
        name: set(unbounded(tree))
        for name, tree in modules()
        if name == "cli/serve.py" or not name.startswith(("cli/", "demo/"))
    }
    allowed = UNBOUNDED | {name: {"Lock"} for name in MEMORY_ONLY}
    assert {name: found for name, found in waits.items() if found} == allowed


def test_nothing_prints_but_the_command_line_and_the_demo() -> None:
    printers = {name for name, tree in modules() if called(tree) & {"print", "sys.stdout.write", "input"}}
    assert {name for name in printers if not name.startswith("demo/")} == {
        "__main__.py",
        "cli/exporting.py",
        "cli/guard.py",
        "cli/output.py",
        "cli/program.py",
        "cli/serve.py",
        "cli/serve_http.py",
    }


def hints(tree: ast.Module) -> Iterator[tuple[int, str, set[str]]]:
    """Each hint that a module gives: its line, the name of what mends, and the arguments that come with it."""
    seen: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("Hint"), args=[ast.Attribute(ast.Name("Mend"), name) as mend, *rest]):
                seen.add(id(mend))
                given = [key for each in rest if isinstance(each, ast.Dict) for key in each.keys]
                names = {key.value for key in given if isinstance(key, ast.Constant)}
                assert len(names) == len(given), f"line {node.lineno}: arguments that cannot be read here"
                assert not node.keywords, f"line {node.lineno}: arguments that cannot be read here"
                yield node.lineno, name, {str(each) for each in names}
            case ast.Attribute(ast.Name("Mend"), name) if id(node) not in seen:
                yield node.lineno, name, set()


def all_hints() -> Iterator[tuple[str, str, set[str]]]:
    for module, tree in modules():
        if module not in ("cli/hints.py", "mcp/hints.py"):
            for line, mend, given in hints(tree):
                yield f"{module}:{line}", mend, given


def test_the_walk_sees_a_hint_with_arguments_and_one_without() -> None:
    tree = ast.parse("raise NotFound('x', Mend.A, Hint(Mend.B), Hint(Mend.C, {'key': key, 'id': 1}))")
    assert sorted(hints(tree)) == [(1, "A", set()), (1, "B", set()), (1, "C", {"key", "id"})]


@pytest.mark.parametrize("words", WORDS)
def test_every_face_has_words_for_each_way_to_mend_a_failure(words: Mapping[Mend, str]) -> None:
    assert set(words) == set(Mend)


@pytest.mark.parametrize("words", WORDS)
def test_every_hint_gives_what_the_words_of_a_face_need(words: Mapping[Mend, str]) -> None:
    needed = {
        mend.name: {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        for mend, text in words.items()
    }
    lacking = [
        f"{place}: {mend} without {sorted(needed[mend] - given)}"
        for place, mend, given in all_hints()
        if needed[mend] - given
    ]
    assert lacking == []


def test_every_way_to_mend_a_failure_is_hinted_at_somewhere() -> None:
    assert {mend for _, mend, _ in all_hints()} == {mend.name for mend in Mend}


@pytest.mark.parametrize("words", WORDS)
def test_the_words_of_a_face_name_no_tool_argument_or_flag_that_does_not_exist(
    words: Mapping[Mend, str],
) -> None:
    tools = {tool.name: set(tool.schema["properties"]) for tool in all_tools()}
    flags = {"--from", "--port", "--fix", *("--" + name.replace("_", "-") for name in Settings.model_fields)}
    for text in words.values():
        called = re.findall(r"`(\w+)`", text)
        assert set(called) <= set(tools), text
        arguments = set(re.findall(r"\b(\w+)=", text))
        assert arguments <= set().union(*(tools[name] for name in called)), text
        assert set(FLAG.findall(text)) <= flags, text


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a module with their lines, an f-string as one text; docstrings are for its readers only."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant() as docstring):
                passed.add(id(docstring))
            case ast.JoinedStr(values=parts):
                passed.update(map(id, parts))
                yield (
                    node.lineno,
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts),
                )
            case ast.Constant(str(text)) if id(node) not in passed:
                yield node.lineno, text


def of_a_face(tools: list[str]) -> re.Pattern[str]:
    """What only a face may say: the name of a tool, a flag, a command to type."""
    return re.compile(
        "|".join([rf"\b(?:{'|'.join(tools)})\b", FLAG.pattern, r"\bmemory-server[ \[]\S", r"\bpipx? \w"])
    )


@pytest.mark.parametrize(
    "text",
    [
        "Call `memory_search` to find it.",
        "ids come from memory_search",
        "Start it with --db and another path",
        "Run `memory-server doctor`",
        "memory-server --read-only",
        'pip install "memory-server[sentence-transformers]"',
    ],
)
def test_the_words_that_only_a_face_may_say_are_recognised(text: str) -> None:
    assert of_a_face([tool.name for tool in all_tools()]).search(text)


OF_OTHER_PROGRAMS = {
    "language/programs.py",
    "language/commands.py",
    "language/invocations.py",
    "language/printed.py",
    "domain/chinese_rules.py",
    "domain/english_parts.py",
    "domain/english_rules.py",
    "domain/english_things.py",
    "domain/stated.py",
}
"""Modules that read the commands of other programs, and name their flags."""


def test_below_the_faces_no_text_names_a_tool_a_flag_or_a_command() -> None:
    """The descriptions of the settings neither, though they are the help of the flags: a flag needs not name itself."""
    pattern = of_a_face([tool.name for tool in all_tools()])
    found = [
        f"{module}:{line}: {match[0]}"
        for module, tree in modules()
        if module.partition("/")[0] not in (*FACES, INSTALLERS)
        for line, text in strings(tree)
        for match in pattern.finditer(text)
    ]
    assert [
        line
        for line in found
        if not line.endswith(": --user")  # curl's, before a password
        and line.partition(":")[0] not in OF_OTHER_PROGRAMS
    ] == []


def attributes(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The name and the type of each attribute of a class that says it, in its body or in its `__init__`."""
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            yield ast.unparse(part.target), ast.unparse(part.annotation)
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            for each in (*part.args.args, *part.args.kwonlyargs):
                yield each.arg, ast.unparse(each.annotation) if each.annotation else ""
            for inner in ast.walk(part):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield inner.attr, ""


def test_no_service_holds_a_caller_a_project_or_a_session() -> None:
    """Each call brings its own: one service serves any client. What a service answers may name a project."""
    trees = dict(modules())
    lasting = called(trees["app.py"]) | called(trees["jobs.py"])
    services = {
        f"{module}: {node.name}": (node.name in lasting, list(attributes(node)))
        for module, tree in trees.items()
        if module.startswith("services/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    assert sum(lasts for lasts, _ in services.values()) > 10
    found = [
        f"{place}.{name}: {annotation}"
        for place, (lasts, held) in services.items()
        for name, annotation in held
        if re.search(r"\b(?:Project|Caller|Place)\b", annotation)
        or (lasts and name.strip("_") in ("caller", "project", "session", "place", "here"))
    ]
    assert found == []


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
        whole = text.endswith("\n") or "/vendor/" in name  # released files of others stay as they are
        if text.startswith("\ufeff") or "\r" in text or (text and not whole):
            dirty.append(name)
        if re.search(r"^(?:<{7} |>{7} )", text, re.MULTILINE):
            dirty.append(f"{name}: merge")
    assert dirty == []


def test_no_more_names_are_vague_and_no_more_docstrings_open_with_a_question() -> None:
    names, openers = Counter[str](), Counter[str]()
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[path] += node.id.strip("_") in VAGUE
            elif isinstance(node, ast.arg):
                names[path] += node.arg.strip("_") in VAGUE
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                first, *_ = (ast.get_docstring(node) or "").split() or [""]
                openers[path] += first.strip("`.,:") in OPENERS
    assert names.total() <= VAGUE_NAMES, names.most_common(10)
    assert openers.total() <= OPENED_DOCSTRINGS, openers.most_common(10)


def test_no_more_names_of_classes_have_several_meanings() -> None:
    """The stores have a class each for one table; names that begin with _ are of one module."""
    places = defaultdict[str, set[str]](set)
    for path, tree in modules():
        is_of_store = path.split("/")[0] in ("sqlite", "postgres", "storage")
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add("a store" if is_of_store else path)
    ambiguous = {name: sorted(modules) for name, modules in places.items() if len(modules) > 1}
    assert len(ambiguous) <= AMBIGUOUS_CLASSES, ambiguous
