"""Text as it is kept."""

import unicodedata

from memory_server.language.text import clean


def test_endless_marks_are_cleaned_in_time_that_grows_with_their_number() -> None:
    """Two kinds of mark in turn: to sort them all at once would take a minute."""
    text = clean("a" + "\u0301\u0316" * 100_000)
    assert len(text) > 200_000
    assert clean(text) == text
    rows = text.split("\u034f")
    assert max(sum(map(bool, map(unicodedata.combining, row))) for row in rows) <= 30


def test_a_few_marks_stay_as_they_are() -> None:
    assert clean("e\u0301 " + "\u0301" * 30) == "é " + "\u0301" * 30
