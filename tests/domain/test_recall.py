"""The answer of a recall: lines within a limit of tokens."""

import json
import random
from typing import Any

import pytest

from memory_server.domain import recall
from memory_server.domain.recall import AnswerText, Found, Recallable
from tests.language.test_tokens import NOTES
from tests.tokenizer import tokens_of

LIMITS = (100, 250, 400, 800, 2400)


def memory(number: int, said: str, score: float = 0.5, **more: Any) -> Found:
    return Found(Recallable.MEMORY, f"m{number}", said, "2026-03-14", score, id=number, **more)


def compose(
    *hits: Found, question: str = "who?", woken: tuple[Found, ...] = (), limit: int = 800
) -> AnswerText:
    return recall.compose(question, woken, hits, limit)


def tokens(answer: AnswerText, explain: bool) -> int:
    """Count the tokens of the whole answer as a tool sends it."""
    items = [{"ref": hit.ref, "kind": hit.kind, "score": round(hit.score, 2)} for hit in answer.items]
    sent = {"answer": answer.text, **({"items": items} if explain else {}), "left_out": answer.left_out}
    return tokens_of(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))


def test_a_line_has_the_day_the_text_and_the_handle() -> None:
    answer = compose(memory(42, "We release on Fridays."))
    assert answer.text == "2026-03-14: We release on Fridays. [m42]"
    assert [each.ref for each in answer.items] == ["m42"]
    assert answer.left_out == {}


def test_another_project_and_what_was_superseded_are_told() -> None:
    answer = compose(memory(1, "We release on Fridays.", project="atlas", was="We release on Mondays."))
    assert answer.text == (
        "2026-03-14: We release on Fridays. (was: We release on Mondays.) (project atlas) [m1]"
    )


def test_what_is_unlikely_or_far_less_likely_than_the_best_is_left_out() -> None:
    assert [hit.ref for hit in compose(memory(1, "Tea.", 0.3), memory(2, "Noise.", 0.04)).items] == ["m1"]
    assert [hit.ref for hit in compose(memory(1, "Tea.", 0.9), memory(2, "Coffee.", 0.3)).items] == ["m1"]
    answer = compose(memory(1, "Tea is served.", 0.04), memory(2, "Coffee.", 0.03))
    assert (answer.text, answer.items, answer.left_out) == ("", (), {})


@pytest.mark.parametrize(
    ("said", "score", "told"),
    [
        ("Huber wants oak.", 0.05, False),
        ("Huber wants oak.", 0.15, True),
        ("The kitchen of Huber is oak.", 0.02, True),
        ("The kitchen of Huber is oak.", 0.01, False),
    ],
)
def test_one_word_of_a_question_is_less_reason_for_a_line_than_half_of_them(
    said: str, score: float, told: bool
) -> None:
    question = "What did Huber's kitchen cost?"
    answer = compose(memory(1, "They paid 8,900 euros.", 0.9), memory(2, said, score), question=question)
    assert ("m2" in [hit.ref for hit in answer.items]) == told


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("What does the teapot cost, and who sells kettles?", memory(2, "Anna sells kettles.", 0.04)),
        ("茶壶多少钱？水壶谁卖？", memory(2, "水壶在老王那里买。", 0.04)),
        ("How much did we spend this month?", memory(2, "Kettle: 30 euros.", 0.1)),
    ],
)
def test_the_second_half_of_an_answer_is_told_though_the_first_is_far_likelier(
    question: str, second: Found
) -> None:
    answer = compose(memory(1, "The teapot costs 20.", 0.9), second, question=question)
    assert [hit.ref for hit in answer.items] == ["m1", "m2"]
    alone = compose(memory(1, "The teapot costs 20.", 0.9), second, question="What does the teapot cost?")
    assert [hit.ref for hit in alone.items] == ["m1"]


@pytest.mark.parametrize(
    ("question", "said", "limit", "told"),
    [
        ("Which animals did Ann draw?", "A horse, in ink.", 800, [0.9, 0.21]),
        ("Which animal did Ann draw?", "A horse, in ink.", 800, [0.9]),
        ("What did Ann draw? And also, when was that?", "A horse, in ink.", 800, [0.9, 0.21]),
        ("Which animals did Ann draw?", "Tom: A horse, in ink.", 800, [0.9, 0.21, 0.08, 0.011]),
        ("Which animals did Ann draw?", "A horse, in ink.", 801, [0.9, 0.21, 0.08, 0.011, 0.001]),
        ("Which animal did Ann draw?", "Tom: A horse, in ink.", 801, [0.9]),
    ],
)
def test_where_several_things_are_asked_for_unlikely_lines_may_be_among_them(
    question: str, said: str, limit: int, told: list[float]
) -> None:
    scores = [0.9, 0.21, 0.08, 0.011, 0.001]
    hits = [memory(number, f"{said} {number}", score) for number, score in enumerate(scores)]
    assert [hit.score for hit in compose(*hits, question=question, limit=limit).items] == told


def test_a_word_of_the_question_brings_three_lines_and_only_where_a_word_begins_with_it() -> None:
    unlikely = [memory(number, f"Kettle {number} is red.", 0.04) for number in range(2, 9)]
    inside = memory(9, "The skittles are in the shed.", 0.045)
    answer = compose(memory(1, "Anna sells kettles.", 0.9), inside, *unlikely, question="Who sells kettles?")
    assert [hit.ref for hit in answer.items] == ["m1", "m2", "m3"]


def test_a_name_in_the_possessive_is_a_word_of_the_question() -> None:
    hits = memory(1, "Her appointment was moved.", 0.9), memory(2, "Ellie: 28 October.", 0.1)
    assert [hit.ref for hit in compose(*hits, question="When is Ellie's appointment?").items] == ["m1", "m2"]


def test_of_two_that_say_the_same_the_better_is_shown() -> None:
    turn = Found(Recallable.TURN, "t7", "The standup moved to 9:30", "2026-03-13", 0.4)
    assert [each.ref for each in compose(memory(1, "The standup moved to 9:30."), turn).items] == ["m1"]
    later = Found(Recallable.TURN, "t8", "The standup moved to 10:30", "2026-03-13", 0.4)
    assert [each.ref for each in compose(memory(1, "The standup moved to 9:30."), later).items] == [
        "m1",
        "t8",
    ]
    assert [
        each.ref for each in compose(memory(1, "评审会改到周三。"), memory(2, "评审会改到周四。")).items
    ] == [
        "m1",
        "m2",
    ]


def test_of_a_long_text_whole_sentences_that_fit_the_question_are_shown() -> None:
    filler = " ".join(
        f"The lamp number {number} hangs in the hall beside the old window." for number in range(12)
    )
    text = f"{filler} The billing service moved to Postgres in May. {filler}"
    said = recall.excerpt(text, ("billing", "postgres"), 40)
    assert said.startswith("… ")
    assert said.endswith(" …")
    assert "The billing service moved to Postgres in May." in said
    assert all(piece in text for piece in said.strip("… ").split(". "))


def test_a_sentence_that_does_not_fit_is_counted_not_cut() -> None:
    long = "这是一个没有句号的很长的句子" * 60
    answer = compose(memory(1, "短句子。", 0.9), memory(2, long, 0.8), limit=200)
    assert [each.ref for each in answer.items] == ["m1"]
    assert answer.left_out == {"memory": 1}


def test_prompts_that_are_due_come_first_and_take_at_most_a_quarter() -> None:
    due = tuple(
        Found(Recallable.WOKEN, f"w check-{number}", "Remind the user of the checklist. " * 3, None, 1.0)
        for number in range(20)
    )
    answer = compose(memory(1, "We release on Fridays."), woken=due, limit=800)
    kinds = [each.kind for each in answer.items]
    assert kinds[0] == Recallable.WOKEN
    assert kinds[-1] == Recallable.MEMORY
    alone = compose(woken=due, limit=800)
    assert alone.tokens - recall.FRAME <= 200
    assert answer.left_out["woken"] == 20 - kinds.count(Recallable.WOKEN)


def test_a_prompt_that_is_due_may_take_all_where_nothing_else_is_told() -> None:
    due = Found(Recallable.WOKEN, "w order", "Ask for the delivery date of the order. " * 3, None, 1.0)
    assert compose(woken=(due,), limit=100).left_out == {}
    assert compose(memory(1, "We release on Fridays."), woken=(due,), limit=100).left_out == {"woken": 1}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("seed", range(40))
def test_the_limit_holds_by_the_real_tokenizer(limit: int, seed: int) -> None:
    chance = random.Random(seed)
    hits = [
        memory(number, " ".join(chance.sample(NOTES, chance.randint(1, 6))), 0.9 - number / 100)
        for number in range(60)
    ]
    question = chance.choice(NOTES)
    answers = {
        explain: recall.compose(question, (), hits, limit, explain=explain) for explain in (False, True)
    }
    for explain, answer in answers.items():
        assert tokens(answer, explain) <= limit
        assert len({hit.ref for hit in answer.items}) == len(answer.items)
    assert len(answers[False].items) >= len(answers[True].items)


@pytest.mark.parametrize("limit", LIMITS[3:])
def test_nearly_the_whole_limit_is_used(limit: int) -> None:
    hits = [memory(number, note, 0.9 - number / 1000) for number, note in enumerate(NOTES)]
    assert tokens(compose(*hits, limit=limit), explain=False) > 0.85 * limit
