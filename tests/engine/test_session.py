"""A front's knowledge of its session, line by line: no line of a client or an engine makes it fail or forget."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.front.session import ANSWERING, PATIENCE, Session
from memory_server.mcp.first_answers import LISTED as LISTED_FILE
from memory_server.mcp.first_answers import FirstAnswers, offered, read

READING = frozenset(["recall"])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda members: (
        st.lists(members, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "name", "_meta", "requestId"]), members)
    ),
    max_leaves=5,
)
METHODS = st.sampled_from(
    ["initialize", "tools/call", "tools/list", "resources/list", "subscriptions/listen", "notifications/initialized",
     "notifications/cancelled", "notifications/subscriptions/acknowledged", "ping"]
)  # fmt: skip
MESSAGES = JSON | st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": JSON,
        "method": METHODS | JSON,
        "params": JSON,
        "result": JSON,
    },
)


def new(early: bool = True) -> Session:
    return Session(FirstAnswers(offered(read(LISTED_FILE), (), (), (), False)) if early else None, READING)


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def call(id: int, name: str) -> bytes:
    return line(id=id, method="tools/call", params={"name": name, "arguments": {}})


@settings(max_examples=500)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["client", "engine", "lost", "late"]),
            st.binary(max_size=9) | MESSAGES.map(json.dumps).map(str.encode),
        )
    )
)
def test_no_line_makes_it_fail(steps: list[tuple[str, bytes]]) -> None:
    session = new()
    for step, words in steps:
        if step == "client":
            session.from_client(words + b"\n", 0.0, is_linked=False)
        elif step == "engine":
            session.from_engine(words + b"\n")
        elif step == "lost":
            session.lost()
            session.resumed()
        else:
            session.given_up(PATIENCE)


def test_a_new_engine_hears_the_handshake_and_what_only_reads_and_the_client_hears_each_answer_once() -> None:
    session = new(early=False)
    handshake = [line(id=0, method="initialize", params={}), line(method="notifications/initialized")]
    level = line(id=1, method="logging/setLevel", params={"level": "error"})
    for words in (*handshake, level):
        session.from_client(words, 0.0, is_linked=True)
    for id in (0, 1):
        assert session.from_engine(line(id=id, result={})) is not None
    session.from_client(call(2, "recall"), 0.0, is_linked=True)
    session.from_client(call(3, "memory_store"), 0.0, is_linked=True)
    (told,) = session.lost()
    assert json.loads(told)["id"] == 3
    assert session.resumed() == [*handshake, level, call(2, "recall")]
    assert [session.from_engine(line(id=id, result={})) is not None for id in (0, 1, 2)] == [
        False,
        False,
        True,
    ]
    assert not session.needs_engine


def test_what_an_engine_does_not_answer_is_given_up_and_its_late_answer_is_dropped() -> None:
    session = new(early=False)
    session.from_client(call(1, "recall"), 5.0, is_linked=True)
    session.from_client(call(2, "memory_store"), 6.0, is_linked=True)
    assert session.ends == 5.0 + PATIENCE
    (read_error,) = session.given_up(5.0 + PATIENCE)
    assert "Nothing was written" in json.loads(read_error)["result"]["content"][0]["text"]
    assert session.from_engine(line(id=1, result={})) is None
    (write_error,) = session.given_up(6.0 + PATIENCE)
    assert "cannot be told" in json.loads(write_error)["result"]["content"][0]["text"]
    assert session.ends is None


def test_a_line_of_any_depth_is_taken() -> None:
    session = new()
    for depth in range(1100):
        session.from_client(
            b'{"jsonrpc":"2.0","id":1,"params":' + b"[" * depth + b"]" * depth + b"}\n", 0.0, is_linked=False
        )


def test_what_is_cancelled_is_not_repeated() -> None:
    session = new(early=False)
    session.from_client(call(1, "recall"), 0.0, is_linked=True)
    session.from_client(line(method="notifications/cancelled", params={"requestId": 1}), 0.0, is_linked=True)
    session.lost()
    assert call(1, "recall") not in session.resumed()


def test_a_question_to_the_user_gives_the_engine_more_time() -> None:
    session = new(early=False)
    session.from_client(call(1, "memory_store"), 0.0, True)
    asked = line(id=0, method="elicitation/create", params={"message": "Is this yours?"})
    assert session.from_engine(asked) == asked
    assert session.given_up(PATIENCE) == []
    assert session.from_client(line(id=0, result={"action": "cancel"}), 50.0, True) == (None, True)
    assert len(session.given_up(PATIENCE + ANSWERING)) == 1
