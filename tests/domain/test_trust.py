"""The order of origins."""

import pytest

from memory_server.domain import trust

ORIGINS = [
    "web evil.example", "mcp:wiki", "unknown", "inferred", "imported:csv", "seen", "told", "confirmed: web a", "typed",
]  # fmt: skip
"""The least trusted first."""


def test_the_least_of_several_is_the_one_that_is_trusted_least() -> None:
    for number, origin in enumerate(ORIGINS):
        assert trust.least(ORIGINS[number:]) == origin
        assert trust.least(reversed(ORIGINS[number:])) == origin
    assert trust.least([]) == trust.UNKNOWN


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_the_user_raises_what_is_joined(origin: str) -> None:
    joined = trust.joined(origin, ["web a"])
    assert joined == (
        origin
        if origin in ("told", "typed", "confirmed: web a")
        else "web a"
        if origin != "web evil.example"
        else origin
    )


def test_what_waits_is_marked_and_waits_no_longer_once_it_is_confirmed() -> None:
    assert [origin for origin in ORIGINS if trust.waits(origin)] == ["web evil.example", "mcp:wiki"]
    assert trust.waits("web")
    assert not trust.waits("webinar")
    assert trust.mark("web evil.example") == " · from web evil.example"
    assert [trust.mark(origin) for origin in ORIGINS[2:]] == [""] * 7
    for origin in ORIGINS:
        handle = f"Some text [m2{trust.mark(origin)} · may replace m1]"
        assert trust.marked(handle) == (origin if trust.waits(origin) else None)
    assert trust.marked("[web evil.example] Some text") == "web evil.example"
    assert trust.marked("Some [webinar] text, from web designers") is None
    assert trust.confirmed("mcp:wiki") == "confirmed: mcp:wiki"
    assert trust.is_of_user(trust.confirmed("mcp:wiki"))
    assert trust.confirmed("inferred") == "inferred"


def test_an_origin_is_never_longer_than_its_column() -> None:
    assert len(trust.of_web("a" * 500)) == trust.LONGEST
    assert len(trust.confirmed(trust.of_server("b" * 500))) == trust.LONGEST
