"""The story of two weeks is whole, and what is counted in its answers can be checked by hand."""

import re
from collections import Counter
from typing import Any

import pytest
from quality import story

CALLS = story.calls()
RECALLS = [call for call in CALLS if call["call"] == "recall"]

ENOUGH = {"query": "When do we ship?"}


def test_it_has_150_calls_in_two_projects_in_the_order_of_two_weeks() -> None:
    moments = [call["at"] for call in CALLS]
    assert len(CALLS) == 150
    assert moments == sorted(moments)
    assert (moments[0][:10], moments[-1][:10]) == ("2026-11-09", "2026-11-20")
    assert len({call["in"] for call in CALLS}) == 2
    tools = Counter(call["call"] for call in CALLS)
    assert tools["recall"] >= 60
    assert tools["smart_resume"] == 8
    assert sum("supersedes" in call["args"] for call in CALLS) >= 5


def test_each_recall_is_labelled() -> None:
    for call in RECALLS:
        if call.get("nothing"):
            assert not {"enough", "about", "stale"} & set(call), call
        else:
            assert call["enough"], call
            assert call["about"], call
    assert sum("nothing" in call for call in RECALLS) == 6
    assert sum("stale" in call for call in RECALLS) >= 14
    assert all(
        not {"enough", "about", "stale", "nothing"} & set(call) for call in CALLS if call not in RECALLS
    )


def test_what_must_be_answered_was_stored_before() -> None:
    stored = ""
    for call in CALLS:
        if call["call"] == "recall":
            assert all(part.casefold() in stored for part in call.get("enough", ())), call
            assert all(part.casefold() in stored for part in call.get("stale", ())), call
        stored += str(call["args"]).casefold()


def test_a_name_stands_for_a_memory_that_was_stored_before() -> None:
    named: set[str] = set()
    for call in CALLS:
        assert set(re.findall(r"'@(\w+)'", str(call["args"]))) <= named, call
        named |= {call["as"]} if "as" in call else set()


def judged(answer: str, **labels: Any) -> story.Judged:
    call = {"call": "recall", "args": ENOUGH, **labels}
    return story.judged(story.Heard(call, 1, {"answer": answer}))


def test_a_line_about_something_else_is_noise() -> None:
    found = judged("We ship on Friday. [m1]\nTea is green. [m2]", enough=["friday"], about=["ship"])
    assert found.is_right
    assert found.noise == ("Tea is green. [m2]",)
    assert not judged("Tea is green. [m2]", enough=["friday"], about=["ship"]).is_right


def test_what_is_told_as_outdated_is_not_stale() -> None:
    labels = {"enough": ["Monday"], "about": ["ship"], "stale": ["Friday"]}
    for answer, stale in (
        ("We ship on Monday. (was: We ship on Friday (late).) [m2]", ()),
        ("We ship on Monday. (was: We ship on Friday.) (project boats) [m2]", ()),
        ("We ship on Monday. [m2]\nWe ship on Friday. [m1]", ("Friday",)),
    ):
        assert judged(answer, **labels).stale == stale


def test_where_nothing_was_stored_only_an_empty_answer_is_right() -> None:
    assert judged("", nothing=True).is_right
    wrong = judged("Tea is green. [m2]", nothing=True)
    assert not wrong.is_right
    assert wrong.noise == wrong.lines


def test_the_table_has_what_was_read_and_what_it_was_worth() -> None:
    def heard(tokens: int, answer: str, **labels: Any) -> story.Heard:
        call = {"call": "recall", "args": ENOUGH, **labels}
        return story.Heard(call, tokens, {"answer": answer})

    lines = list(
        story.table(
            [
                heard(30, "We ship on Monday. [m1]\nTea is green. [m2]", enough=["Monday"], about=["ship"]),
                heard(900, "We ship on Friday. [m3]", enough=["Monday"], about=["ship"], stale=["Friday"]),
                heard(10, "", nothing=True),
                story.Heard({"call": "memory_store", "args": {}}, 41, {}),
            ]
        )
    )
    for line in (
        "| recall | 3 | 940 | 313 | 900 |",
        "| all | 4 | 981 | 245 | 900 |",
        "| enough | 2 | 1 (50%) |",
        "| stale told | 1 | 1 (100%) |",
        "| nothing stored, empty answer | 1 | 1 (100%) |",
        "| over `max_tokens` | 3 | 1 (33%) |",
        "| lines that are noise | 3 | 1 (33%) |",
        "| tokens, median | 2 | 465 |",
        "| stored, empty answer | 2 | 0 (0%) |",
    ):
        assert line in lines


@pytest.mark.anyio
async def test_it_is_played_on_the_real_server() -> None:
    heard = await story.played(CALLS[:10])
    assert [each.call for each in heard] == CALLS[:10]
    assert all(each.tokens > 0 for each in heard)
    assert "TimescaleDB" in heard[7].answer["answer"]
