"""The first answers of a session, given before the server is there: always what the server itself would say."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.subscriptions import ResourcesListChanged
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from memory_server import flags
from memory_server.mcp.first_answers import FIRST, read
from memory_server.mcp.server import READ_ONLY_INSTRUCTIONS
from memory_server.settings import Settings
from tests.conftest import ERAS, PATIENCE, ROOT, Servers, call
from tests.mcp.test_protocol import (
    INITIALIZED,
    Wire,
    initialize,
    line,
    modern,
    notification,
    request,
    tool,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there the server is imported before it reads")

OFF = "--no-early-answers"

ONLY_EARLY = """
import os, sys, threading
from memory_server.flags import of_server
from memory_server.front import main
main.GREETING, main.GRACE = 0.0, 0.2
front = main.begun(of_server(sys.argv[1:]), os.environ)
heavy = ("mcp", "pydantic", "numpy", "apsw", "logging", "asyncio", "dataclasses", "pathlib", "inspect")
assert not [name for name in heavy if name in sys.modules]
if front is not None:
    ended = threading.Event()
    front.leave = ended.set
    ended.wait()
"""
"""Answers early, and then no server comes: so a shorter GRACE keeps nothing back."""

LISTS = ("tools/list", "prompts/list", "resources/templates/list", "resources/list")
HANDSHAKE = [
    initialize(),
    INITIALIZED,
    *(request(method, id=method) for method in LISTS[:3]),
    request("ping", id=2),
]
ALL = {"toolsListChanged": True, "promptsListChanged": False, "resourcesListChanged": True}
DISCOVER = modern(request("server/discover", id="probe"))
LISTENING = modern(request("subscriptions/listen", id="listen:0", notifications=ALL))
NEWER = [DISCOVER, LISTENING, *(modern(request(method, id=method)) for method in LISTS)]
"""The order of Claude Code, which asks for tools only after the acknowledgement."""

FILTERS = [
    (),
    ("--read-only",),
    ("--toolsets", "core"),
    ("--toolsets=facts,graph", "--exclude-tools", "delete_memory"),
    ("--tools", "recall,memory_get"),
]


@pytest.fixture
def server(tmp_path: Path, user_folders: dict[str, str], store: str) -> Servers:
    servers = Servers(tmp_path, {**user_folders, "PYTHONPATH": str(ROOT)}, store)
    servers.waits = False
    return servers


@pytest.fixture
def cold(server: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes import the server while they answer, as users' do."""
    monkeypatch.setattr(server, "cold", True)


def early(server: Servers, messages: Sequence[object], *arguments: str) -> list[Any]:
    """What is answered before a server is there."""
    done = subprocess.run(
        [sys.executable, "-c", ONLY_EARLY, *server.command(*arguments)[3:]],
        input=b"".join(map(line, messages)),
        env={**os.environ, **server.env},
        cwd=server.folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(answer) for answer in done.stdout.splitlines()]


@contextmanager
def session(server: Servers, *arguments: str) -> Iterator[Wire]:
    """A session that ends as the client closes its end; at once where the test fails."""
    with server.process(*arguments, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        try:
            yield Wire(process)
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def answered(server: Servers, messages: Sequence[Any], *arguments: str) -> list[Any]:
    """What the server says to messages that it gets one after the other, without early answers unless it is told."""
    answers = []
    with session(server, *arguments) as wire:
        for message in messages:
            wire.send(message)
            if "id" in message:
                answers.append(wire.answer())
    return answers


def by_id(answers: Sequence[dict[str, Any]]) -> list[str]:
    """Answers that do not wait for each other may come in any order."""
    return sorted(json.dumps(answer, sort_keys=True) for answer in answers)


# Equality


def said_first(server: Servers) -> dict[str, Any]:
    """The first answers as the server gives them, in the form of the file."""
    older = {answer["id"]: answer["result"] for answer in answered(server, HANDSHAKE, OFF)}
    newer = answered(server, [DISCOVER, modern(request("resources/list"))], OFF)
    discovered, resources = (answer["result"] for answer in newer)
    in_newest = {name: value for name, value in resources.items() if name != "resources"}
    older[0].pop("protocolVersion")
    results = {
        "initialize": older[0],
        "server/discover": {name: value for name, value in discovered.items() if name not in in_newest},
        **{method: older[method] for method in LISTS[1:3]},
        "resources/list": {"resources": resources["resources"]},
        "ping": older[2],
    }
    return {
        "handshakes": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "newest": LATEST_MODERN_VERSION,
        "in_newest": in_newest,
        "read_only_instructions": READ_ONLY_INSTRUCTIONS,
        "results": results,
    }


def test_the_file_has_the_first_answers_of_the_server(
    server: Servers, request: pytest.FixtureRequest
) -> None:
    said = said_first(server)
    if request.config.getoption("--renew-schemas", default=False):
        text = json.dumps(said, indent=1, ensure_ascii=False)
        Path(FIRST).write_text(f"{text}\n", encoding="utf-8")
    assert read(FIRST) == said, "run `python -m pytest tests/mcp --renew-schemas`"


@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
@pytest.mark.parametrize("messages", [HANDSHAKE, NEWER], ids=ERAS)
def test_what_is_answered_early_is_what_the_server_answers(
    server: Servers, arguments: tuple[str, ...], messages: list[Any]
) -> None:
    first = early(server, messages, *arguments)
    assert len(first) == len([message for message in messages if "id" in message])
    assert first == answered(server, messages, *arguments, OFF)


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, "1999-01-01"])
def test_each_version_of_the_handshake_is_answered_as_by_the_server(server: Servers, version: str) -> None:
    messages = [initialize(version), *HANDSHAKE[1:]]
    assert early(server, messages) == answered(server, messages, OFF)


def test_flags_and_variables_choose_the_answers(server: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    def tools(*arguments: str) -> int:
        answers = early(server, HANDSHAKE, *arguments)
        return len(answers[1]["result"]["tools"]) if answers else 0

    monkeypatch.setenv("memory_server_TOOLS", "recall, memory_get")
    assert tools() == 2
    assert tools("--tools=recall") == 1
    assert tools("--tools", "", "--toolsets", "facts") == 5
    for wrong in (
        ("--tools", "nothing"),
        ("--toolsets=core,nowhere",),
        ("--exclude-tools", "recall,memory_get"),
    ):
        assert tools(*wrong) == 0
    for none in ((OFF,), ("--http", "8765")):
        assert tools(*none) == 0
    monkeypatch.setenv("MEMORY_SERVER_NO_EARLY_ANSWERS", "yes")
    assert tools() == 0


def test_the_flags_that_are_known_without_the_settings_are_those_of_the_settings() -> None:
    fields = Settings.model_fields
    assert set(fields) == flags.SETTINGS
    assert {name for name, field in fields.items() if field.annotation is bool} == flags.SWITCHES


@pytest.mark.parametrize("id", [-1, 10**30, "", "用户", 'q"uo\\te'])
def test_an_answer_bears_the_id_of_its_own_request(server: Servers, id: object) -> None:
    answers = early(server, [*HANDSHAKE[:2], request("tools/list", id=id)])
    assert answers[1]["id"] == id


PING = request("ping", id=2)
TOOLS = request("tools/list", id=1)

STRANGE: dict[str, tuple[int, list[Any]]] = {
    "a request that the server answers": (3, [*HANDSHAKE[:3], tool("memory_get", 8, ids=[1]), PING]),
    "resources, which are as many as projects": (4, [*HANDSHAKE[:3], request("resources/list", id=8), PING]),
    "resources of a client that does not listen": (1, [DISCOVER, NEWER[-1]]),
    "the same id twice": (2, [*HANDSHAKE[:2], TOOLS, request("ping", id=1)]),
    "no handshake": (0, [TOOLS, initialize()]),
    "a handshake that is not finished": (1, [initialize(), TOOLS]),
    "two handshakes": (1, [initialize(), {**initialize(), "id": 1}]),
    "both eras": (1, [initialize(), modern(TOOLS), INITIALIZED]),
    "both eras, the newer first": (1, [DISCOVER, initialize(), TOOLS]),
    "a ping of the newer era": (1, [DISCOVER, modern(PING)]),
    "a handshake of other words": (0, [{**initialize(), "params": {"protocolVersion": 5}}]),
    "resources that are watched": (
        1,
        [DISCOVER, modern(request("subscriptions/listen", notifications={"x": 1}))],
    ),
    "a blank line": (1, [initialize(), b"\n", INITIALIZED]),
    "no JSON": (1, [initialize(), b"{\n", PING]),
    "no object": (1, [initialize(), b"[]\n", PING]),
    "no text": (1, [initialize(), b"\xff\n", PING]),
    "too deep": (1, [initialize(), b"[" * 5000 + b"\n", PING]),
    "a mark at the beginning": (0, [b"\xef\xbb\xbf" + line(initialize()), PING]),
    "a request is cancelled": (2, [*HANDSHAKE[:3], notification("cancelled", requestId=1), PING]),
    "a list from the middle": (2, [*HANDSHAKE[:2], request("tools/list", id=1, cursor="x"), PING]),
    "a lone surrogate as id": (1, [initialize(), b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n']),
    "a fraction as id": (1, [initialize(), request("ping", id=1.5)]),
    "true as id": (1, [initialize(), request("ping", id=True)]),
    "null as id": (1, [initialize(), {**INITIALIZED, "id": None}]),
    "a method that is no text": (1, [initialize(), {**PING, "method": ["ping"]}]),
    "a request without id": (1, [initialize(), {"jsonrpc": "2.0", "method": "ping"}]),
    "a long line": (1, [initialize(), request("tools/list", id=1, _meta={"x": "y" * 200_000})]),
    "a line that is broken off": (2, [*HANDSHAKE[:3], line(PING)[:-9]]),
    "a line without its end": (3, [*HANDSHAKE[:3], line(PING).rstrip()]),
    "nothing": (0, []),
}
"""What a client may send, with the number of early answers."""


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_not_the_same_in_every_session_is_left_to_the_server(server: Servers, name: str) -> None:
    number, messages = STRANGE[name]
    assert len(early(server, messages)) == number


@pytest.mark.parametrize(
    "name", ["resources, which are as many as projects", "both eras", "a blank line", "no JSON"]
)
def test_a_strange_session_is_answered_as_without_early_answers(server: Servers, name: str) -> None:
    messages = [*STRANGE[name][1], b"\n", tool("memory_get", 99, ids=[1])]
    right = at_once(server, messages, OFF)
    server.cold = True
    assert by_id(at_once(server, messages)) == by_id(right)


def at_once(server: Servers, messages: Sequence[Any], *arguments: str) -> list[Any]:
    """What the server says to messages that it gets at once."""
    number = sum(
        bool(message.strip()) if isinstance(message, bytes) else "id" in message for message in messages
    )
    with session(server, *arguments) as wire:
        wire.send(*messages)
        return [wire.answer() for _ in range(number)]


@pytest.mark.anyio
async def test_the_official_client_sees_no_difference(server: Servers, era: str) -> None:
    server.cold = True
    sessions = []
    for number in range(2):
        async with server(*([OFF] if number else []), mode=era) as client:
            lists = (
                (await client.list_tools()).tools,
                (await client.list_prompts()).prompts,
                (await client.list_resource_templates()).resource_templates,
            )
            stored = await call(
                client, "memory_store", content=f"Bread number {number} is baked", type="learning"
            )
            assert stored["id"] == number + 1
            sessions.append((client.instructions, client.server_info, client.server_capabilities, lists))
    assert sessions[0] == sessions[1]


# What the server knows when it takes over


def listed(answer: dict[str, Any]) -> list[str]:
    return [resource["uri"] for resource in answer["result"]["resources"]]


@pytest.mark.usefixtures("cold")
def test_a_client_that_listens_is_told_that_there_are_more_resources_than_were_listed_early(
    server: Servers,
) -> None:
    stored = tool("memory_store", 1, content="The harbour opens at six", type="learning", project="shop")
    answered(server, [initialize(), INITIALIZED, stored])
    with session(server) as wire:
        wire.ask(DISCOVER)
        assert wire.ask(LISTENING)["params"]["notifications"] == {
            "toolsListChanged": True,
            "resourcesListChanged": True,
        }
        assert listed(wire.ask(NEWER[-1])) == ["memory://resume", "memory://recent"]
        told = wire.answer()
        assert told["method"] == "notifications/resources/list_changed"
        assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "listen:0"}
        assert listed(wire.ask({**NEWER[-1], "id": 9}))[2:] == ["memory://project/shop"]


@pytest.mark.usefixtures("cold")
def test_a_client_of_the_handshake_is_told_too(server: Servers) -> None:
    stored = tool("memory_store", 1, content="The harbour opens at six", type="learning", project="shop")
    answered(server, [initialize(), INITIALIZED, stored])
    with session(server) as wire:
        wire.ask(initialize())
        wire.send(INITIALIZED)
        assert listed(wire.ask(request("resources/list", id=1))) == ["memory://resume", "memory://recent"]
        assert wire.answer() == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
        assert listed(wire.ask(request("resources/list", id=2)))[2:] == ["memory://project/shop"]


@pytest.mark.anyio
async def test_the_stream_that_was_acknowledged_early_is_open(server: Servers) -> None:
    server.cold = True
    async with server(mode=ERAS[1]) as client, client.listen(resources_list_changed=True) as changes:
        await client.list_resources()
        await call(
            client, "memory_store", content="The harbour opens at six", type="learning", project="shop"
        )
        async for change in changes:
            assert change == ResourcesListChanged()
            break


@pytest.mark.usefixtures("cold")
def test_tools_are_there_for_a_client_that_waits_for_none_from_the_first_start_on(server: Servers) -> None:
    """No server is needed: what would import it never ends."""
    (server.folder / "pydantic.py").write_text("import threading\nthreading.Event().wait()\n")
    server.env["PYTHONPATH"] = os.pathsep.join([str(server.folder), str(ROOT)])
    for messages in (HANDSHAKE, NEWER):
        with server.process() as process:
            wire = Wire(process)
            for message in messages:
                wire.send(message)
                if "id" in message:
                    wire.answer()
            process.kill()


# Input that comes in pieces, ends or is not read


@pytest.mark.usefixtures("cold")
def test_pieces_of_lines_are_put_together_wherever_the_server_takes_over(server: Servers) -> None:
    messages = [*HANDSHAKE, *(request("ping", id=id) for id in range(3, 40))]
    whole = b"".join(map(line, messages))
    with server.process() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for start in range(0, len(whole), 19):
            process.stdin.write(whole[start : start + 19])
            process.stdin.flush()
            time.sleep(0.01)
        ids = [json.loads(process.stdout.readline())["id"] for _ in range(len(messages) - 1)]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    assert sorted(map(str, ids)) == sorted(str(message["id"]) for message in messages if "id" in message)


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("moment", [0.0, 0.4])
@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "end of input", "both ends"])
def test_a_client_may_leave_at_any_moment(server: Servers, way: str, moment: float) -> None:
    with server.process() as process:
        wire = Wire(process)
        wire.ask(initialize())
        time.sleep(moment)
        assert process.stdin is not None
        assert process.stderr is not None
        if way.startswith("SIG"):
            process.send_signal(getattr(signal, way))
        else:
            process.stdin.close()
        if way == "both ends":
            assert process.stdout is not None
            process.stdout.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


@pytest.mark.usefixtures("cold")
def test_a_client_that_closes_its_reading_end_is_left_without_a_traceback(server: Servers) -> None:
    with server.process() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"".join(map(line, HANDSHAKE)))
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


PRINTS = """
import os, sys
from memory_server.__main__ import main
from memory_server.language import text

def visible(shown, now=text.visible):
    os.write(1, b"printed by a library\\n")
    print("printed too", flush=True)
    return now(shown)

text.visible = visible
main()
"""


def test_what_a_library_prints_goes_to_the_log(server: Servers) -> None:
    command = [sys.executable, "-c", PRINTS, *server.command()[3:]]
    done = subprocess.run(
        command, input=b"".join(map(line, [*HANDSHAKE[:2], request("prompts/get", id=7, name="none")])),
        env={**os.environ, **server.env}, cwd=server.folder, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr.startswith(b"printed by a library\nprinted too\n")
    assert {answer["id"] for answer in map(json.loads, done.stdout.splitlines())} == {0, 7}


@pytest.mark.usefixtures("cold")
def test_a_client_that_reads_late_gets_all(server: Servers) -> None:
    """The list is longer than a pipe holds, so the early answer waits in the middle of it."""
    messages = [*HANDSHAKE, *(request("tools/list", id=number) for number in range(10, 15))]
    with server.process() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(map(line, messages)))
        process.stdin.flush()
        time.sleep(2)
        answers = [json.loads(process.stdout.readline()) for _ in range(len(messages) - 1)]
        assert answers == early(server, messages)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
