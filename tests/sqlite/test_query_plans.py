"""What is asked often reads by an index, however large the file is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_server.domain import parts
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.fact import FactFilter, Home, Scope
from memory_server.domain.forgetting import Kind
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.short_term import Asking, Keyword, SaidFilter, ShortTermId, ShortTermMemory
from memory_server.domain.turn import TurnDraft
from memory_server.sqlite import (
    candidates,
    conversations,
    edges,
    embeddings,
    joined_projects,
    memories,
    memory_counts,
    peers,
    projects,
    short_term,
    standing,
    trash,
    turns,
)
from memory_server.sqlite.conversations import ConversationId
from memory_server.sqlite.database import Database
from memory_server.sqlite.embeddings import Waiting
from memory_server.sqlite.projects import Known
from memory_server.sqlite.tx import WriteTx

SPACE = Space("hashing", "m", "1", 8, "", "", "", True, True, "f")
VECTOR = np.ones(8, np.float32)
LONG = "long text " * 600
LONG_PART = parts.id_of(6, 1)
IDS = np.array([1, 2, LONG_PART], np.int64)
WANTED = Filter(project="p", since="2020-01-01T00:00:00.000Z")


HOME = Home(Scope.GLOBAL, "")


def delete_and_restore(tx: WriteTx, kind: Kind, id: int) -> None:
    trash.put(tx, kind, [id], Caller())
    trashed = trash.find_last(tx, kind, id)
    assert trashed is not None
    trash.restore(tx, kind, trashed, None if kind is Kind.MEMORY else CONVERSATION)


ASKED: dict[str, Callable[[WriteTx], Any]] = {
    "get": lambda tx: memories.select(tx, [MemoryId(1), MemoryId(2)]),
    "earlier texts": lambda tx: memories.earlier(tx, [MemoryId(1)]),
    "mark accessed": lambda tx: memories.mark_accessed(tx, [MemoryId(1)]),
    "rewrite": lambda tx: memories.replace(tx, memories.get(tx, MemoryId(1)), "rewritten"),
    "delete": lambda tx: trash.put(tx, Kind.MEMORY, [1], Caller()),
    "what was deleted": lambda tx: trash.find_last(tx, Kind.MEMORY, 1),
    "restore": lambda tx: delete_and_restore(tx, Kind.MEMORY, 1),
    "long deleted": lambda tx: trash.older(tx, tx.now, 10),
    "texts": lambda tx: candidates.count(tx, Embedded.MEMORIES),
    "posting": lambda tx: candidates.posting(tx, Embedded.MEMORIES, "text"),
    "words of a project": lambda tx: candidates.with_others(
        tx, ["text"], candidates.of_project(tx, ["text"], "p"), [2]
    ),
    "posting of turns": lambda tx: candidates.posting(tx, Embedded.TURNS, "text"),
    "posting of facts": lambda tx: candidates.posting(tx, Embedded.FACTS, "text"),
    "posting of short-term memories": lambda tx: candidates.posting(tx, Embedded.SHORT_TERM, "text"),
    "around short-term memories": lambda tx: candidates.around(tx, Embedded.SHORT_TERM, [2, 3], 6),
    "said in short-term memories": lambda tx: candidates.said(tx, Embedded.SHORT_TERM, [1, 2]),
    "passing facts": lambda tx: candidates.passing(tx, Embedded.FACTS, [1, 2], FactFilter((HOME,))),
    "passing short-term memories": lambda tx: candidates.passing(
        tx, Embedded.SHORT_TERM, [1, 2], SaidFilter(("talk",))
    ),
    "vectors of facts": lambda tx: candidates.vectors(tx, Embedded.FACTS, 1, IDS, 8),
    "around": lambda tx: candidates.around(tx, Embedded.MEMORIES, [2, 3], 6),
    "around turns": lambda tx: candidates.around(tx, Embedded.TURNS, [2, 3], 6),
    "said": lambda tx: candidates.said(tx, Embedded.MEMORIES, [1, 2]),
    "said in turns": lambda tx: candidates.said(tx, Embedded.TURNS, [1, 2]),
    "passing": lambda tx: candidates.passing(tx, Embedded.MEMORIES, [1, LONG_PART], WANTED),
    "passing turns": lambda tx: candidates.passing(tx, Embedded.TURNS, [1, 2], Filter(project="p")),
    "vectors": lambda tx: candidates.vectors(tx, Embedded.MEMORIES, 1, IDS, 8),
    "vectors of turns": lambda tx: candidates.vectors(tx, Embedded.TURNS, 1, IDS, 8),
    "most important": lambda tx: standing.most_important(tx, "p", 5),
    "how many": lambda tx: memory_counts.current(tx, "p"),
    "newest of a type": lambda tx: memories.newest_current(tx, "p", MemoryType.ERROR, 5),
    "newest turns": lambda tx: turns.newest(tx, "p", 5),
    "contradictions": lambda tx: edges.contradicting(tx, [MemoryId(1), MemoryId(2)]),
    "linked": lambda tx: edges.answering(tx, [MemoryId(1), MemoryId(2)], 80),
    "peers": lambda tx: peers.find(tx, ["text"], 0.6, Filter(type=MemoryType.ERROR, project="p"), 10),
    "meaning": lambda tx: embeddings.nearest(tx, Embedded.MEMORIES, 1, VECTOR, Filter(project="p"), 10),
    "meaning of turns": lambda tx: embeddings.nearest(tx, Embedded.TURNS, 1, VECTOR, Filter(), 10),
    "cosines": lambda tx: embeddings.cosines(tx, 1, VECTOR, [MemoryId(1)]),
    "waiting": lambda tx: embeddings.waiting(tx, 1, Embedded.MEMORIES, 10),
    "keep a vector": lambda tx: embeddings.insert(
        tx, 1, Waiting(Embedded.MEMORIES, 6, (LONG.encode(),)), [VECTOR] * len(parts.split(LONG))
    ),
    "coverage": lambda tx: embeddings.count_embedded(tx, 1),
}
ASKED |= {
    "project": lambda tx: projects.find(tx, "p"),
    "project of a key": lambda tx: projects.find_by_key(tx, "github.com/acme/app"),
    "project of a former name": lambda tx: projects.find_by_former_name(tx, "app"),
    "kinds of keys": lambda tx: projects.has_key(tx, 1, projects.Kind.REMOTE),
    "move memories": lambda tx: joined_projects.move_memories(tx, Known(1, "p"), Known(2, "q")),
}
CONVERSATION = ConversationId(1)
ASKED_WORDS = [Keyword("word", 2.0, "word"), Keyword("单词", 1.0, "单词"), Keyword("词", 1.0, "词")]
NEW = ShortTermMemory(ShortTermId(1), "text 1", 0.0, "2026-03-14T09:26:53.589Z")
ASKED |= {
    "conversation": lambda tx: conversations.find(tx, "c"),
    "due for a cleanup": lambda tx: conversations.due(tx, tx.now, 1),
    "cleaned": lambda tx: conversations.mark_cleaned(tx, CONVERSATION, 1),
    "relevant": lambda tx: short_term.relevant(tx, CONVERSATION, Asking(ASKED_WORDS), tx.now),
    "flashbacks": lambda tx: short_term.recollect(tx, Asking(ASKED_WORDS), [NEW.id]),
    "shared words": lambda tx: short_term.shared_words(tx, NEW.id, Asking(ASKED_WORDS)),
    "recalled": lambda tx: short_term.select(tx, [NEW.id]),
    "settled": lambda tx: short_term.count_settled(tx, CONVERSATION, tx.now),
    "too recent": lambda tx: short_term.count_unsettled(tx, CONVERSATION, tx.now),
    "any settled": lambda tx: short_term.nth_settled(tx, CONVERSATION, tx.now, 1),
    "all settled": lambda tx: short_term.settled(tx, CONVERSATION, tx.now),
    "score": lambda tx: short_term.raise_score(tx, NEW.id, 5.0),
    "add": lambda tx: short_term.insert(tx, CONVERSATION, "text", tx.now, ASKED_WORDS, Caller()),
    "unkeyed": lambda tx: short_term.unkeyed(tx, 10),
    "new keywords": lambda tx: short_term.replace_keywords(tx, NEW, ASKED_WORDS),
    "texts": lambda tx: list(short_term.texts(tx, CONVERSATION)),
    "delete short-term": lambda tx: trash.put(tx, Kind.SHORT_TERM, [NEW.id], Caller()),
    "restore short-term": lambda tx: delete_and_restore(tx, Kind.SHORT_TERM, NEW.id),
    "number": lambda tx: short_term.count(tx, CONVERSATION),
    "stats": lambda tx: short_term.totals(tx, CONVERSATION),
}
TAKEN_APART = {"SCAN a", "SCAN parts", "SCAN s", "SCAN ways"} | {
    "SCAN short_term_memories USING INDEX short_term_memories_unkeyed",
    "SCAN memory_counts",
}
"""What a question has brought along, the few rows that came of it, an index of those that wait, and the counts."""

FINE = ("SCAN memories USING COVERING INDEX", "SCAN CONSTANT ROW", "SCAN (subquery")
"""`SELECT count(*) FROM memories` reads the smallest index, which is the best there is; the others read no table."""


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_query_reads_a_whole_table(database: Database, asked: Callable[[WriteTx], Any]) -> None:
    with database.write() as tx:
        embeddings.open_space(tx, SPACE)
        for number in range(5):
            memories.insert(tx, MemoryDraft(f"text {number}", MemoryType.ERROR, "p"), Caller())
            place = conversations.find_or_insert(tx, f"c{number % 2}")
            short_term.insert(tx, place, f"text {number}", tx.now, ASKED_WORDS, Caller())
            turns.insert(tx, TurnDraft(f"text {number}", "a summary"), Caller(session="s"))
        memories.insert(tx, MemoryDraft(LONG, MemoryType.ERROR, "p"), Caller())
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
