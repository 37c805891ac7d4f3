"""Triggers that were copied with what stood around them."""

import pytest

from memory_server.triggers.wrapping import unwrapped

CALL = "match_keys(messages, ['tea'])"


@pytest.mark.parametrize(
    ("source", "trigger"),
    [
        (f'"{CALL}"', CALL),
        (f"`{CALL}`;", CALL),
        ("'match_keys(messages, [\"tea\"]) > 0'", 'match_keys(messages, ["tea"]) > 0'),
        ('"match_keys(messages, [\\"tea\\"])"', 'match_keys(messages, ["tea"])'),
        (f"```js\n{CALL}\n```", CALL),
        (f"```\n'{CALL.replace(chr(39), chr(34))}'\n```", CALL.replace("'", '"')),
    ],
)
def test_a_trigger_inside_quotation_marks_or_a_fence_is_taken_out(source: str, trigger: str) -> None:
    assert unwrapped(source) == trigger


@pytest.mark.parametrize(
    "source",
    [
        CALL,
        "'birthday'",
        "'a' + messages.length + 'b'",
        "`${messages.length}`",
        "'tea'.includes(messages[0].role)",
        "",
    ],
)
def test_what_is_no_trigger_inside_stays(source: str) -> None:
    assert unwrapped(source) == source
