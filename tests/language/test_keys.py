"""Words looked for in a text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memory_server.language.keys import EDGE, found, needle, searchable
from memory_server.language.text import fold


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
