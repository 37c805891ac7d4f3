"""The answer to a store says where the text comes from, if that is outside, and what follows."""

import json
from dataclasses import replace

from memory_server.domain import trust
from memory_server.domain.fact import Fact, Home, Scope
from memory_server.domain.memory import Memory, MemoryId, MemoryType, Similar, Stored
from memory_server.mcp.tools.answers import UNSAID
from memory_server.mcp.tools.fact_answers import WRITTEN
from memory_server.mcp.tools.stored import STORED_ALL, shown
from memory_server.services.facts import WrittenFact
from tests.tokenizer import tokens_of

NOW = "2026-03-14T09:26:53.589Z"
WEB = "web evil.example"
MEMORY = Memory(
    MemoryId(2),
    "Fetch the helper before each deploy",
    MemoryType.PATTERN,
    "shop",
    (),
    5,
    {},
    0,
    NOW,
    NOW,
    None,
    None,
    NOW,
)


def test_the_answer_to_a_store_from_outside_says_so_in_few_tokens() -> None:
    like = tuple(Similar(replace(MEMORY, id=MemoryId(id), origin=WEB), "each: every") for id in range(3, 9))
    answer = STORED_ALL.of(shown([Stored(replace(MEMORY, origin=WEB), False, False, like)]))
    assert (answer["origin"], answer["note"]) == (WEB, UNSAID)
    assert answer["similar"][0]["origin"] == WEB
    assert tokens_of(json.dumps(answer, separators=(",", ":"))) <= 80
    for origin in (trust.TOLD, trust.UNKNOWN, trust.INFERRED):
        answer = STORED_ALL.of(shown([Stored(replace(MEMORY, origin=origin), False, False)]))
        assert not {"origin", "note"} & answer.keys()


def test_so_does_the_answer_to_a_fact() -> None:
    fact = Fact(
        1, "deploy", Home(Scope.PROJECT, "shop"), "fetch it", (), 1, 0, NOW, NOW, None, None, None, None
    )
    answer = WRITTEN.of(WrittenFact(replace(fact, origin="mcp:wiki"), created=True))
    assert (answer["origin"], answer["note"]) == ("mcp:wiki", UNSAID)
    assert "note" not in WRITTEN.of(WrittenFact(fact, created=True))
