"""Commands at the terminal as clients of the engine: what they print is what a process of its own prints."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from memory_server.front import command as front_command
from memory_server.front import finding, place, running
from tests import warm
from tests.conftest import Holder, Servers, call, until
from tests.engine.conftest import engines, folder, served

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]

LONG = "The lighthouse lamp is checked at dusk, because fog comes with the night. 灯塔的灯在黄昏检查。 " * 3


@pytest.fixture(autouse=True)
def _lives_long(server: Servers) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "30"


def given(server: Servers) -> list[str]:
    return ["--db", server.given, "--embedder", "hashing"]


def command(server: Servers, *words: str) -> list[str]:
    return warm.cold(*given(server), *words)


def run(
    server: Servers, *words: str, code: int = 0, cwd: Path | None = None, piped: str = ""
) -> "subprocess.CompletedProcess[str]":
    return ran(server, command(server, *words), code, cwd, piped)


def ran(
    server: Servers, words: list[str], code: int, cwd: Path | None = None, piped: str = ""
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        words, env={**os.environ, **server.env}, cwd=cwd or server.folder, input=piped,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def stored(server: Servers) -> list[tuple[str, str, str]]:
    return server.rows("SELECT content, created_by, project FROM memories ORDER BY id")


def embedded(server: Servers) -> int:
    ((number,),) = server.rows("SELECT count(DISTINCT memory_id) FROM embeddings")
    return int(number)


def test_what_is_added_is_embedded_at_once_and_found_by_the_same_engine(server: Servers) -> None:
    project = server.folder / "harbour"
    project.mkdir()
    assert run(server, "add", "The lamp is lit at dusk", cwd=project).stdout == "m1 stored in harbour.\n"
    before = engines(server)
    until(lambda: embedded(server) == 1, "the engine that has just started has embedded it")
    assert "m1" in run(server, "search", "when is the lamp lit").stdout
    assert "The lamp is lit at dusk" in run(server, "recall", "when is the lamp lit").stdout
    assert stored(server) == [("The lamp is lit at dusk", "terminal", "harbour")]
    assert len(before) == 1
    assert engines(server) == before


QUESTIONS = [
    (["search", "lamp"], 0),
    (["search", "lamp", "--json", "--project", "harbour"], 0),
    (["search", "lamp", "--since", "2d", "--type", "decision", "-n", "3", "--meaning"], 0),
    (["search", "nothing of the kind"], 0),
    (["search", "--", "--db"], 0),
    (["search", "lamp", "--type", "unknown"], 2),
    (["search"], 2),
    (["recall", "when is the lamp checked", "--max-tokens", "100"], 0),
    (["recall", "lamp", "--json"], 0),
]
GLANCES = [
    (["list"], 0),
    (["list", "--json", "--type", "decision"], 0),
    (["show", "m1"], 0),
    (["show", "m99"], 1),
    (["facts"], 0),
    (["log"], 0),
]


@dataclass(frozen=True)
class Harbour:
    """A memory that is only read, and by the words of a command what it printed where no engine ran.

    Elsewhere each search counts, and changes the score that the next one prints.
    """

    server: Servers
    alone: dict[tuple[str, ...], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def harbour(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Iterator[Harbour]:
    with served(tmp_path_factory.mktemp("harbour"), user_folders, store) as server:
        anyio.run(_fill, server)
        server.env |= {"MEMORY_SERVER_ENGINE_IDLE": "60", "MEMORY_SERVER_READ_ONLY": "yes"}
        alone = {
            tuple(words): ran(server, warm.program(*given(server), *of_words, *words), code)
            for commands, of_words in ((GLANCES, []), (QUESTIONS, ["--engine", "off"]))
            for words, code in commands
        }
        assert not engines(server)
        yield Harbour(server, alone)


async def _fill(server: Servers) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_store", content=LONG, type="decision", project="harbour")
        await call(client, "write_memory", key="lamp.colour", value="green")


@pytest.mark.parametrize(("words", "code"), QUESTIONS)
def test_a_command_prints_the_same_with_an_engine_and_without(
    harbour: Harbour, words: list[str], code: int
) -> None:
    alone, answered = harbour.alone[tuple(words)], run(harbour.server, *words, code=code)
    assert (answered.stdout, answered.stderr) == (alone.stdout, alone.stderr)


def test_a_change_added_at_once_to_a_new_file_names_what_it_may_replace_and_the_command_for_it(
    server: Servers,
) -> None:
    def typed(*words: str) -> str:
        return ran(server, warm.cold("--db", server.given, *words), code=0).stdout

    old, new = (
        "The staging API runs on host kelp.",
        "The staging API moved to host coral, because kelp is retired.",
    )
    typed("add", old)
    added = typed("add", new).splitlines()
    mend = "memory-server connect m2 supersedes m1"
    assert added[1:] == [f"  similar: m1 {old}", f"  It may replace m1. If so: {mend}"]
    typed(*mend.split()[1:])
    assert f"(was: {old})" in typed("recall", "which host does the staging API run on?")
    typed("add", "The build stops after 5 attempts.")
    assert "5 attempts. (5 → 8)" in typed("add", "The build stops after 8 attempts.")


def test_what_is_not_added_is_told_the_same_with_an_engine_and_without(server: Servers) -> None:
    refused = [
        (["add", ""], 2),
        (["add", "x", "--supersedes", "999"], 1),
        (["add", "my password is hunter2hunter2, token ghp_abcdefghijklmnopqrstuvwxyz0123456789"], 1),
    ]
    program = warm.program(*given(server), "--engine", "off")
    alone = [ran(server, [*program, *words], code) for words, code in refused]
    assert not engines(server)
    answered = [run(server, *words, code=code) for words, code in refused]
    assert [(done.stdout, done.stderr) for done in answered] == [(done.stdout, done.stderr) for done in alone]


@pytest.mark.parametrize(("words", "code"), GLANCES)
def test_a_glance_asks_an_engine_that_runs_and_starts_none(
    harbour: Harbour, words: list[str], code: int
) -> None:
    alone, server = harbour.alone[tuple(words)], harbour.server
    if not engines(server):
        run(server, "search", "lamp")
    tracing = [sys.executable, "-X", "importtime", *command(server, *words)[1:]]
    answered = ran(server, tracing, code)
    lines = answered.stderr.splitlines(keepends=True)
    trace = [line for line in lines if line.startswith("import time:")]
    assert (answered.stdout, "".join(line for line in lines if line not in trace)) == (
        alone.stdout,
        alone.stderr,
    )
    assert "memory_server.front.command" in "".join(trace)
    assert "memory_server.cli" not in "".join(trace)


@pytest.mark.parametrize("no_color", ["", "1"])
async def test_a_terminal_shows_the_same_table(server: Servers, no_color: str) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_store", content=LONG, type="decision", project="harbour")
    server.env |= {"NO_COLOR": no_color, "TERM": "xterm"}
    here = shown(server, "--engine", "off", "search", "lamp")
    there = shown(server, "search", "lamp")
    assert len(engines(server)) == 1
    assert there == here
    assert "…" in here
    assert ("\x1b[" in here) is (not no_color)


def shown(server: Servers, *words: str) -> str:
    """What a terminal of 60 columns gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 60, 0, 0))
    with subprocess.Popen(
        command(server, *words), env={**os.environ, **server.env}, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65_536):
                parts.append(part)
        except OSError:  # the other end is closed
            pass
        process.wait(60)
    os.close(ours)
    return b"".join(parts).decode()


@pytest.mark.parametrize("engine", ["auto", "off"])
def test_questions_are_asked_by_meaning(server: Servers, engine: str) -> None:
    words = warm.cold("--db", server.given, "--engine", engine)

    def printed(*more: str) -> str:
        return subprocess.run(
            [*words, *more],
            env={**os.environ, **server.env},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    printed("add", "Groceries come from the market in Linden Street.")
    printed("add", "The lamp is painted green.")
    assert "Groceries" in printed("search", "where is food bought").splitlines()[0]
    assert "Groceries" in printed("recall", "where is food bought")


@pytest.mark.parametrize("verb", ["search", "recall"])
def test_a_question_makes_neither_a_database_nor_an_engine_for_none(server: Servers, verb: str) -> None:
    server.db.unlink()
    assert "There is no database" in run(server, verb, "lamp", code=1).stderr
    assert not server.db.exists()
    assert not folder(server).exists()


def test_the_first_memory_makes_the_database(server: Servers) -> None:
    server.db.unlink()
    run(server, "add", "The lamp is lit at dusk")
    assert len(stored(server)) == 1


def test_a_path_is_of_the_folder_of_the_command(server: Servers) -> None:
    server.env["MEMORY_SERVER_DB"] = "memory.db"
    words = [word for word in command(server, "add", "The lamp is lit") if word not in ("--db", server.given)]
    subprocess.run(words, env={**os.environ, **server.env}, cwd=server.folder, check=True, timeout=60)
    assert len(stored(server)) == 1
    assert len(engines(server)) == 1


def test_what_is_piped_is_embedded_at_once(server: Servers) -> None:
    run(server, "add", "-", piped="The lamp is lit at dusk")
    assert embedded(server) == 1


def test_what_is_imported_is_embedded_by_the_engine(server: Servers) -> None:
    source = server.folder / "notes.md"
    source.write_text("# Harbour\n\n- The harbour opens at noon\n- The quay is swept on Mondays\n")
    run(server, "import", str(source))
    number = len(stored(server))
    assert number > 1
    until(lambda: embedded(server) == number, "all is embedded")
    assert len(engines(server)) == 1


def test_a_trial_of_an_import_starts_no_engine(server: Servers) -> None:
    source = server.folder / "notes.md"
    source.write_text("# Harbour\n\n- The harbour opens at noon\n")
    run(server, "import", str(source), "--dry-run")
    assert engines(server) == []


async def test_a_question_asks_the_engine_of_a_window_with_other_settings_and_a_writer_its_own(
    server: Servers,
) -> None:
    plain = [word for word in command(server, "search", "lamp") if word not in ("--embedder", "hashing")]
    async with server("--read-only") as client:
        await call(client, "memory_stats")
        subprocess.run(plain, env={**os.environ, **server.env}, check=True, timeout=60)
        assert len(engines(server)) == 1
        run(server, "add", "The lamp is lit at dusk")
        assert len(engines(server)) == 2


def test_of_an_engine_that_ends_while_it_stores_is_said_that_it_cannot_be_told(
    server: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "runtime_folder", lambda: server.env["XDG_RUNTIME_DIR"])

    def has_clients(number: int) -> bool:
        return [engine.clients for engine in running.of(server.db)] == [number]

    run(server, "search", "lamp")
    (engine,) = engines(server)
    until(lambda: has_clients(0), "the search has gone")
    with Holder(server.db, "UPDATE memories SET content = content"):
        process = subprocess.Popen(
            command(server, "add", "The lamp is lit"), env={**os.environ, **server.env},
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until(lambda: has_clients(1), "the engine has the command")
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=1)
        os.kill(engine, signal.SIGKILL)
        _, complaint = process.communicate(timeout=60)
    assert "Check whether it is stored" in complaint
    assert process.returncode == 1


def test_a_reader_that_has_seen_enough_gets_no_complaint(server: Servers) -> None:
    run(server, "add", "The lamp is lit at dusk")
    with subprocess.Popen(
        command(server, "search", "lamp"), env={**os.environ, **server.env},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("server_flags", "is_plain"),
    [
        ({"log_level": "debug", "engine_idle": "5"}, True),
        ({"log_level": "LOUD"}, False),
        ({"engine_idle": "-1"}, False),
        ({"engine_idle": "x"}, False),
    ],
)
def test_no_engine_that_runs_answers_where_a_setting_is_wrong(
    server: Servers, server_flags: dict[str, object], is_plain: bool
) -> None:
    """The process of the command then says what is wrong."""
    wanted = finding.wanted({"db": server.given, **server_flags}, os.environ)
    assert wanted.is_plain is is_plain


@pytest.mark.parametrize(("named", "columns"), [("0", 70), ("", 70), ("90", 90)])
def test_columns_that_are_none_are_those_of_the_terminal(
    named: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
    with os.fdopen(master, "rb"), os.fdopen(slave, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert front_command._width({"COLUMNS": named}) == columns
        monkeypatch.undo()
