"""The memories of the benchmark are the same every time, and like those of real use."""

from collections import Counter
from functools import cache

from scale import texts

from memory_server.language.text import has_han


@cache
def many() -> list[texts.Text]:
    """Made by the first test that asks, not by each process that collects the tests."""
    return texts.first(3000)


def test_the_first_of_many_are_those_of_few() -> None:
    assert texts.first(150) == many()[:150]
    assert texts.first(40, after=1990) == many()[1990:2030]


def test_each_batch_and_question_is_made_again_as_it_was() -> None:
    assert texts.batch(2) == many()[2000:]
    assert texts.questions(20) == texts.questions(40)[:20]


def test_hardly_two_say_the_same() -> None:
    assert len({text.content for text in many()}) > 2990


def test_a_fifth_is_chinese() -> None:
    share = sum(has_han(text.content) for text in many()) / len(many())
    assert 0.1 < share < 0.3


def test_few_words_are_frequent_and_most_are_rare() -> None:
    counts = Counter(
        word for text in many() if not has_han(text.content) for word in text.content.lower().split()
    )
    assert [word for word, _ in counts.most_common(4) if word != "ref"] == ["the", "of", "and"]
    assert sum(count == 1 for count in counts.values()) > 0.4 * len(counts)


def test_projects_are_of_very_different_size() -> None:
    counts = Counter(text.project for text in many())
    assert set(counts) == set(texts.PROJECTS)
    assert counts[texts.LARGE] > 15 * counts[texts.SMALL]
