"""The process of an engine: what it inherits, who may end it, and what becomes of its place and its calls."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from memory_server.engine.door import Door
from memory_server.front import finding, main, place, session
from tests import warm
from tests.conftest import PATIENCE, Holder, Process, Servers, call, until
from tests.engine.conftest import engines, folder, kill
from tests.mcp.conftest import refusal
from tests.mcp.test_protocol import INITIALIZED, Wire, initialize, line, request, tool

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]


def connected(process: "subprocess.Popen[bytes]") -> Wire:
    """A client whose first call was answered."""
    wire = Wire(process)
    wire.ask(initialize())
    wire.send(INITIALIZED)
    wire.ask(tool("memory_stats", 1))
    return wire


def listens(path: Path) -> bool:
    link = finding.connected(path)
    if link is not None:
        link.close()
    return link is not None


@pytest.mark.usefixtures("cold_engine")
def test_an_engine_is_no_child_of_its_client_and_holds_no_file_of_it(server: Servers) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "60"
    read, write = os.pipe()
    with server.process(pass_fds=[write]) as process:
        os.close(write)
        connected(process)
        (engine,) = engines(server)
        assert process.pid not in [parent.pid for parent in psutil.Process(engine).parents()]
        process.kill()
    assert select.select([read], [], [], PATIENCE)[0], "the pipe has no other end any more"
    os.close(read)
    assert engines(server) == [engine]


@pytest.mark.usefixtures("cold_engine")
def test_calls_that_run_are_answered_when_a_person_stops_the_engine(server: Servers) -> None:
    with server.process() as process:
        wire = connected(process)
        (path,) = folder(server).glob("*-*.sock")
        with Holder(server.db, "SELECT count(*) FROM memories"):
            wire.send(tool("write_memory", 2, key="a", value=1))
            assert wire.is_alive()
            stopping = subprocess.Popen(
                server.command("engine", "stop"), env={**os.environ, **server.env}, stdout=subprocess.PIPE
            )
            until(lambda: not listens(path), "nobody is let in any more")
        assert wire.answer()["result"]["structuredContent"]["key"] == "a"
        out, _ = stopping.communicate(timeout=PATIENCE)
        assert b": stopped" in out
        process.kill()


@pytest.mark.usefixtures("cold_engine")
async def test_after_the_file_was_deleted_a_new_window_has_a_new_one_and_the_old_one_is_told(
    server: Servers,
) -> None:
    async with server() as before:
        await call(before, "write_memory", key="wifi", value="blue")
        server.db.unlink()
        async with server() as after:
            await call(after, "write_memory", key="wifi", value="red")
            assert "memory.db.rescued-" in await refusal(before, "read_memory", key="wifi")
            (path,) = folder(server).glob("*-*.sock")
            assert listens(path)


@pytest.mark.usefixtures("cold_engine")
def test_a_call_that_comes_with_the_end_of_the_input_is_answered_after_the_engine_was_killed(
    server: Servers,
) -> None:
    with server.process() as process:
        wire = connected(process)
        kill(server)
        wire.send(tool("memory_stats", 2))
        assert process.stdin is not None
        process.stdin.close()
        assert wire.answer()["id"] == 2
        assert process.wait(PATIENCE) == 0


@pytest.mark.usefixtures("cold_engine")
def test_where_no_other_engine_can_be_started_a_window_goes_on_by_itself(server: Servers) -> None:
    with server.process() as process:
        wire = connected(process)
        (path,) = folder(server).glob("*-*.sock")
        kill(server)
        path.with_suffix(".log").unlink()
        path.with_suffix(".log").mkdir()
        for number in range(2, 4):
            wire.send(b"no message\n", tool("memory_stats", number))
            assert {wire.answer()["id"] for _ in range(2)} == {None, number}
        assert engines(server) == []
        process.kill()


@pytest.mark.parametrize("suffix", ["lock", "log", "starting", "new"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/nowhere/mine")])
def test_what_lies_in_the_place_of_a_file_of_the_engine_keeps_nobody_from_being_served(
    server: Servers, suffix: str, make: Any
) -> None:
    server.cold = False  # a window serves itself where it has no engine
    environment = {**os.environ, **server.env}
    engine = finding.wanted({"db": server.given, "embedder": "hashing"}, environment)
    folder(server).mkdir(mode=0o700)
    make(folder(server) / f"{engine.name}.{suffix}")
    with server.process() as process:
        connected(process)
        process.kill()


def test_wrong_settings_of_the_database_are_told_as_without_an_engine(server: Servers) -> None:
    with server.process("--db", "postgresql://host/name?tenant=") as process:
        _, log = process.communicate(line(request("ping")), timeout=60)
    assert process.returncode == 2
    assert b"the tenant must have 1 to 200 characters" in log
    assert b"Traceback" not in log


def test_a_python_that_finds_another_program_starts_no_engine(server: Servers) -> None:
    folder(server).mkdir(mode=0o700)
    done = subprocess.run(
        warm.cold("engine", "run", str(folder(server) / "00000000-00000000-00000000"), "x"),
        env={**os.environ, **server.env}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, list(folder(server).iterdir())) == (1, [])
    assert done.stderr.startswith(b"memory-server: this Python finds another")


def test_each_user_of_a_database_of_postgresql_has_an_engine_of_their_own() -> None:
    db = {"db": "postgresql://host/name"}
    names = {finding.wanted(db, {"PGUSER": user}).name for user in ("ann", "bob")}
    assert len(names) == 2


def test_clients_have_one_engine_though_they_hand_on_another_part_of_the_locale() -> None:
    """A window of the SDK starts without it, a hook has that of the shell. Only the order of a date matters."""
    languages: list[dict[str, str]] = [{}, {"LANG": "C.UTF-8"}, {"LC_ALL": "zh_CN.UTF-8"}, {"LANG": "de_DE"}]
    names = [finding.wanted({}, environment).name for environment in languages]
    assert names[0] == names[1] == names[2] != names[3]


async def test_an_engine_of_another_version_is_left_to_its_own_windows(
    server: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, **server.env}
    flags = {"db": server.given, "embedder": "hashing"}
    monkeypatch.setattr(place, "runtime_folder", lambda: server.env["XDG_RUNTIME_DIR"])
    async with server() as client:
        await call(client, "memory_stats")
        link = finding.running(finding.wanted(flags, environment))
        assert link is not None
        link.close()
        monkeypatch.setattr(finding, "__version__", "0.0.1")
        other = finding.wanted(flags, environment)
        assert finding.running(other) is None
        assert next(finding.all_running(other), None) is None


IMPATIENT = """
import sys
from memory_server.front import main, session
session.PATIENCE = main.PATIENCE = 3.0
from memory_server.__main__ import main
sys.exit(main())
"""
"""A front that gives an engine 3 seconds for a request."""


def test_of_a_suspended_engine_a_window_gives_up_and_says_so(server: Servers) -> None:
    command = [sys.executable, "-c", IMPATIENT, "--db", server.given, "--embedder", "hashing"]
    with (
        server.process() as other,
        Process(
            command, env={**os.environ, **server.env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process,
    ):
        connected(other)  # the engine has started
        wire = connected(process)
        (engine,) = engines(server)
        os.kill(engine, signal.SIGSTOP)
        wire.send(tool("write_memory", 2, key="a", value=1), tool("read_memory", 3, key="a"))
        answers = [wire.answer() for _ in range(2)]
        texts = {answer["id"]: answer["result"]["content"][0]["text"] for answer in answers}
        assert texts[2] == f"Error: {session.SILENT} {session.UNKNOWN}"
        assert texts[3] == f"Error: {session.SILENT} {session.TRY_AGAIN}"
        os.kill(engine, signal.SIGCONT)
        memory = wire.ask(tool("read_memory", 4, key="a"))["result"]["structuredContent"]["memory"]
        assert memory is None or memory["value"] == 1  # it could not be told whether it was written
        process.kill()
        other.kill()


def test_an_engine_whose_place_another_one_has_taken_leaves_it_to_that(server: Servers) -> None:
    folder(server).mkdir(mode=0o700)
    place = folder(server) / f"00000000-{finding.program()}-00000000"
    first = Door(place)
    for path in (first.path, place.with_name(f"{place.name}.lock")):
        path.unlink()
    second = Door(place)
    first.close()
    assert listens(second.path)
    second.give_up()
    assert not second.path.exists()
    first.give_up()


def test_an_engine_that_reads_nothing_is_left_when_its_time_is_over() -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 1000))
        assert main._send(ours, bytes(10_000_000))
        assert not main._send(ours, b"more")
