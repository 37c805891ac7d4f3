"""A long question is cut to the part that tells most."""

import pytest

from memory_server.language.telling import telling

TALK = "It was a long day and I am glad that it is over now. "
TALK_ZH = "今天真是漫长的一天，我很高兴终于结束了。"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (TALK * 20 + "Which port has the staging database? " + TALK, "Which port has the staging database?"),
        ("Which port has the staging database? " + TALK * 20, "Which port has the staging database?"),
        (TALK_ZH * 40 + "预发布数据库监听哪个端口？" + TALK_ZH, "预发布数据库监听哪个端口？"),
    ],
)
def test_the_question_is_kept_and_the_talk_around_it_left_out(text: str, part: str) -> None:
    assert telling(text, 500) == part


def test_two_questions_are_both_kept_in_their_order() -> None:
    text = f"Where is the key? {TALK * 20} Who repairs the boiler?"
    assert telling(text, 500) == "Where is the key? Who repairs the boiler?"


def test_without_a_question_the_sentences_with_the_rarest_words_are_kept() -> None:
    text = (
        TALK * 5
        + "The kubernetes ingress of zebrafish returns 502. "
        + "And so on and on, as it is with all of us. " * 8
    )
    assert "zebrafish returns 502" in telling(text, 120)


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "数" * 100_000, "a? " * 9_000, "\n" * 600 + "?", "word " * 5_000, "。" * 999]
)
def test_any_text_is_cut_to_the_limit(text: str) -> None:
    assert len(telling(text, 500)) <= 500
