"""The first memory of a new file answers the question about it, and no other question."""

import pytest
from quality.doors import built

from memory_server.domain.caller import Caller
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.project import Project
from memory_server.services.recall import RecallWish

CALLER = Caller("test", "now", Project("", ""))

ANSWERED = {
    "The till closes at six": "When does the till close?",
    "Leo is allergic to peanuts": "What is Leo allergic to?",
    "The staging database listens on port 5433.": "Which port does the staging database use?",
    "My wife's birthday is on 4 May.": "When is my wife's birthday?",
    "导师每周三下午开组会": "组会是什么时候？",
    "Der Laden schließt um sechs": "Wann schließt der Laden?",
}
UNKNOWN = ("What is the capital of Peru?", "Who won the last election?", "猫吃什么？", "Wie heißt der Hund?")


@pytest.mark.parametrize("embedder", [BundledEmbedder, HashingEmbedder])
@pytest.mark.parametrize("content", ANSWERED)
def test_the_only_memory_is_told_where_it_answers(content: str, embedder: type[Embedder]) -> None:
    with built(embedder()) as (services, _):
        services.memories.store(MemoryDraft(content, MemoryType.LEARNING), None, CALLER)
        services.queue.work()

        def answer(question: str) -> str:
            return services.recall.recall(question, (), 800, RecallWish(), CALLER).answer.text

        assert content.rstrip(".") in answer(ANSWERED[content])
        assert [question for question in UNKNOWN if answer(question)] == []
