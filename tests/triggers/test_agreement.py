"""Simple conditions have the same value in Python as in the real worker."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.triggers import Value
from memory_server.triggers.engine import TwoTierEngine
from memory_server.triggers.javascript.sandbox import Sandbox
from memory_server.triggers.simple.parser import parse
from memory_server.triggers.simple.scene import Scene, TooLong
from memory_server.triggers.simple.values import JsValue, Special, Undecided, kind_of, truthy
from tests.conftest import rounds
from tests.triggers.conditions import PARTS, PERSONS, SIGNS, Conditions, situation
from tests.triggers.test_simple import NOW, called
from tests.triggers.vectors import ERRORS, VECTORS

EXAMPLES = rounds(60)
SOURCES = 60

COMPARE = """
const differing = [];
for (const [index, [source, kind, value]] of CASES.entries()) {
  let got;
  try { got = eval(source); } catch (error) { differing.push([index, String(error)]); continue; }
  const wanted = kind === 'undefined' ? undefined : kind === 'number' ? Number(value) : value;
  const same = kind === 'object' ? typeof got === 'object' && got !== null : Object.is(got, wanted);
  if (!same) differing.push([index, typeof got, String(got)]);
}
if (differing.length) throw JSON.stringify(differing);
true"""
"""Tells by an error which values are not those of Python, to the kind and the sign of zero."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


def in_python(source: str, about: Situation) -> "tuple[JsValue] | None":
    node = parse(source)
    if node is None:
        return None
    try:
        return (node.value(Scene(about, lambda recent, wanted: None)),)
    except (TooLong, Undecided):
        return None


def case(source: str, value: JsValue) -> list[object]:
    """A source and its value in Python, for COMPARE."""
    if isinstance(value, float):
        written = repr(value).replace("inf", "Infinity").replace("nan", "NaN")
        return [source, "number", written]
    return [source, str(kind_of(value)), None if isinstance(value, Special) else value]


def differences(sandbox: Sandbox, cases: list[list[object]], about: Situation) -> list[object]:
    """Each source whose value differs, with what JavaScript says of it."""
    found: list[object] = []
    batch: list[list[object]] = []
    for number, one in enumerate(cases, 1):
        batch.append(one)
        if number == len(cases) or len(json.dumps([*batch, cases[number]]).encode()) > 14_000:
            [outcome] = sandbox.run([f"const CASES = {json.dumps(batch)};{COMPARE}"], about, 20.0)
            if not isinstance(outcome, Value):
                found.append((outcome, batch))
            batch = []
    return found


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=True))
def test_a_simple_condition_has_the_same_value_in_both_tiers(sandbox: Sandbox, random: Random) -> None:
    about = situation(random)
    conditions = Conditions(random, about.messages)
    sources = [conditions.source() for _ in range(SOURCES)]
    values = [(source, in_python(source, about)) for source in sources if "similar" not in source]
    simple = [(source, value[0]) for source, value in values if value is not None]
    assert len(simple) > SOURCES / 8
    found = differences(sandbox, [case(source, value) for source, value in simple], about)
    assert not found, about
    alone = sandbox.run([source for source, _ in simple[:4]], about, 20.0)
    assert [getattr(outcome, "holds", outcome) for outcome in alone] == [
        truthy(value) for _, value in simple[:4]
    ]


@pytest.mark.parametrize("month", [1, 4, 7, 10])
@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Shanghai"]
)
def test_the_local_date_is_the_same_in_both_tiers(sandbox: Sandbox, zone: str, month: int) -> None:
    now = datetime(2026, month, 28, 23, 45, 10, tzinfo=UTC).astimezone(zone_of(zone))
    about = Situation((), "talk-1", now, 1)
    sources = [f"new Date().{getter}()" for getter in PARTS]
    values = [in_python(source, about) for source in sources]
    cases = [case(source, value[0]) for source, value in zip(sources, values, strict=True) if value]
    assert len(cases) == len(PARTS)
    assert differences(sandbox, cases, about) == []


@pytest.mark.parametrize(
    "person",
    [
        None,
        True,
        False,
        "",
        "Ann",
        0,
        -0.0,
        7,
        7.5,
        2**53,
        1e300,
        float("nan"),
        float("inf"),
        [],
        {"a": 1},
        "🎂",
    ],
)
def test_what_is_known_of_a_participant_is_the_same_in_both_tiers(sandbox: Sandbox, person: Any) -> None:
    about = Situation((), "talk-1", NOW, 1, {"user": person})
    conditions = [
        f"participants.user {sign} {other}" for sign in SIGNS[:4] for other in [*PERSONS, "undefined", "NaN"]
    ]
    sources = ["participants.user", "!participants.user", "participants.user || 1", *conditions]
    values = [(source, in_python(source, about)) for source in sources]
    cases = [case(source, value[0]) for source, value in values if value is not None]
    assert len(cases) > len(sources) / 2
    assert differences(sandbox, cases, about) == []


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pytest.skip(f"this machine does not know {name}")


@pytest.mark.parametrize("name", ["match_keys", "match_keys_all"])
def test_the_table_is_the_same_in_javascript(sandbox: Sandbox, name: str) -> None:
    for vector in VECTORS:
        messages = tuple(Message(said["role"], said["content"]) for said in vector["messages"])
        wanted = float(vector["count"]) if name == "match_keys" else vector["all"]
        about = Situation(messages, "talk-1", NOW, 1)
        assert differences(sandbox, [case(called(name, vector), wanted)], about) == [], vector["name"]


def test_errors_are_errors_in_javascript(sandbox: Sandbox) -> None:
    for vector in ERRORS:
        [outcome] = sandbox.run([called("match_keys", vector)], Situation((), "talk-1", NOW, 1), 5.0)
        assert not isinstance(outcome, Value), vector["name"]


def test_the_engine_gives_both_tiers_in_order() -> None:
    engine = TwoTierEngine(Sandbox(), lambda recent, wanted: None)
    about = Situation((Message("user", "my birthday"),), "talk-1", NOW, 1)
    try:
        outcomes = engine.judge(
            [
                "match_keys(messages, ['birthday'])",
                "const n = [messages.length]; n[0] === 1",
                "let x; x.y",
                "false",
            ],
            about,
        )
    finally:
        engine.close()
    assert [(type(o).__name__, getattr(o, "holds", None), getattr(o, "tier", None)) for o in outcomes] == [
        ("Value", True, 0), ("Value", True, 1), ("Failure", None, 1), ("Value", False, 0),
    ]  # fmt: skip
