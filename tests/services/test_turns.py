"""Turns of conversations: all or nothing with their facts, found by words and meaning, facts beside them."""

from collections.abc import Callable
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, FactDraft, Scope
from memory_server.domain.memory import Filter
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.errors import Hint, Invalid, MemoryServerError, Mend, Problem
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.turns import MENTIONED, RecalledTurns, TurnService
from memory_server.sqlite.database import Database
from memory_server.storage.tables.facts import WritableFacts
from tests.conftest import Clock

CLAUDE = Caller("Claude", "s1", Project("/srv/shop", "shop"))
ELSEWHERE = Caller("Claude", "s9", Project("/srv/blog", "blog"))
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def facts(database: Database) -> FactService:
    return FactService(database)


@pytest.fixture
def conversation(database: Database, queue: EmbeddingQueue, facts: FactService) -> TurnService:
    return TurnService(database, queue, facts)


def counts(database: Database) -> tuple[int, int, int]:
    with database.read() as tx:
        turns, facts, steps = (
            tx.value(f"SELECT count(*) FROM {table}") for table in ("turns", "facts", "fact_history")
        )
        return int(turns), int(facts), int(steps)


def register(conversation: TurnService, summary: str, **known: Any) -> int:
    return conversation.register(TurnDraft(f"We talked: {summary}", summary), known, CLAUDE)


def retrieve(conversation: TurnService, query: str, limit: int = 5) -> RecalledTurns:
    return conversation.retrieve(query, limit, CLAUDE)


def test_a_turn_is_kept_with_its_facts_in_the_project(
    conversation: TurnService, facts: FactService, database: Database
) -> None:
    register(conversation, "Releases are on Tuesday", release_day="Tuesday", limit="75000")
    assert counts(database) == (1, 2, 2)
    fact = facts.read("limit", Scope.PROJECT, (), CLAUDE)
    assert fact is not None
    assert (fact.value, fact.created_by) == ("75000", "Claude")
    assert facts.read("limit", Scope.PROJECT, (), ELSEWHERE) is None


def test_a_secret_in_any_fact_keeps_all_of_it_out(conversation: TurnService, database: Database) -> None:
    for known in ({"a": 1, "b": {"c": TOKEN}}, {"a": 1, TOKEN: 2}):
        with pytest.raises(Invalid):
            conversation.register(TurnDraft("message", "summary"), known, CLAUDE)
    for message, summary in ((TOKEN, "summary"), ("message", f"see\n{TOKEN}")):
        with pytest.raises(Invalid):
            conversation.register(TurnDraft(message, summary), {"a": 1}, CLAUDE)
    assert counts(database) == (0, 0, 0)


def test_a_failure_half_way_leaves_neither_turn_nor_facts(
    conversation: TurnService, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(conversation, "before", first=1)
    calls: list[WritableFacts] = []

    def failing_at_the_second(insert: Callable[..., Fact]) -> Callable[..., Fact]:
        def fails_at_the_second(facts: WritableFacts, *arguments: Any) -> Fact:
            calls.append(facts)
            if len(calls) == 2:
                raise MemoryServerError("the disk is full")
            return insert(facts, *arguments)

        return fails_at_the_second

    monkeypatch.setattr(WritableFacts, "insert", failing_at_the_second(WritableFacts.insert))
    with pytest.raises(MemoryServerError):
        register(conversation, "after", second=2, third=3)
    assert counts(database) == (1, 1, 1)


def test_the_best_turns_come_first_with_their_score(conversation: TurnService) -> None:
    near = register(conversation, "The release was moved to Tuesday morning")
    register(conversation, "Bananas are cheap in March")
    recalled = retrieve(conversation, "release moved to Tuesday")
    assert recalled.turns[0][0].id == near
    scores = [score for _, score in recalled.turns]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2
    assert 0.2 < scores[0] <= 1
    assert recalled.degraded == ()


@pytest.mark.parametrize(
    "query",
    [
        "Shall we move the release to Tuesday morning?",
        "shall we  move the release to tuesday morning?",
        "发布日改到周二",
        "發布日改到周二",
    ],
)
def test_the_very_text_of_a_turn_finds_it_surely(conversation: TurnService, query: str) -> None:
    for message, summary in (
        ("The release notes of Tuesday morning", "Release notes"),
        ("Shall we move the release to Tuesday morning?", "发布日改到周二"),
        ("Shall we move the release to Tuesday morning? Or to Monday?", "发布日改到周二还是周一"),
    ):
        conversation.register(TurnDraft(message, summary, session=summary), {}, CLAUDE)
    turn, score = retrieve(conversation, query).turns[0]
    assert (turn.id, score) == (2, 1.0)


def test_the_summary_or_the_message_of_a_turn_is_near_to_a_question_whatever_the_other_says(
    conversation: TurnService, database: Database, embedder: Embedder
) -> None:
    conversation.register(TurnDraft("word " * 90, "Orchids need little water"), {}, CLAUDE)
    conversation.register(TurnDraft("Orchids need little water", "word " * 90), {}, CLAUDE)
    (vector,) = embedder.embed_documents(["Orchids need little water"])
    with database.read() as tx:
        found = tx.embeddings.nearest(Embedded.TURNS, 1, vector, Filter(), 10)
    assert found == {2: 1.0, 1: 1.0}


def test_a_turn_keeps_the_moment_and_the_session_that_were_given(
    conversation: TurnService, database: Database
) -> None:
    conversation.register(TurnDraft("told", "then", "2020-01-02T03:04:05.000Z", "s2"), {}, CLAUDE)
    conversation.register(TurnDraft("told", "now"), {}, CLAUDE)
    with database.read() as tx:
        now = tx.value("SELECT created_at FROM turns WHERE id = 2")
        assert tx.rows("SELECT session FROM turns ORDER BY id") == [("s2",), ("s1",)]
    occurred = {turn.summary: turn.occurred_at for turn, _ in retrieve(conversation, "then now told").turns}
    assert occurred == {"then": "2020-01-02T03:04:05.000Z", "now": now}


def test_a_turn_beside_one_with_the_words_is_found_with_it(conversation: TurnService) -> None:
    ask = register(conversation, "When did the harbour open?")
    reply = register(conversation, "In the first week of spring")
    conversation.register(TurnDraft("Of other things", "Bananas are cheap", session="s2"), {}, CLAUDE)
    assert {turn.id for turn, _ in retrieve(conversation, "harbour open", 2).turns} == {ask, reply}


def test_turns_of_the_own_project_come_first_unless_all_are_asked_for(conversation: TurnService) -> None:
    def summaries(project: str | None) -> list[str]:
        recalled = conversation.retrieve("release day", 5, CLAUDE, project)
        return [turn.summary for turn, _ in recalled.turns]

    for summary, caller in (("Own release day of the shop", CLAUDE), ("The release day", ELSEWHERE)):
        conversation.register(TurnDraft("Told", summary, session=summary), {}, caller)
    assert summaries(None) == ["Own release day of the shop", "The release day"]
    assert summaries("*") == ["The release day", "Own release day of the shop"]
    assert summaries("blog") == ["The release day"]
    assert summaries("shop") == summaries("/srv/shop") == ["Own release day of the shop"]
    assert summaries("nowhere") == []


def test_five_at_most_come_back_unless_told_otherwise(conversation: TurnService) -> None:
    for number in range(7):
        register(conversation, f"Turn number {number}")
    assert len(retrieve(conversation, "turn number").turns) == 5
    assert len(retrieve(conversation, "turn number", 50).turns) == 7
    assert len(retrieve(conversation, "turn number", 1).turns) == 1


def test_equal_turns_come_newest_first(conversation: TurnService) -> None:
    ids = [register(conversation, "the same") for _ in range(3)]
    assert [turn.id for turn, _ in retrieve(conversation, "the same").turns] == ids[::-1]


@pytest.mark.parametrize("query", ["what is the release day", "发布日是哪天", "Tuesday"])
def test_facts_that_the_query_names_come_back_beside_the_turns(
    conversation: TurnService, facts: FactService, query: str
) -> None:
    for key, value in {"release_day": "Tuesday", "发布日": "Tuesday", "port": 5433}.items():
        facts.write(FactDraft(key, value), Scope.GLOBAL, CLAUDE)
    recalled = retrieve(conversation, query)
    assert recalled.facts
    assert all(fact.value == "Tuesday" for fact in recalled.facts)


def test_facts_of_other_projects_and_expired_ones_are_not_named(
    conversation: TurnService, facts: FactService, clock: Clock
) -> None:
    facts.write(FactDraft("port", 1), Scope.PROJECT, ELSEWHERE)
    facts.write(FactDraft("port", 2, ttl=60), Scope.PROJECT, CLAUDE)
    assert [fact.value for fact in retrieve(conversation, "port").facts] == [2]
    clock.advance(seconds=60)
    assert retrieve(conversation, "port").facts == []


def test_a_query_names_few_facts_however_many_fit(conversation: TurnService, facts: FactService) -> None:
    for number in range(20):
        facts.write(FactDraft(f"port.{number}", number), Scope.GLOBAL, CLAUDE)
    assert len(retrieve(conversation, "port").facts) == MENTIONED


@pytest.mark.parametrize("query", ["?", "🎉", '"', "NEAR(", "的", "a* OR b", "-", "key:1"])
def test_any_text_is_a_query(conversation: TurnService, query: str) -> None:
    register(conversation, "something", key=1)
    assert len(retrieve(conversation, query).turns) == 1


def test_without_an_embedder_words_find_turns_and_facts_and_the_answer_says_why(
    database: Database, facts: FactService, clock: Clock
) -> None:
    def missing(*_: object) -> Any:
        raise MemoryServerError("it is not installed", Mend.USE_SAME_EMBEDDER)

    queue = EmbeddingQueue(database, missing, missing, clock)
    queue.warm_up()
    conversation = TurnService(database, queue, facts)
    kept = register(conversation, "the port is kept all the same", port=5433)
    conversation.register(TurnDraft("Of other things", "something else", session="s2"), {}, CLAUDE)
    recalled = retrieve(conversation, "port")
    assert [turn.id for turn, _ in recalled.turns] == [kept]
    assert [fact.value for fact in recalled.facts] == [5433]
    assert recalled.degraded == (
        Problem("found by words only: it is not installed", (Hint(Mend.USE_SAME_EMBEDDER),)),
    )
