"""Words looked for in a conversation."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language.keys import (
    DEPTH,
    EDGE,
    Said,
    Scope,
    all_found,
    clamped,
    distinct,
    found,
    hits,
    needle,
    recent,
    searchable,
    utf16,
    words_key,
)
from memory_server.language.text import fold
from tests.triggers.vectors import VECTORS

TEXTS = [vector for vector in VECTORS if all(isinstance(key, str) for key in vector["keys"])]


@pytest.mark.parametrize("vector", TEXTS, ids=lambda vector: str(vector["name"]))
def test_the_table(vector: dict[str, Any]) -> None:
    keys = [vector["keys"]] if isinstance(vector["keys"], str) else vector["keys"]
    compiled = distinct(map(words_key, keys))
    messages = [Said(message["role"], message["content"]) for message in vector["messages"]]
    scope = Scope(vector.get("scope") or "any")
    picked = recent(messages, scope, clamped(vector.get("depth")))
    assert len(hits(picked, compiled)) == vector["count"]
    joined = Said("", "\n".join(message.text for message in picked))
    assert (bool(picked) and all_found(joined, compiled)) == vector["all"]


@given(st.text())
def test_a_key_is_found_in_itself_unless_it_is_blank(text: str) -> None:
    assert found(text, text) == (needle(text) != "")


@given(st.text(), st.text())
def test_a_text_in_two_messages_is_as_searchable_as_joined(one: str, other: str) -> None:
    assert searchable(f"{one}\n{other}") == f"{searchable(one)}\n{searchable(other)}"


@given(st.text(max_size=30))
def test_a_searchable_text_is_the_folded_one_with_edges_around_words(text: str) -> None:
    spelled = re.sub("[ \t]+", " ", fold(text).replace("‘", "'").replace("’", "'"))
    assert searchable(text).replace(EDGE, "") == spelled
    assert searchable(text).count(EDGE) % 2 == 0


def test_a_row_of_marks_takes_no_quadratic_time() -> None:
    row = "a" + "\u0301\u0316" * 100_000
    assert not found("tea", row)
    assert found("tea", f"{row} tea")


@given(st.text())
def test_javascript_counts_two_units_for_what_is_beyond_the_basic_plane(text: str) -> None:
    assert len(utf16(text)) == len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_a_depth_that_is_none_is_the_usual_one() -> None:
    assert [clamped(depth) for depth in (None, float("nan"), float("inf"), float("-inf"))] == [
        DEPTH,
        DEPTH,
        None,
        1,
    ]
