"""The ends of the wire: requests that no parser takes are refused by their id, and a client may leave at any moment."""

import json
import os
import subprocess
import threading
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import PARSE_ERROR

from memory_server.mcp.messages import NoMessageError, parse
from tests.conftest import Servers, Sqlite, damage, until

DEEP = 400
"""Levels of nesting: the parser of the SDK takes 200."""

NEST = "[" * DEEP + "]" * DEEP
OBJECTS = '{"a":' * DEEP + "1" + "}" * DEEP
EXIT = 20.0
"""Seconds in which a process must have ended: 0.5 are promised, but this machine may be busy."""


def refused(line: str) -> NoMessageError:
    with pytest.raises(NoMessageError) as error:
        parse(line)
    return error.value


# The id of what cannot be parsed


@pytest.mark.parametrize("deep", [NEST, OBJECTS, "[" * DEEP, '{"id":' * DEEP, '[{"id":9},' * DEEP])
@pytest.mark.parametrize("id", [7, 0, -3, 2**53, "seven", "", "用户", 'q"uo\\te{}[],:', "id", "\u2028"])
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_request_nested_too_deeply_is_refused_by_its_id(deep: str, id: object, order: str) -> None:
    ended = deep.count("[") == deep.count("]") and deep.count("{") == deep.count("}")
    if order == "after" and not ended:
        pytest.skip("what is broken off has nothing behind it")
    own = f'"id": {json.dumps(id)}'
    params = f'"params": {deep}'
    parts = ['"jsonrpc": "2.0"', own, '"method": "ping"', params]
    if order == "after":
        parts = [params, '"method": "ping"', own, '"jsonrpc": "2.0"']
    answer = refused("{" + ", ".join(parts) + "}").answer
    assert (answer.id, type(answer.id)) == (id, type(id))
    assert answer.error.code == PARSE_ERROR
    assert len(answer.error.message) < 200


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ('{"params": {"id": 5, "x": ' + NEST + '}, "method": "ping"}', None),
        ('{"params": [{"id": 5}, ' + NEST + '], "method": "ping"}', None),
        ('{"params": {"id": 5, "x": ' + NEST + '}, "id": 6}', 6),
        ('{"method": "id", "params": ' + NEST + "}", None),
        ('{"method": "\\"id\\": 4", "params": ' + NEST + ', "id": 8}', 8),
        ('{"a": "{\\"id\\": 4}", "params": ' + NEST + "}", None),
        ('{"a\\"id": 4, "params": ' + NEST + "}", None),
        ('{"id": null, "params": ' + NEST + "}", None),
        ('{"id": true, "params": ' + NEST + "}", None),
        ('{"id": 1.5, "params": ' + NEST + "}", None),
        ('{"id": {"id": 3}, "params": ' + NEST + "}", None),
        ('{"id": [3], "params": ' + NEST + "}", None),
        ('{"id" : 3 , "params": ' + NEST + "}", 3),
        ('{\t"id"\t:\r3,"params":' + NEST + "}", 3),
        ('{"\\u0069d": 3, "params": ' + NEST + "}", 3),
        ('[{"id": 3, "params": ' + NEST + "}]", None),
        ('"id": 3, ' + NEST, None),
        (NEST, None),
        ('{"id": 3, "params": ' + "[" * DEEP, 3),
        ('{"id": 3, "method": "pi', 3),
        ('{"id": "seven', None),
        ('{"id": "sev\\', None),
        ('{"id": 3', 3),
        ('{"id":', None),
        ('{"id"', None),
        ("{", None),
        ('{"id": 3, "method": "ping"} trailing', 3),
        ('{"id": 3, "id": 4, "params": ' + NEST + "}", 4),
        ('{"id": ' + "9" * 5000 + ', "params": ' + NEST + "}", None),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_only_the_id_of_the_request_itself_counts(line: str, id: object) -> None:
    assert refused(line).answer.id == id


@given(
    st.one_of(st.integers(-(2**53), 2**53), st.text(st.characters(exclude_categories=["Cs"]))),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text('"\\{}[]:,id 1')),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text('id"\\'), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_the_id_is_found_among_any_other_content(id: int | str, other: Any, ascii: bool) -> None:
    line = json.dumps({"other": [other], "id": id, "more": other}, ensure_ascii=ascii)
    deep = line[:-1] + f', "deep": {NEST}' + "}"
    assert refused(deep).answer.id == id


@given(st.text('"\\{}[]:,id 12', max_size=60))
def test_no_line_makes_the_search_for_the_id_fail(line: str) -> None:
    with suppress(NoMessageError):
        parse(line)


@pytest.mark.parametrize(
    "line", ['"' * 300_000, "\\" * 300_000, '{"id"' * 60_000, '"\\' * 150_000, "x" * 300_000]
)
def test_a_long_line_that_is_no_json_is_refused_in_time_that_grows_with_its_length(line: str) -> None:
    """A quadratic scan would take minutes."""
    assert refused(line).answer.id is None


# A client that leaves


def request(id: int, method: str, **params: Any) -> bytes:
    return (json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n").encode()


def tool(id: int, name: str, **arguments: Any) -> bytes:
    return request(id, "tools/call", name=name, arguments=arguments)


HANDSHAKE = (
    request(
        0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "raw", "version": "1"}
    )
    + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
)  # fmt: skip


def started(server: Servers) -> "subprocess.Popen[bytes]":
    """A server that has answered the handshake and holds one memory of some thousand letters."""
    process = server.process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(HANDSHAKE + tool(1, "memory_store", content="word " * 900, type="error"))
    process.stdin.flush()
    for _ in range(2):
        assert process.stdout.readline()
    return process


def pour(process: "subprocess.Popen[bytes]", content: bytes) -> threading.Thread:
    """Write from a thread: the server may stop reading."""
    assert process.stdin is not None
    stdin = process.stdin

    def write() -> None:
        with suppress(BrokenPipeError, ValueError):
            stdin.write(content)
            stdin.flush()
        with suppress(BrokenPipeError):
            stdin.close()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """The exit code of a process that ends by itself, and what it wrote to standard error."""
    try:
        code = process.wait(EXIT)
        assert process.stderr is not None
        return code, process.stderr.read().decode()
    finally:
        process.kill()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.mark.skipif(os.name == "nt", reason="there the end behind unread answers cannot be seen")
@pytest.mark.parametrize("number", [60, 2000])
def test_a_client_that_ends_its_input_and_reads_no_answer_is_left(
    server: Servers, sqlite: Sqlite, number: int
) -> None:
    process = started(server)
    writer = pour(process, b"".join(tool(id, "memory_get", ids=[1]) for id in range(2, number)))
    assert ended(process) == (0, "")
    writer.join(EXIT)
    assert not writer.is_alive()
    assert sqlite(server.db, "PRAGMA integrity_check") == "ok"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("asked", ["nothing", "one", "many"])
def test_a_client_that_closes_both_ends_is_left_without_a_traceback(server: Servers, asked: str) -> None:
    process = started(server)
    assert process.stdout is not None
    process.stdout.close()
    number = {"nothing": 2, "one": 3, "many": 500}[asked]
    pour(process, b"".join(tool(id, "memory_get", ids=[1]) for id in range(2, number)))
    assert ended(process) == (0, "")
    assert damage(server.db) == []


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_client_that_closes_only_its_reading_end_is_left_at_the_first_answer(server: Servers) -> None:
    process = started(server)
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdout.close()
    with suppress(BrokenPipeError):
        process.stdin.write(tool(2, "memory_get", ids=[1]))
        process.stdin.flush()
    until(lambda: process.poll() is not None, "the server leaves though its input is open")
    with suppress(BrokenPipeError):
        process.stdin.close()
    assert ended(process) == (0, "")
    assert damage(server.db) == []


def test_a_deep_request_is_answered_between_others_by_the_real_server(server: Servers) -> None:
    process = started(server)
    deep = b'{"jsonrpc": "2.0", "method": "ping", "params": ' + NEST.encode() + b', "id": "deep"}\n'
    out, errors = process.communicate(request(2, "ping") + deep + request(3, "ping"), timeout=EXIT)
    answers = {line["id"]: line for line in map(json.loads, out.splitlines())}
    assert set(answers) == {2, "deep", 3}
    assert answers["deep"]["error"]["code"] == PARSE_ERROR
    assert answers["deep"]["error"]["message"].startswith("Not JSON: recursion limit exceeded")
    assert (process.returncode, errors) == (0, b"")
