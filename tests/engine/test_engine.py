"""One engine for all windows: who shares it, how it begins and ends, and what a client notices of its end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import anyio
import psutil
import pytest
from mcp.shared.subscriptions import ResourcesListChanged

from memory_server import __version__
from tests.conftest import ERAS, PATIENCE, Servers, call, until
from tests.engine.conftest import engines, folder, kill
from tests.mcp.test_protocol import INITIALIZED, Wire, initialize, line, request, tool

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]


async def test_two_windows_share_one_engine_and_have_projects_and_sessions_of_their_own(
    server: Servers,
) -> None:
    for name in ("shop", "garden"):
        (server.folder / name).mkdir()
    async with (
        server("--session", "s1", cwd=server.folder / "shop") as shop,
        server("--session", "s2", cwd=server.folder / "garden", name="Cursor") as garden,
    ):
        await call(shop, "memory_store", content="The till closes at six", type="learning")
        await call(garden, "memory_store", content="The beans need a frame", type="learning")
        assert len(engines(server)) == 1
        assert (await call(garden, "recall", query="When does the till close?", project="shop"))["answer"]
    assert server.rows("SELECT project, session, created_by FROM memories ORDER BY id") == [
        ("shop", "s1", "tests"),
        ("garden", "s2", "Cursor"),
    ]


async def test_each_window_has_the_tools_of_its_own_settings(server: Servers) -> None:
    async with server("--toolsets", "facts") as facts, server() as whole:
        assert len((await facts.list_tools()).tools) < len((await whole.list_tools()).tools)
        assert "switched off" in str((await facts.call_tool("recall", {"query": "x"})).content)
        await call(whole, "recall", query="x")
        assert len(engines(server)) == 1


@pytest.mark.parametrize(
    "flags",
    [("--toolsets", "facts"), ("--tools", "recall"), ("--exclude-tools", "recall"), ("--read-only",)],
    ids=" ".join,
)
async def test_a_window_lists_the_tools_that_its_engine_lists(
    server: Servers, flags: tuple[str, ...]
) -> None:
    async with server(*flags) as window, server(*flags, "--no-early-answers") as relayed, server() as whole:
        tools = (await window.list_tools()).tools
        assert tools == (await relayed.list_tools()).tools
        assert len(tools) < len((await whole.list_tools()).tools)


async def test_what_makes_a_process_different_has_an_engine_of_its_own(server: Servers) -> None:
    async with server() as writer, server("--read-only") as reader:
        await call(writer, "write_memory", key="wifi", value="blue")
        assert (await call(reader, "read_memory", key="wifi"))["memory"]["value"] == "blue"
        assert len(engines(server)) == 2


@pytest.mark.usefixtures("cold_engine")
async def test_an_engine_ends_some_time_after_the_last_window(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        await anyio.sleep(1)
        assert len(engines(server)) == 1
    until(lambda: not engines(server), "the engine has ended")
    assert not list(folder(server).glob("*.sock"))


@pytest.mark.parametrize("era", ERAS)
async def test_a_window_goes_on_after_its_engine_was_killed(server: Servers, era: str) -> None:
    async with server(mode=era) as client:
        for number in range(3):
            await call(client, "write_memory", key=f"k{number}", value=number)
            kill(server)
        assert (await call(client, "read_memory", key="k2"))["memory"]["value"] == 2


async def test_a_stream_is_open_after_the_engine_was_killed(server: Servers) -> None:
    async with server(mode=ERAS[1]) as client, client.listen(resources_list_changed=True) as changes:
        await call(client, "memory_stats")
        kill(server)
        await call(
            client, "memory_store", content="The harbour opens at six", type="learning", project="shop"
        )
        async for change in changes:
            assert change == ResourcesListChanged()
            break


def stopped(server: Servers, wire: Wire, message: dict[str, Any]) -> None:
    """Kill the engine while a call is under way."""
    (engine,) = engines(server)
    os.kill(engine, signal.SIGSTOP)
    wire.send(message)
    time.sleep(0.3)
    os.kill(engine, signal.SIGKILL)


def test_a_read_is_repeated_and_of_a_write_is_said_that_it_cannot_be_told(server: Servers) -> None:
    with server.process() as process:
        wire = Wire(process)
        wire.ask(initialize())
        wire.send(INITIALIZED)
        wire.ask(tool("write_memory", 1, key="a", value=1))
        stopped(server, wire, tool("read_memory", 2, key="a"))
        assert wire.answer()["result"]["structuredContent"]["memory"]["value"] == 1
        stopped(server, wire, tool("write_memory", 3, key="a", value=2))
        told = wire.answer()
        assert told["id"] == 3
        assert told["result"]["isError"]
        assert "cannot be told" in told["result"]["content"][0]["text"]
        wire.ask(tool("write_memory", 4, key="a", value=3))
        assert (
            wire.ask(tool("read_memory", 5, key="a"))["result"]["structuredContent"]["memory"]["value"] == 3
        )
        process.kill()


def test_a_call_that_comes_with_the_end_of_the_input_is_answered(server: Servers) -> None:
    messages = [initialize(), INITIALIZED, tool("write_memory", 1, key="a", value=1)]
    with server.process() as process:
        out, log = process.communicate(b"".join(map(line, messages)), timeout=60)
    assert (process.returncode, log) == (0, b"")
    assert [json.loads(answer)["id"] for answer in out.splitlines()] == [0, 1]


@pytest.mark.usefixtures("store", "cold_engine")
def test_many_windows_that_open_at_once_start_one_engine(server: Servers) -> None:
    server.db.unlink()
    processes = [server.process() for _ in range(12)]
    try:
        wires = list(map(Wire, processes))
        for number, wire in enumerate(wires):
            wire.ask(initialize())
            wire.send(INITIALIZED)
            wire.send(tool("write_memory", 1, key=f"k{number}", value=number))
        assert not [wire for wire in wires if wire.answer()["result"].get("isError")]
        assert len(engines(server)) == 1
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    assert server.rows("SELECT count(*) FROM facts") == [(12,)]


@pytest.mark.parametrize("foreign", ["a file", "a folder", "a socket that nobody serves", "a link"])
async def test_what_lies_in_the_place_of_the_socket_keeps_nobody_from_being_served(
    server: Servers, foreign: str
) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "30"
    async with server() as client:
        await call(client, "write_memory", key="wifi", value="blue")
        (path,) = folder(server).glob("*-*.sock")
    kill(server)
    path.unlink(missing_ok=True)
    if foreign == "a file":
        path.write_text("mine")
    elif foreign == "a folder":
        (path / "more").mkdir(parents=True)
    elif foreign == "a link":
        path.symlink_to("/nowhere")
    else:
        with socket.socket(socket.AF_UNIX) as unserved:
            unserved.bind(str(path))
    async with server() as client:
        assert (await call(client, "read_memory", key="wifi"))["memory"]["value"] == "blue"


async def test_where_the_folder_of_sockets_is_open_to_others_no_engine_is_started_there(
    server: Servers,
) -> None:
    folder(server).mkdir(mode=0o755)
    folder(server).chmod(0o755)
    async with server() as client:
        await call(client, "write_memory", key="wifi", value="blue")
    assert not list(folder(server).iterdir())


async def test_settings_that_are_wrong_are_told_as_without_an_engine(server: Servers) -> None:
    with server.process("--embedder", "unknown") as process:
        _, log = process.communicate(line(request("ping", id=1)), timeout=60)
    assert process.returncode == 2
    assert b"must be auto, bundled" in log


async def test_without_the_engine_each_window_is_served_by_its_own_process(server: Servers) -> None:
    async with server("--engine", "off") as client:
        await call(client, "write_memory", key="wifi", value="blue")
        assert engines(server) == []


def test_what_connects_and_speaks_no_protocol_is_left(server: Servers) -> None:
    with server.process() as process:
        wire = Wire(process)
        wire.ask(initialize())
        wire.send(INITIALIZED)
        wire.ask(tool("memory_stats", 1))
        (path,) = folder(server).glob("*-*.sock")
        for words in (
            b"",
            b"{}\n",
            b"[1]\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"\xff\n",
            b'{"engine": "other", "session": {}}\n',
        ):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(PATIENCE)
                stranger.connect(str(path))
                stranger.sendall(words)
                stranger.shutdown(socket.SHUT_WR)
                assert stranger.recv(1) == b""
        wire.ask(tool("memory_stats", 2))
        process.kill()


def told(server: Servers, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        server.program(*arguments), env={**os.environ, **server.env}, cwd=server.folder,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


async def test_a_person_sees_the_engine_and_ends_it_and_the_window_goes_on(server: Servers) -> None:
    async with server() as client:
        await call(client, "write_memory", key="a", value=1)
        (pid,) = engines(server)
        assert told(server, "engine", "status").stdout == f"process {pid} (version {__version__}), 1 client\n"
        assert f"engine      process {pid}" in told(server, "doctor").stdout
        assert told(server, "engine", "stop").stdout.startswith(f"process {pid}")
        assert engines(server) == []
        await call(client, "write_memory", key="b", value=2)
    assert server.rows("SELECT count(*) FROM facts") == [(2,)]
    until(lambda: not engines(server), "the engine has ended")
    assert told(server, "engine", "status").stdout == f"No engine runs for {server.given}.\n"
    assert "engine      none runs now" in told(server, "doctor").stdout


async def test_a_restore_ends_an_engine_that_nobody_uses_and_no_other(server: Servers) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "60"
    async with server() as client:
        await call(client, "write_memory", key="a", value="old")
        assert told(server, "backup", str(server.folder / "copy.db")).returncode == 0
        await call(client, "write_memory", key="a", value="new")
        refused = told(server, "restore", str(server.folder / "copy.db"), "--yes")
        assert f"is open in another program (process {engines(server)[0]})" in refused.stderr
    assert len(engines(server)) == 1
    assert told(server, "restore", str(server.folder / "copy.db"), "--yes").returncode == 0
    assert engines(server) == []
    async with server() as client:
        assert (await call(client, "read_memory", key="a"))["memory"]["value"] == "old"


async def test_an_engine_of_tests_starts_warm_and_one_of_users_cold(server: Servers) -> None:
    starters = []
    for _ in range(2):
        async with server() as client:
            await call(client, "memory_stats")
            (engine,) = engines(server)
            parent = psutil.Process(engine).parent()
            starters.append(bool(parent) and "forks.py" in " ".join(parent.cmdline()))
            kill(server)
        server.env.pop("WARM_ENGINES", None)
    assert starters == [sys.platform == "linux", False]
