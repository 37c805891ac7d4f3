"""The set of this repository is well-formed."""

from collections import Counter

from quality import own
from quality.data import moment

from memory_server.domain.memory import MemoryType

CORPORA = own.read()["corpora"]
QUESTIONS = [question for corpus in CORPORA for question in corpus["questions"]]
MEMORIES = [memory for corpus in CORPORA for memory in corpus["memories"]]

LONG = range(5_000, 12_001)
"""Characters of a long text."""


def test_each_label_names_a_memory_of_its_store() -> None:
    for corpus in CORPORA:
        ids = [memory["id"] for memory in corpus["memories"]]
        assert len(ids) == len(set(ids))
        for question in corpus["questions"]:
            wanted = set().union(*question["gold"])
            assert wanted
            assert wanted <= set(ids), question["text"]
            assert set(question.get("stale", ())) <= set(ids) - wanted, question["text"]


def test_it_is_as_large_as_it_says() -> None:
    counts = Counter(question["category"] for question in QUESTIONS)
    assert len(QUESTIONS) >= 180
    assert len(MEMORIES) >= 400
    assert set(counts) == set(own.read()["categories"])
    assert min(counts.values()) >= 15


def test_a_third_is_held() -> None:
    held = [question for question in QUESTIONS if question["split"] == "held"]
    assert {question["split"] for question in QUESTIONS} == {"open", "held"}
    assert len(held) >= len(QUESTIONS) / 3
    assert sum(len(store.questions) for store in own.stores(held=True)) == len(held)
    assert sum(len(store.questions) for store in own.stores(held=False)) == len(QUESTIONS) - len(held)


def test_memories_are_what_a_store_takes() -> None:
    assert {memory["type"] for memory in MEMORIES} <= set(MemoryType)
    for corpus in CORPORA:
        times = [moment(memory["time"]) for memory in corpus["memories"]]
        assert None not in times
        assert times == sorted(time for time in times if time)


def test_questions_about_long_texts_have_one() -> None:
    lengths = {memory["id"]: len(memory["text"]) for memory in MEMORIES}
    asked = {id for each in QUESTIONS if each["category"] == "long" for piece in each["gold"] for id in piece}
    assert {lengths[id] for id in asked} <= set(LONG)
