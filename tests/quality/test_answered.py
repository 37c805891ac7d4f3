"""`recall` says that nothing answers where that is so, and answers where something does."""

from quality import own
from quality.calibrate import NEVER_STORED
from quality.doors import ServicesDoor, built, names_of

from memory_server.domain.caller import Caller
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.project import Project
from memory_server.services.recall import NOTHING, RecallWish

CALLER = Caller("test", "now", Project("", ""))


def test_questions_about_what_was_never_stored_get_no_answer_and_the_others_do() -> None:
    asked, answered, never, silent = 0, 0, 0, 0
    for store in own.stores(held=False):
        with built(BundledEmbedder()) as (services, set_clock):
            names_of(store, ServicesDoor(services, set_clock).store(store.memories))

            def answer(question: str) -> str:
                recalled = services.recall.recall(question, (), 800, RecallWish(), CALLER)
                assert bool(recalled.answer.text) != (recalled.note == NOTHING), question
                return recalled.answer.text

            stored = [question for question in store.questions if question.gold]
            asked += len(stored)
            answered += sum(bool(answer(question.text)) for question in stored)
            never += len(NEVER_STORED)
            silent += sum(not answer(question) for question in NEVER_STORED)
    assert answered / asked >= 0.82
    assert silent / never >= 0.78
