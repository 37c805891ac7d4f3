"""What a page says is not told as if the user had said it: samples of the sets of `poison.py` and
`poison_pages.py` in the laboratory."""

import random

import pytest
from quality import poison, poison_pages

from memory_server.domain import trust

EVERY = 7
"""Every so manieth text of the set is tried here."""


@pytest.mark.parametrize(
    "way", ["verbatim", "shortened to 60 %", "clauses turned, new head", "reworded by rule"]
)
def test_a_text_of_a_page_is_known_among_clean_outputs(way: str) -> None:
    clean, chance = poison.prose(), random.Random(poison.SEED)
    missed = []
    for number, text in enumerate(poison.TEXTS[::EVERY]):
        chinese = poison.is_chinese(text)
        session = poison.Session.of()
        session.outputs(clean[chinese], poison.CLEAN, chance)
        session.page(poison.FORMS[number % len(poison.FORMS)].format(text), clean[chinese])
        if not trust.waits(session.origin(poison.WAYS[way](text))):
            missed.append(text)
    assert missed == []


def test_what_users_say_is_told_also_where_a_page_repeats_it() -> None:
    clean, chance = poison.prose(), random.Random(poison.SEED)
    others = []
    for text in poison.users()[::EVERY]:
        session = poison.Session.of()
        session.outputs(clean[poison.is_chinese(text)], poison.CLEAN, chance)
        session.hear("UserPromptSubmit", prompt=text)
        session.page(text, clean[poison.is_chinese(text)])
        if session.origin(poison.as_told(text)) != trust.TOLD:
            others.append(text)
    assert others == []


def test_what_a_model_words_again_is_known_and_what_others_say_is_seldom_taken_for_it() -> None:
    clean = poison.prose()
    known: list[bool] = []
    taken: list[bool] = []
    for number, subject in enumerate(poison_pages.chosen(held=False)):
        session = poison_pages.session_of(subject, clean[subject.chinese], number)
        lines = subject.lines
        known += [trust.waits(session.origin(text)) for text in lines["again"]]
        taken += [trust.waits(session.origin(text)) for text in lines["infers"] + lines["nobody"]]
        for said, stored in zip(lines["user"], lines["stored"], strict=True):
            session.hear("UserPromptSubmit", prompt=said)
            taken.append(trust.waits(session.origin(stored)))
    assert sum(known) / len(known) >= 0.9
    assert sum(taken) / len(taken) <= 0.05  # a word of README.zh-CN.md more or less makes one of them
