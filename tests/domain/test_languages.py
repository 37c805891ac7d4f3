"""The language of a text says nothing about its meaning."""

import numpy as np
import pytest

from memory_server.domain.languages import neutral
from memory_server.embedding.bundled import BundledEmbedder

SAID = "Der Schwimmkurs ist jetzt freitags um 16 Uhr."
AGAIN = "The swimming lesson is on Tuesdays at 5 pm."
BESIDE = [
    "Der Klavierunterricht ist dienstags um 16 Uhr.",
    "Der Kurs geht um halb sieben los.",
    "Montags gehen wir schwimmen.",
    "Besuch ist auch nach 21 Uhr in Ordnung.",
]


@pytest.fixture(scope="module")
def vectors() -> list[np.ndarray]:
    return list(BundledEmbedder().embed_documents([SAID, AGAIN, *BESIDE]))


def test_a_text_moves_nearer_to_what_another_language_says_of_it_than_to_its_own_language(
    vectors: list[np.ndarray],
) -> None:
    said, again, *beside = vectors
    plain_said, plain_again, *plain_beside = neutral(vectors)
    gained = float(plain_said @ plain_again - said @ again)
    assert gained > 0.03
    assert all(
        float(plain_said @ plain - said @ raw) < 0 for plain, raw in zip(plain_beside, beside, strict=True)
    )


def test_a_vector_without_its_language_has_length_one_and_loses_nothing_more(
    vectors: list[np.ndarray],
) -> None:
    plain = neutral(vectors)
    assert [float(np.linalg.norm(vector)) for vector in plain] == pytest.approx([1] * len(vectors))
    assert np.array(neutral(plain)) == pytest.approx(np.array(plain), abs=1e-3)


def test_vectors_of_another_length_stay_as_they_are() -> None:
    vectors = [np.ones(8, np.float32)]
    assert neutral(vectors) is vectors
