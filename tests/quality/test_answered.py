"""`recall` says that nothing answers where that is so, and answers where something does."""

import pytest
from quality import own
from quality.calibrate import NEVER_STORED
from quality.doors import ServicesDoor, built, names_of

from memory_server.domain.caller import Caller
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.project import Project
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.recall import NOTHING, RecallWish

CALLER = Caller("test", "now", Project("", ""))


def test_questions_about_what_was_never_stored_get_no_answer_and_the_others_do() -> None:
    asked, answered, never, silent = 0, 0, 0, 0
    for store in own.stores(held=False):
        with built(BundledEmbedder()) as (services, set_clock):
            names_of(store, ServicesDoor(services, set_clock).store(store.memories))

            def answer(question: str) -> str:
                recalled = services.recall.recall(question, (), 800, RecallWish(), CALLER)
                note = recalled.note or ""
                assert recalled.answer.text or note.startswith((NOTHING, "Nothing was stored")), question
                assert not recalled.answer.text or not note.startswith(NOTHING), question
                return recalled.answer.text

            stored = [question for question in store.questions if question.gold]
            asked += len(stored)
            answered += sum(bool(answer(question.text)) for question in stored)
            never += len(NEVER_STORED)
            silent += sum(not answer(question) for question in NEVER_STORED)
    assert answered / asked >= 0.82
    assert silent / never >= 0.78


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Which dog has Mr. Huber?", False),
        ("Which cat has Mr. Huber?", True),
        ("How much commission does Airbnb take?", False),
        ("How much commission does Booking take?", True),
    ],
)
def test_a_prompt_that_asks_for_a_fact_brings_nothing_where_recall_does_not_answer(
    prompt: str, said: bool
) -> None:
    notes = [f"Order {number} of oak boards was sent to the yard." for number in range(20)]
    notes += ["Mr. Huber has a cat that sleeps in the shop window.", "Booking takes 15 % commission from us."]
    with built(BundledEmbedder()) as (services, _):
        for note in notes:
            services.memories.store(MemoryDraft(note, MemoryType.OBSERVATION), None, CALLER)
        services.queue.warm_up()
        services.queue.drain()
        assert bool(ByMeaning(services.recall).find(prompt, CALLER)) == said
