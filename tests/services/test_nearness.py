"""How near texts are in meaning, and what is kept to tell it faster."""

import pytest

from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.nearness import Nearness


def test_of_a_long_text_the_beginning_and_the_end_count(queue: EmbeddingQueue) -> None:
    """Else one message of 60,000 characters takes half a minute, and is kept whole to be compared again."""
    nearness = Nearness(queue)
    long = "lost " * 50 + "tea " * 50_000 + "found " * 50
    assert nearness(long, "lost " * 50 + "\n" + ("found " * 50)[-250:]) == pytest.approx(1)
    assert max(len(text) for _, text in nearness._vectors) <= 501
