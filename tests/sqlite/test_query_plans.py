"""What is asked often reads by an index, however large the file is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_server.domain import parts
from memory_server.domain.briefing.leading import Limits
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.fact import FactDraft, FactFilter, Home, Scope
from memory_server.domain.forgetting import Kind
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.short_term import Asking, Keyword, SaidFilter, ShortTermId, ShortTermMemory
from memory_server.domain.turn import TurnDraft
from memory_server.sqlite.candidates import Candidates
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage.candidates import Postings
from memory_server.storage.projects import KeyKind, Known
from memory_server.storage.short_term import ConversationId
from memory_server.storage.vectors import Waiting

SPACE = Space("hashing", "m", "1", 8, "", "", "", True, True, "f")
VECTOR = np.ones(8, np.float32)
LONG = "long text " * 600
LONG_PART = parts.id_of(6, 1)
IDS = np.array([1, 2, LONG_PART], np.int64)
WANTED = Filter(project="p", since="2020-01-01T00:00:00.000Z")


HOME, PLACE = Home(Scope.GLOBAL, ""), Home(Scope.PROJECT, "p")


def delete_and_restore(tx: Transaction, kind: Kind, id: int) -> None:
    tx.trash.put(kind, [id], Caller())
    trashed = tx.trash.find_last(kind, id)
    assert trashed is not None
    tx.trash.restore(trashed)


ASKED: dict[str, Callable[[Transaction], Any]] = {
    "get": lambda tx: tx.memories.select([MemoryId(1), MemoryId(2)]),
    "earlier texts": lambda tx: tx.memories.earlier([MemoryId(1)]),
    "mark accessed": lambda tx: tx.memories.mark_accessed([MemoryId(1)]),
    "rewrite": lambda tx: tx.memories.replace(one := tx.memories.get(MemoryId(1)), one, "rewritten"),
    "delete": lambda tx: tx.trash.put(Kind.MEMORY, [1], Caller()),
    "what was deleted": lambda tx: tx.trash.find_last(Kind.MEMORY, 1),
    "restore": lambda tx: delete_and_restore(tx, Kind.MEMORY, 1),
    "long deleted": lambda tx: tx.trash.older(tx.now, 10),
    "texts": lambda tx: Candidates(tx).count(Embedded.MEMORIES),
    "posting": lambda tx: Candidates(tx).posting(Embedded.MEMORIES, "text"),
    "words of a project": lambda tx: Candidates(tx).extended(
        ["text"], Postings(1, Candidates(tx).of_project(["text"], "p"), "p"), np.array([2])
    ),
    "posting of turns": lambda tx: Candidates(tx).posting(Embedded.TURNS, "text"),
    "posting of facts": lambda tx: Candidates(tx).posting(Embedded.FACTS, "text"),
    "posting of short-term memories": lambda tx: Candidates(tx).posting(Embedded.SHORT_TERM, "text"),
    "around short-term memories": lambda tx: Candidates(tx).around(Embedded.SHORT_TERM, [2, 3], 6),
    "said in short-term memories": lambda tx: Candidates(tx).utterances(Embedded.SHORT_TERM, [1, 2]),
    "facts of a briefing": lambda tx: tx.leading_facts.select([PLACE, HOME], Limits(20, 200, tx.now)),
    "passing facts": lambda tx: tx.candidates.passing(Embedded.FACTS, [1, 2], FactFilter((HOME,))),
    "passing short-term memories": lambda tx: tx.candidates.passing(
        Embedded.SHORT_TERM, [1, 2], SaidFilter(("talk",))
    ),
    "vectors of facts": lambda tx: Candidates(tx).vectors(Embedded.FACTS, 1, IDS, 8),
    "around": lambda tx: Candidates(tx).around(Embedded.MEMORIES, [2, 3], 6),
    "around turns": lambda tx: Candidates(tx).around(Embedded.TURNS, [2, 3], 6),
    "said": lambda tx: Candidates(tx).utterances(Embedded.MEMORIES, [1, 2]),
    "said in turns": lambda tx: Candidates(tx).utterances(Embedded.TURNS, [1, 2]),
    "passing": lambda tx: tx.candidates.passing(Embedded.MEMORIES, [1, LONG_PART], WANTED),
    "passing turns": lambda tx: tx.candidates.passing(Embedded.TURNS, [1, 2], Filter(project="p")),
    "vectors": lambda tx: Candidates(tx).vectors(Embedded.MEMORIES, 1, IDS, 8),
    "vectors of turns": lambda tx: Candidates(tx).vectors(Embedded.TURNS, 1, IDS, 8),
    "most important": lambda tx: tx.standing.most_important("p", 5),
    "how many": lambda tx: tx.memory_counts.current("p"),
    "newest of a type": lambda tx: tx.memories.newest_current("p", MemoryType.ERROR, 5),
    "newest turns": lambda tx: tx.turns.newest("p", 5),
    "contradictions": lambda tx: tx.edges.contradicting([MemoryId(1), MemoryId(2)]),
    "linked": lambda tx: tx.edges.answering([MemoryId(1), MemoryId(2)], 80),
    "peers": lambda tx: tx.peers.find(["text"], 0.6, Filter(type=MemoryType.ERROR, project="p"), 10),
    "meaning": lambda tx: tx.embeddings.nearest(Embedded.MEMORIES, 1, VECTOR, Filter(project="p"), 10),
    "likely updates": lambda tx: tx.likely_updates.replacing([1, 2], [3]),
    "meaning of days": lambda tx: tx.embeddings.nearest_within(1, VECTOR, Filter(), "2020-01", "2021-01", 10),
    "meaning of days of a project": lambda tx: tx.embeddings.nearest_within(
        1, VECTOR, WANTED, "2020", "2021", 10
    ),
    "meaning of turns": lambda tx: tx.embeddings.nearest(Embedded.TURNS, 1, VECTOR, Filter(), 10),
    "cosines": lambda tx: tx.embeddings.cosines(1, VECTOR, [MemoryId(1)]),
    "waiting": lambda tx: tx.spaces.waiting(1, Embedded.MEMORIES, 10),
    "keep a vector": lambda tx: tx.embeddings.insert(
        1, Waiting(Embedded.MEMORIES, 6, (LONG.encode(),)), [VECTOR] * len(parts.split(LONG))
    ),
    "coverage": lambda tx: tx.spaces.count_embedded(1),
    "tokens": lambda tx: tx.token_vectors.select(1, Embedded.MEMORIES, IDS.tolist()),
    "tokens of turns": lambda tx: tx.token_vectors.select(1, Embedded.TURNS, IDS.tolist()),
    "tokens of facts": lambda tx: tx.token_vectors.select(1, Embedded.FACTS, IDS.tolist()),
    "without tokens": lambda tx: tx.token_vectors.waiting(1, Embedded.MEMORIES, 5, 10),
    "turns without tokens": lambda tx: tx.token_vectors.waiting(1, Embedded.TURNS, 5, 10),
    "facts without tokens": lambda tx: tx.token_vectors.waiting(1, Embedded.FACTS, 5, 10),
}
ASKED |= {
    "project": lambda tx: tx.projects.find("p"),
    "project of a key": lambda tx: tx.projects.find_by_key("github.com/acme/app"),
    "project of a former name": lambda tx: tx.projects.find_by_former_name("app"),
    "kinds of keys": lambda tx: tx.projects.has_key(1, KeyKind.REMOTE),
    "move memories": lambda tx: tx.joined_projects.move_memories(Known(1, "p"), Known(2, "q")),
}
CONVERSATION = ConversationId(1)
ASKED_WORDS = [Keyword("word", 2.0, "word"), Keyword("单词", 1.0, "单词"), Keyword("词", 1.0, "词")]
NEW = ShortTermMemory(ShortTermId(1), "text 1", 0.0, "2026-03-14T09:26:53.589Z")
ASKED |= {
    "conversation": lambda tx: tx.conversations.find("c"),
    "due for a cleanup": lambda tx: tx.conversations.due(tx.now, 1),
    "cleaned": lambda tx: tx.conversations.mark_cleaned(CONVERSATION, 1),
    "relevant": lambda tx: tx.short_term.relevant(CONVERSATION, Asking(ASKED_WORDS), tx.now),
    "flashbacks": lambda tx: tx.short_term.recollect(Asking(ASKED_WORDS), [NEW.id]),
    "shared words": lambda tx: tx.short_term.shared_words([NEW.id], Asking(ASKED_WORDS)),
    "recalled": lambda tx: tx.short_term.select([NEW.id]),
    "settled": lambda tx: tx.short_term.count_settled(CONVERSATION, tx.now),
    "too recent": lambda tx: tx.short_term.count_unsettled(CONVERSATION, tx.now),
    "any settled": lambda tx: tx.short_term.nth_settled(CONVERSATION, tx.now, 1),
    "all settled": lambda tx: tx.short_term.settled(CONVERSATION, tx.now),
    "score": lambda tx: tx.short_term.raise_score(NEW.id, 5.0),
    "add": lambda tx: tx.short_term.insert(CONVERSATION, "text", tx.now, ASKED_WORDS, Caller()),
    "unkeyed": lambda tx: tx.short_term.unkeyed(10),
    "new keywords": lambda tx: tx.short_term.replace_keywords(NEW, ASKED_WORDS),
    "texts": lambda tx: list(tx.short_term.texts(CONVERSATION)),
    "delete short-term": lambda tx: tx.trash.put(Kind.SHORT_TERM, [NEW.id], Caller()),
    "restore short-term": lambda tx: delete_and_restore(tx, Kind.SHORT_TERM, NEW.id),
    "number": lambda tx: tx.short_term.count(CONVERSATION),
    "stats": lambda tx: tx.short_term.totals(CONVERSATION),
}
TAKEN_APART = {
    "SCAN a",
    "SCAN counts",
    "SCAN ending",
    "SCAN latest",
    "SCAN parts",
    "SCAN s",
    "SCAN there",
    "SCAN ways",
} | {
    "SCAN short_term_memories USING INDEX short_term_memories_unkeyed",
    "SCAN memory_counts",
    "SCAN u",
}
"""What a question has brought along, the few rows that came of it, an index of those that wait, the counts, and the
1,000 likely updates that are kept."""

FINE = ("SCAN memories USING COVERING INDEX", "SCAN CONSTANT ROW", "SCAN (subquery")
"""`SELECT count(*) FROM memories` reads the smallest index, which is the best there is; the others read no table."""


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_query_reads_a_whole_table(database: Database, asked: Callable[[Transaction], Any]) -> None:
    with database.write() as tx:
        tx.spaces.open(SPACE)
        for number in range(5):
            tx.memories.insert(MemoryDraft(f"text {number}", MemoryType.ERROR, "p"), Caller())
            place = tx.conversations.find_or_insert(f"c{number % 2}")
            tx.short_term.insert(place, f"text {number}", tx.now, ASKED_WORDS, Caller())
            tx.turns.insert(TurnDraft(f"text {number}", "a summary"), Caller(session="s"))
        tx.memories.insert(MemoryDraft(LONG, MemoryType.ERROR, "p"), Caller())
        for home in (HOME, PLACE):
            tx.facts.insert(home, FactDraft("current.task", "text"), None, Caller())
        seen: list[tuple[str, Any]] = []

        def trace(_: object, sql: str, values: Any) -> bool:
            seen.append((sql, values or ()))
            return True

        tx.connection.exec_trace = trace
        try:
            asked(tx)
        finally:
            tx.connection.exec_trace = None
        plans = [row[3] for sql, values in seen for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert plans
    scans = [plan for plan in plans if plan.startswith("SCAN") and "VIRTUAL TABLE" not in plan]
    assert [plan for plan in scans if not plan.startswith(FINE) and plan not in TAKEN_APART] == []
