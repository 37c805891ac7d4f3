"""The wire itself: raw lines to the real process, well formed and otherwise."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language.text import without_lone_surrogates as mended
from tests.conftest import PATIENCE, ROOT, Servers

HANDSHAKES = ("2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
MARK = "Quetzalcoatlus"
"""A word that no log may repeat."""


class Wire:
    """The two pipes of a running server."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def send(self, *messages: object) -> None:
        """Messages as JSON, bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(line, messages)))
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next line that comes back."""
        found: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE))
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, message: object) -> dict[str, Any]:
        self.send(message)
        return self.answer()

    def is_alive(self) -> bool:
        """Whether a ping is the next thing that is answered: nothing else was, and the session goes on."""
        return self.ask(request("ping", id="alive")) == {"jsonrpc": "2.0", "id": "alive", "result": {}}


def line(message: object) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def request(method: str, *, id: object = 1, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return {**message, "params": params} if params else message


def initialize(version: str = HANDSHAKES[0]) -> dict[str, Any]:
    info = {"name": "tests", "version": "1"}
    return request("initialize", id=0, protocolVersion=version, capabilities={}, clientInfo=info)


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def tool(name: str, number: int = 1, /, **arguments: Any) -> dict[str, Any]:
    """A call; `number` is the id of the request, so that an argument may be called `id`."""
    return request("tools/call", id=number, name=name, arguments=arguments)


def text_of(answer: dict[str, Any]) -> str:
    """The text of an answer; what is refused begins with `Error: `, which is left out here."""
    text: str = answer["result"]["content"][0]["text"]
    assert text.startswith("Error: ") == answer["result"]["isError"]
    return text.removeprefix("Error: ")


def modern(message: dict[str, Any]) -> dict[str, Any]:
    """The request in the newer era, where each carries what the handshake said before."""
    prefix = "io.modelcontextprotocol"
    meta = {
        f"{prefix}/protocolVersion": MODERN,
        f"{prefix}/clientInfo": {"name": "tests", "version": "1"},
        f"{prefix}/clientCapabilities": {},
    }
    return {**message, "params": {**message.get("params", {}), "_meta": meta}}


def whole_run(
    server: Servers, *messages: object, arguments: Sequence[str] = (), **env: str
) -> tuple[list[dict[str, Any]], str]:
    """Send everything at once, then end of input: what came back, and what was logged."""
    server.env.update(env)
    with server.process(*arguments) as process:
        out, log = process.communicate(b"".join(map(line, messages)), timeout=60)
    assert process.returncode == 0
    return [json.loads(each) for each in out.splitlines()], log.decode()


@pytest.fixture(scope="module")
def wire(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Iterator[Wire]:
    """One session after its handshake, shared by the module."""
    servers = Servers(tmp_path_factory.mktemp("wire"), {**user_folders, "PYTHONPATH": str(ROOT)}, store)
    with servers.process(stderr=subprocess.DEVNULL) as process:
        wire = Wire(process)
        wire.ask(initialize())
        wire.send(INITIALIZED)
        yield wire
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


# Lines that are no messages


@pytest.mark.parametrize(
    ("broken", "id"),
    [
        (b"{\n", None),
        (b"hello\n", None),
        (b'{"jsonrpc": "2.0",}\n', None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"\n', 1),
        (b"\xff\xfe\x00\n", None),
        (b"[" * 100_000 + b"\n", None),
        (b'{"a":' * 100_000 + b"\n", None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} trailing\n', 1),
        (b'"' + b"x" * 1_000_000 + b"\n", None),
        (b"\x00\n", None),
    ],
    ids=lambda given: repr(given[:24]) if isinstance(given, bytes) else str(given),
)
def test_what_is_not_json_answers_a_parse_error_and_the_session_goes_on(
    wire: Wire, broken: bytes, id: object
) -> None:
    """With the id that it names, if any: the client waits for that."""
    answer = wire.ask(broken)
    assert (answer["id"], answer["error"]["code"]) == (id, -32700)
    assert len(answer["error"]["message"]) < 200
    assert wire.is_alive()


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, 7),
        ({"id": 7, "method": "ping"}, 7),
        ({"jsonrpc": "2.0", "id": "seven"}, "seven"),
        ({"jsonrpc": "2.0", "id": 7, "method": 5}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": "x"}, 7),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, None),
        ([{"jsonrpc": "2.0", "id": 7, "method": "ping"}], None),
        ([], None),
        ({}, None),
        ("ping", None),
        (7, None),
        (None, None),
    ],
)
def test_json_that_is_no_message_answers_an_invalid_request(wire: Wire, message: object, id: object) -> None:
    answer = wire.ask(message)
    assert (answer["id"], answer["error"]["code"]) == (id, -32600)
    assert wire.is_alive()


def test_blank_lines_are_nothing_and_a_byte_order_mark_is_no_harm(wire: Wire) -> None:
    wire.send(b"\n", b"  \t \r\n", b"\xef\xbb\xbf" + line(request("ping", id="marked")))
    assert wire.answer()["id"] == "marked"


# Requests and notifications


def test_an_unknown_method_is_not_found(wire: Wire) -> None:
    answer = wire.ask(request("memories/dream", id=3))
    assert (answer["id"], answer["error"]["code"]) == (3, -32601)


def test_a_prompt_that_is_not_there_is_no_crash(server: Servers) -> None:
    answers, log = whole_run(server, initialize(), INITIALIZED, request("prompts/get", name="a\x1b[1m"))
    assert [answer["error"] for answer in answers if answer["id"] == 1] == [
        {
            "code": -32602,
            "message": "No prompt `a[1m`. There are: `resume`, `remember`, `recall`, `review`.",
        }
    ]
    assert log == ""


@pytest.mark.parametrize(
    ("method", "argument"),
    [("HIDDEN", "x"), ("prompts/get", "name"), ("resources/read", "uri"), ("completion/complete", "HIDDEN")],
)
def test_an_error_of_the_protocol_repeats_no_hidden_characters(
    wire: Wire, method: str, argument: str
) -> None:
    hidden = "a\u202e\x1b[1m\U000e0041b"
    params = {argument.replace("HIDDEN", hidden): hidden}
    answer = wire.ask(request(method.replace("HIDDEN", hidden), id="hidden", **params))
    assert answer["id"] == "hidden"
    told = json.dumps(answer["error"], ensure_ascii=False)
    assert [each for each in ("\u202e", "\\u001b", "\U000e0041") if each in told] == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": None},
        {"name": "memory_stats", "arguments": []},
        {"name": "memory_stats", "arguments": "x"},
    ],
)
def test_a_call_without_a_name_or_with_arguments_that_are_no_object_is_invalid(
    wire: Wire, params: Any
) -> None:
    answer = wire.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
    assert (answer["id"], answer["error"]["code"]) == (3, -32602)


@pytest.mark.parametrize("params", [{"name": "memory_stats"}, {"name": "memory_stats", "arguments": None}])
def test_a_call_needs_no_arguments_where_the_tool_needs_none(wire: Wire, params: Any) -> None:
    answer = wire.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
    assert answer["result"]["isError"] is False


@pytest.mark.parametrize("id", [0, -1, 1, "1", "", "用户", "x" * 10_000, 2**63, 10**30])
def test_an_answer_bears_the_id_of_its_request_as_it_was(wire: Wire, id: object) -> None:
    answer = wire.ask(request("ping", id=id))
    assert (answer["id"], type(answer["id"])) == (id, type(id))


def test_notifications_and_stray_answers_are_not_answered(wire: Wire) -> None:
    wire.send(
        {"jsonrpc": "2.0", "method": "notifications/nonsense"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "memory_stats"}},
        {"jsonrpc": "2.0", "id": 987, "result": {}},
        {"jsonrpc": "2.0", "id": 987, "error": {"code": 1, "message": "x"}},
        INITIALIZED,
    )
    assert wire.is_alive()


def test_calls_that_are_sent_in_one_go_are_each_answered_once(wire: Wire) -> None:
    store = [
        tool("memory_store", id, content=f"Line {id} of the log", type="observation", project="pipeline")
        for id in range(100, 130)
    ]
    wire.send(*store, *(tool("memory_stats", id) for id in range(130, 190)), request("ping", id=190))
    answers = [wire.answer() for _ in range(91)]
    assert sorted(answer["id"] for answer in answers) == list(range(100, 191))
    assert not any(answer["result"].get("isError") for answer in answers)
    assert wire.is_alive()
    stats = wire.ask(tool("memory_stats", project="pipeline"))["result"]["structuredContent"]
    assert stats["total"] == 30


def test_a_ping_is_answered_while_more_calls_wait_than_there_are_threads(wire: Wire) -> None:
    calls = [tool("memory_get", id, ids=[id]) for id in range(1000, 1300)]
    wire.send(*calls, request("ping", id="ping"))
    order = [wire.answer()["id"] for _ in range(301)]
    assert sorted(order, key=str) == sorted([*range(1000, 1300), "ping"], key=str)


# Text that breaks weaker parsers


@pytest.mark.parametrize(
    ("escaped", "kept"),
    [
        (r"\ud800", "\ufffd"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
        (r"\uD83D\uDE00", "😀"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
        (r"\u0000 \u001b", ""),
        (r"\ud83d\\ude00", "\ufffd\\ude00"),
    ],
)
def test_lone_surrogates_and_nul_are_mended_and_the_rest_is_kept(wire: Wire, escaped: str, kept: str) -> None:
    template = json.dumps(
        tool("memory_store", content="Escape @", type="pattern", project="escapes", tags=["@."])
    )
    stored = wire.ask(template.replace("@", escaped).encode() + b"\n")["result"]["structuredContent"]
    found = wire.ask(tool("memory_get", ids=[stored["id"]]))["result"]["structuredContent"]
    memory = found["memories"][0]
    assert memory["content"] == f"Escape {kept}".strip()
    query = json.dumps(tool("memory_search", query="@", project="escapes")).replace(
        '"@"', f'"Escape {escaped}"'
    )
    results = wire.ask(query.encode() + b"\n")["result"]["structuredContent"]["results"]
    assert stored["id"] in [hit["id"] for hit in results]
    forgotten = wire.ask(tool("memory_delete", id=stored["id"]))["result"]["structuredContent"]
    assert (forgotten["deleted"], set(forgotten)) == (True, {"deleted", "undo_until"})


@given(st.text(st.one_of(st.characters(), st.characters(categories=["Cs"]), st.sampled_from('\\u"dD89'))))
def test_mending_replaces_lone_surrogates_and_nothing_else(text: str) -> None:
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(mended(json.dumps(text))) == expected
    assert mended(json.dumps(text, ensure_ascii=False)) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize("length", [100_001, 1_000_000])
@pytest.mark.parametrize("letter", ["x", "🚀", '"', "\\"])
def test_a_long_query_or_content_gets_a_short_answer(wire: Wire, length: int, letter: str) -> None:
    note = json.loads(text_of(wire.ask(tool("memory_search", query=letter * length))))["note"]
    assert note.startswith(
        f"query: of {length:,} characters (at most 500) this part was used: {letter * 100}…"
    )
    assert len(note) < 250
    text = text_of(wire.ask(tool("memory_store", content=letter * length, type="error")))
    assert text.startswith("content: String should have at most 100000 characters")
    assert len(text) < 400
    assert wire.is_alive()


@pytest.mark.parametrize("depth", [50, 180, 190, 200, 1000])
def test_nested_metadata_is_stored_or_refused_but_never_a_crash(wire: Wire, depth: int) -> None:
    metadata = '{"a":' * depth + "1" + "}" * depth
    message = json.dumps(
        tool("memory_store", content=f"Depth {depth}", type="error", project="deep", metadata={})
    )
    answer = wire.ask(message.replace('"metadata": {}', f'"metadata": {metadata}').encode() + b"\n")
    if "error" in answer:
        assert answer["error"]["code"] == -32700
    elif not answer["result"]["isError"]:
        id = answer["result"]["structuredContent"]["id"]
        found = wire.ask(tool("memory_get", ids=[id]))["result"]["structuredContent"]
        assert json.dumps(found["memories"][0]["metadata"], separators=(",", ":")) == metadata
    else:
        assert text_of(answer).startswith("metadata")
    assert wire.is_alive()


# Both eras


@pytest.mark.parametrize(
    ("version", "agreed"), [*zip(HANDSHAKES, HANDSHAKES, strict=True), ("1999-01-01", HANDSHAKES[1])]
)
def test_the_handshake_agrees_on_the_version_asked_for_or_the_newest(
    server: Servers, version: str, agreed: str
) -> None:
    answers, _ = whole_run(server, initialize(version), INITIALIZED, request("tools/list", id=1))
    result = answers[0]["result"]
    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "memory-server"
    assert "never instructions" in result["instructions"]
    assert "local file" not in result["instructions"]  # it may be in a database elsewhere
    assert answers[1]["result"]["tools"][0]["name"] == "recall"


def test_the_newer_era_needs_no_handshake(server: Servers) -> None:
    asked = [request("server/discover", id=1), request("tools/list", id=2), tool("memory_get", 3, ids=[1])]
    answers, _ = whole_run(server, *map(modern, asked))
    found = {answer["id"]: answer["result"] for answer in answers}
    assert MODERN in found[1]["supportedVersions"]
    assert "never instructions" in found[1]["instructions"]
    assert found[2]["tools"][0]["name"] == "recall"
    assert found[3]["structuredContent"] == {"memories": [], "missing": [1]}


# The end of input, standard output, the log


def test_requests_that_the_end_of_input_follows_at_once_are_still_answered(server: Servers) -> None:
    asked = [request("ping", id=id) for id in range(1, 11)]
    asked += [request("tools/list", id=id) for id in range(11, 16)]
    asked += [tool("memory_get", id, ids=[id]) for id in range(16, 21)]
    last = line(request("ping", id=21)).rstrip(b"\n")
    answers, _ = whole_run(server, initialize(), INITIALIZED, *asked, last)
    assert sorted(answer["id"] for answer in answers) == list(range(22))


def test_an_empty_input_is_no_error_and_a_call_before_any_handshake_is_answered(server: Servers) -> None:
    assert whole_run(server) == ([], "")
    answers, _ = whole_run(server, tool("memory_get", 1, ids=[1]))
    assert [answer["id"] for answer in answers] == [1]


def test_only_the_protocol_reaches_stdout_and_no_contents_the_log(server: Servers) -> None:
    """Whatever is asked, answered or refused, with every warning and the log at its loudest."""
    memory = {"content": f"{MARK} flew here", "type": "learning"}
    asked = [
        tool("memory_store", 1, **memory, tags=[MARK], metadata={"k": MARK}, project=MARK),
        tool("memory_search", 2, query=MARK),
        tool("memory_search", 3, query=MARK * 100),
        tool("memory_store", 4, **memory, importance=MARK, tags=[{"a": MARK}]),
        tool("memory_store", 5, content=f"{MARK} -----BEGIN " + "PRIVATE KEY-----", type="learning"),
        tool("memory_update", 6, id=1, content=MARK),
        {"jsonrpc": "1.0", "id": 7, "method": "tools/call", "params": {"arguments": {"content": MARK}}},
        {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "memory_store", "arguments": MARK}},
        {"jsonrpc": "2.0", "method": "notifications/nonsense", "params": {"content": MARK}},
        b'{"content": "' + MARK.encode() + b'\n',
    ]  # fmt: skip
    server.env.update(PYTHONWARNINGS="always", PYTHONASYNCIODEBUG="1")
    with server.process("--log-level", "DEBUG") as process:
        wire = Wire(process)
        wire.ask(initialize())
        wire.send(INITIALIZED, *asked)
        ids = [wire.answer()["id"] for _ in range(9)]
        assert sorted(map(str, ids)) == ["1", "2", "3", "4", "5", "6", "7", "8", "None"]
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        log = process.stderr.read().decode()
    assert "DEBUG" in log
    assert MARK not in log
    assert "Traceback" not in log


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
@pytest.mark.parametrize("era", ["handshake", "modern", "nothing said before"])
def test_no_log_repeats_what_was_refused_wherever_it_stood(server: Servers, level: str, era: str) -> None:
    """The word names an argument, a tool, a memory, a resource, a method: answers repeat it, the log does not."""
    first = [initialize(), INITIALIZED] if era == "handshake" else []
    calls = [
        tool("memory_store", 1, content="x", type="learning", **{MARK: 1}),
        tool(MARK, 2),
        tool("delete_long_term_memory", 3, name=MARK),
        tool("write_memory", 4, key=f"a b {MARK}", value=1),
        tool("memory_search", 5, query="x", type=MARK),
        request("resources/read", id=6, uri=f"x://{MARK}"),
        request(
            "completion/complete", id=7, ref={"type": "ref/prompt", "name": MARK}, argument={"name": MARK}
        ),
        request(MARK, id=8),
    ]
    if era == "modern":
        calls = [modern(call) for call in calls]
    others = [
        notification(MARK, content=MARK),
        notification("cancelled", requestId=MARK, reason=MARK),
        notification("progress", progressToken=MARK, progress=MARK),
        {"jsonrpc": "2.0", "id": MARK, "result": {"content": MARK}},
        {"jsonrpc": "2.0", "id": MARK, "error": {"code": 1, "message": MARK}},
    ]
    with server.process("--log-level", level) as process:
        wire = Wire(process)
        wire.send(*first, *others, *calls)
        waiting = {str(message["id"]) for message in (*first, *calls) if "id" in message}
        while waiting:
            waiting.discard(str(wire.answer()["id"]))
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        log = process.stderr.read().decode()
    assert MARK not in log
    if era != "nothing said before":
        assert "memory-server: INFO: memory_store was refused: ArgumentsRefusedError\n" in log
        assert "memory-server: INFO: delete_long_term_memory was refused: NotFound\n" in log


# The start


def python(code: str, server: Servers, *messages: object) -> tuple[list[dict[str, Any]], str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *server.command()[3:]],
        input=b"".join(map(line, messages)),
        env=server.env,
        cwd=server.folder,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return [json.loads(each) for each in done.stdout.splitlines()], done.stderr.decode()


HEAVY = ("torch", "transformers", "sentence_transformers", "jieba", "memory_server.embedding.endpoint")


def test_starting_imports_no_heavy_library(server: Servers) -> None:
    imports = "sys, memory_server.cli.main, memory_server.cli.serve, memory_server.engine.served"
    modules = python(f"import {imports}; print(sorted(sys.modules), file=sys.stderr)", server)[1]
    assert "'memory_server.mcp.tools.memories'" in modules
    assert [name for name in HEAVY if f"'{name}'" in modules] == []


def test_the_tools_are_listed_where_no_heavy_library_can_be_imported(server: Servers) -> None:
    code = f"""
import sys
from memory_server.cli.main import main
sys.modules.update(dict.fromkeys({HEAVY!r}))
sys.exit(main(sys.argv[1:]))
"""
    answers, _ = python(code, server, initialize(), INITIALIZED, request("tools/list", id=1))
    assert answers[1]["result"]["tools"]


def test_nothing_opens_a_network_socket(server: Servers) -> None:
    """A session with the bundled embedder. The event loop's own pair of sockets and the local one for hooks are no
    network."""
    code = """
import socket
import sys

WATCHED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request")

def watch(event, arguments):
    is_local = arguments and isinstance(arguments[0], socket.socket) and arguments[0].family == socket.AF_UNIX
    if not is_local and event in WATCHED:
        print("NETWORK", event, arguments, file=sys.stderr)

sys.addaudithook(watch)
from memory_server.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, *server.command("--embedder", "bundled")[3:]],
        env=server.env,
        cwd=server.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wire = Wire(process)
        wire.ask(initialize())
        wire.ask(tool("memory_store", content="We deploy on Tuesdays", type="decision"))
        answer = wire.ask(tool("memory_search", query="发布在星期几"))
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        log = process.stderr.read().decode()
    assert answer["result"]["structuredContent"]["results"]
    assert "NETWORK" not in log
