"""The terms of a question: words that tell what it is about, in each language."""

import pytest

from memory_server.language import query


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Wann hat unser Chef Geburtstag?", ("chef", "geburtstag")),
        ("Wer kümmert sich bei uns um die Räder?", ("kümmert", "räder")),
        ("Darf ich das Rad über Nacht im Hof lassen?", ("rad", "nacht", "hof", "lassen")),
        ("Did the man with the hat die in the war at MIT?", ("man", "hat", "die", "war", "mit")),
        ("Who's the mechanic, and when’s he off?", ("mechanic",)),
        ("What's Anna's code? We're late.", ("anna's", "code", "late")),
    ],
)
def test_function_words_are_no_terms(text: str, terms: tuple[str, ...]) -> None:
    assert query.parse(text).terms == terms


def test_a_question_of_function_words_alone_has_them_as_terms() -> None:
    assert query.parse("Was ist das?").terms == ("was", "ist", "das")
