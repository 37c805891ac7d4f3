"""The local socket on which a hook asks a running server, which knows meaning."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_server.hook import place
from tests.conftest import Servers, Sqlite, call, until
from tests.hook.conftest import Hooks
from tests.hook.test_prompt import NOTES, SMALL_TALK

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no socket on Windows"),
]

NOTE = "The lighthouse keeper sleeps at noon"
PROMPT = "When does the lighthouse keeper sleep?"
SCRIPT = "similar(messages, 'When does the lighthouse keeper sleep?', 0.9)"
DUE = "Ask for the keeper's name first."


@pytest.fixture
async def filled(server: Servers, hooks: Hooks) -> Hooks:
    """The hooks of a file with a memory, and a long-term memory whose trigger compares meanings."""
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content=NOTE, type="learning")
        await call(client, "add_long_term_memory", name="name", prompt=DUE, trigger=SCRIPT)
    return hooks


@contextmanager
def running(server: Servers, hooks: Hooks, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A server whose socket is open."""
    before = len(sockets(hooks))
    process = server.process(*arguments, cwd=hooks.project)
    try:
        until(lambda: len(sockets(hooks)) > before, "the server opens its socket", 60)
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


@pytest.fixture
def cold(server: Servers) -> None:
    """The test kills or stops the process itself."""
    server.cold = True


def sockets(hooks: Hooks) -> list[Path]:
    return place.sockets(hooks.place)


async def test_a_running_server_evaluates_triggers_that_compare_meanings(
    server: Servers, filled: Hooks, sqlite: Sqlite
) -> None:
    assert DUE not in filled("UserPromptSubmit", prompt=PROMPT, session_id="before").out
    with running(server, filled):
        # The first question starts the JavaScript worker, which may take longer than a hook waits.
        until(
            lambda: DUE in filled("UserPromptSubmit", prompt=PROMPT, session_id=os.urandom(4).hex()).out,
            "the server answers in time",
        )
        said = filled("UserPromptSubmit", prompt=PROMPT, session_id="again").context
        assert said.index(f"{DUE} [w name]") < said.index(NOTE)
        assert filled("UserPromptSubmit", prompt=PROMPT, session_id="again").out == ""
    assert sqlite(filled.db, "SELECT count(*) FROM wakes WHERE session = 'again'") == "1"
    assert sqlite(filled.db, "SELECT count(*) FROM hook_injections WHERE session = 'again'") == "2"


async def test_a_running_server_finds_by_meaning_what_shares_too_few_words(
    server: Servers, hooks: Hooks
) -> None:
    prompt = "Which database did we choose, and why Postgres?"
    async with server("--embedder", "bundled", cwd=hooks.project) as client:
        for note in NOTES:
            await call(client, "memory_store", content=note, type="learning")

        def found() -> bool:
            return NOTES[3] in hooks("UserPromptSubmit", prompt=prompt, session_id=os.urandom(4).hex()).out

        until(found, "meaning answers in time")
        assert hooks("UserPromptSubmit", "--no-socket", prompt=prompt, session_id="words").out == ""
        assert [each for each in SMALL_TALK if hooks("UserPromptSubmit", prompt=each).out] == []


async def test_only_its_owner_reaches_the_socket_and_it_goes_with_the_server(
    server: Servers, filled: Hooks
) -> None:
    async with server(cwd=filled.project) as client:
        await call(client, "memory_stats")
        (path,) = sockets(filled)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_ISSOCK(path.stat().st_mode)
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


@pytest.mark.usefixtures("cold")
async def test_a_signal_takes_the_socket_away_too(server: Servers, filled: Hooks) -> None:
    with running(server, filled) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        process.stdout.readline()  # now it serves
        process.terminate()
        process.wait(20)
        assert sockets(filled) == []


@pytest.mark.usefixtures("cold")
async def test_the_socket_of_a_killed_server_is_removed_and_words_answer(
    server: Servers, filled: Hooks
) -> None:
    with running(server, filled) as process:
        process.kill()
        process.wait(20)
        assert len(sockets(filled)) == 1
        assert NOTE in filled("UserPromptSubmit", prompt=PROMPT).context
        assert sockets(filled) == []


@pytest.mark.usefixtures("cold")
async def test_words_answer_where_a_server_is_stalled(server: Servers, filled: Hooks) -> None:
    with running(server, filled) as process:
        os.kill(process.pid, signal.SIGSTOP)
        said = filled("UserPromptSubmit", prompt=PROMPT).context
        assert NOTE in said
        assert DUE not in said
        assert len(sockets(filled)) == 1


@pytest.mark.usefixtures("cold")
async def test_any_server_of_the_file_may_answer(server: Servers, filled: Hooks) -> None:
    with running(server, filled), running(server, filled) as newer:
        newer.kill()
        newer.wait(20)
        until(
            lambda: DUE in filled("UserPromptSubmit", prompt=PROMPT, session_id=os.urandom(4).hex()).out,
            "the older server answers",
        )
        assert len(sockets(filled)) == 1


async def test_it_can_be_switched_off(server: Servers, filled: Hooks) -> None:
    async with server("--no-socket", cwd=filled.project) as client:
        await call(client, "memory_stats")
        assert sockets(filled) == []
    with running(server, filled):
        for number in range(5):
            said = filled("UserPromptSubmit", "--no-socket", prompt=PROMPT, session_id=f"s{number}").context
            assert DUE not in said


async def test_a_server_of_another_file_is_not_asked(server: Servers, filled: Hooks, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with running(server, filled):
        assert place.sockets(other) == []
        (tmp_path / "link.db").symlink_to(filled.db)
        assert place.sockets(tmp_path / "link.db") == sockets(filled)


async def test_a_server_answers_no_other_program(server: Servers, filled: Hooks) -> None:
    with running(server, filled):
        for number, sent in enumerate((b"", b"{", b"[]", b'{"version": 1}', b'{"version": 99}', b"\xff")):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(sockets(filled)[0]))
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                assert client.recv(100) == b"", sent
            assert NOTE in filled("UserPromptSubmit", prompt=PROMPT, session_id=f"s{number}").context, sent


@pytest.mark.parametrize(
    "answer", [b"", b"{", b"[]", b'{"version": 1, "text": "x", "said": [{"kind": "no"}]}']
)
async def test_words_answer_where_another_program_does(filled: Hooks, answer: bytes) -> None:
    path = next(place.own(filled.db))
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            with listener.accept()[0] as hook:
                hook.recv(1_000_000)
                hook.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        assert NOTE in filled("UserPromptSubmit", prompt=PROMPT).context
        thread.join(20)
    path.unlink()


async def test_a_folder_that_others_may_enter_is_not_used(
    server: Servers, filled: Hooks, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    open_to_all = tmp_path_factory.mktemp("open")
    (open_to_all / "memory-server").mkdir()
    (open_to_all / "memory-server").chmod(0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(open_to_all))
    filled.env["XDG_RUNTIME_DIR"] = server.env["XDG_RUNTIME_DIR"] = str(open_to_all)
    with running(server, filled) as process:
        (path,) = sockets(filled)
        assert path.parent != open_to_all / "memory-server"
        assert place.is_private(path.parent)
        process.terminate()
        process.wait(20)


async def test_no_path_is_too_long_for_a_socket(
    server: Servers, hooks: Hooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("long" * 30) / "memory.db"
    deep.parent.mkdir()
    far = tmp_path / ("run" * 40)
    far.mkdir()
    for path in (*place.own(deep), *place.own(hooks.place)):
        assert len(os.fsencode(path)) <= place.LONGEST
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(far))
    assert all(not path.is_relative_to(far) for path in place.own(hooks.place))
    assert next(place.own(hooks.place), None) is not None


def test_a_folder_through_a_link_is_not_private(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    assert place.is_private(real)
    assert not place.is_private(tmp_path / "link")
    assert not place.is_private(tmp_path / "none")
