"""Whatever is asked, the answer of `recall` keeps its limit of tokens and has nothing twice."""

import re

import pytest
from quality import budget
from quality.story import until_embedded

from tests.conftest import Servers

pytestmark = pytest.mark.anyio

QUESTIONS = 100
"""`scripts/lab/quality/budget.py` asks 1,000, of more texts, with the bundled model."""


async def test_random_questions_keep_the_limit_and_no_item_is_there_twice(server: Servers) -> None:
    known = budget.texts(every=10)
    async with server("--allow-secrets", "--project", "harbour") as client:
        await budget.fill(client, known)
        await until_embedded(client)
        found = [await budget.taken(client, each) for each in budget.questions(known, QUESTIONS)]
    assert [each for each in found if not each.is_kept] == []
    assert sum(each.items for each in found) > 3 * QUESTIONS
    assert any(each.tokens > 0.5 * each.question.limit for each in found)
    assert any(each.question.due for each in found)


def test_questions_have_both_languages_and_all_limits() -> None:
    asked = list(budget.questions(budget.texts(), 1_000))
    limits = [each.limit for each in asked]
    assert min(limits) < 110
    assert max(limits) > 7_000
    for letters in ("[一-鿿]", "[a-z]{3}"):
        assert sum(bool(re.search(letters, each.text)) for each in asked) > 300
