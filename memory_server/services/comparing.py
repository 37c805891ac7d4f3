"""Compares a text with what its project has: is it said already, is something close, does it replace something?"""

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from memory_server.domain import differences, fact_text, parts, similar, updates
from memory_server.domain.caller import Caller
from memory_server.domain.consolidation import THRESHOLD, Likeness, Text, may_be_close
from memory_server.domain.consolidation import compare as likeness
from memory_server.domain.edge import line_of
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.fact import FactFilter, Home, Scope, home
from memory_server.domain.languages import neutral
from memory_server.domain.memory import Filter, Memory, MemoryId, MemoryType, Passage, Similar
from memory_server.domain.similar import Compared, Peer
from memory_server.domain.wording import is_key
from memory_server.language import query
from memory_server.project import Project
from memory_server.services.meaning import Fresh
from memory_server.services.prepared import PreparedTexts
from memory_server.storage.tx import Tx
from memory_server.storage.vectors import STORING, TextFilter

PEERS = 500
"""Memories that share rare words with a text and are compared with it: about 10 ms where none is prepared yet."""

NEAREST = 10
"""Memories nearest in meaning that are compared. The one that a note updates is among them for 98 % of notes."""

SCOPES = (Scope.PROJECT, Scope.GLOBAL)
"""The scopes whose facts are compared: those of a session are over soon, and shared ones are several people's."""

PASSAGES = 3
"""Facts nearest in meaning that are compared, and turns: their texts say one thing, or are many words about several."""


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text as it is or will be stored, with its vector where it has one now."""

    text: Text
    type: MemoryType | None
    project: str | None
    fresh: Fresh | None
    person: str | None = None
    """Whose own it is: it is compared with what is of the same person, or of nobody too."""
    homes: tuple[Home, ...] = ()
    """The facts of these scopes are compared too, and turns. Without any: memories alone."""
    until: str | None = None
    """The moment from which on facts and turns are newer."""


def compare(tx: Tx, written: WrittenText, texts: PreparedTexts, without: Container[int]) -> Compared:
    """Compare a text with the memories of its project, except those in `without`, and with its facts and turns.

    Where the text says again what has been superseded, its successor is named too.
    """
    fresh = _comparable(written.fresh)
    if fresh is None or not written.homes:
        peers = _memories(tx, written, fresh, texts, without)
    else:
        memories, facts, turns = tx.together(
            lambda: _memories(tx, written, fresh, texts, without),
            lambda: _passages(
                tx, Embedded.FACTS, FactFilter(written.homes, until=written.until), fresh, texts
            ),
            lambda: _passages(
                tx,
                Embedded.TURNS,
                Filter(project=written.project or "", until=written.until, transcripts=False),
                fresh,
                texts,
            ),
        )
        peers = [*memories, *facts, *turns]
    comparison = similar.compared(written.text, written.type, peers)
    return _with_successor(tx, comparison, written, texts, without)


def homes_of(project: str, caller: Caller) -> tuple[Home, ...]:
    """Return the scopes whose facts are compared with what is stored for a project ('' is none)."""
    caller = replace(caller, project=Project(project, project))
    return tuple(home(scope, caller) for scope in SCOPES)


def _memories(
    tx: Tx, written: WrittenText, fresh: Fresh | None, texts: PreparedTexts, without: Container[int]
) -> list[Peer]:
    cosines, sharing = _beside(tx, written, fresh)
    by_words = [id for id in sharing if id not in cosines and id not in without]
    close, near, vectors = tx.together(
        lambda: _close(tx, written.text, by_words, texts),
        lambda: _select(tx, cosines, without),
        lambda: _vectors(tx, fresh, list(cosines)),
    )
    memories = {memory.id: memory for memory in (*near, *close)}
    compared_ids = [id for id in dict.fromkeys([*sharing, *cosines]) if id in memories]
    return [
        _peer(memory, texts, vectors.get(memory.id))
        for memory in map(memories.__getitem__, compared_ids)
        if memory.person == written.person
    ]


def _peer(compared: Memory | Passage, texts: PreparedTexts, vectors: tuple[Vector, Vector] | None) -> Peer:
    cosine = None if vectors is None else float(np.dot(*vectors))
    return Peer(compared, texts.of(compared.content), cosine, vectors)


def _comparable(fresh: Fresh | None) -> Fresh | None:
    """Return the vector of a text without its language; None where cosines do not tell that texts are close."""
    if fresh is None or not similar.comparable(fresh.space):
        return None
    return replace(fresh, vectors=tuple(neutral(fresh.vectors)))


def _passages(tx: Tx, kind: Embedded, filter: TextFilter, fresh: Fresh, texts: PreparedTexts) -> list[Peer]:
    """Return the facts or the turns that are nearest in meaning."""
    near = tx.embeddings.nearest(kind, fresh.space_id, fresh.vectors[0], filter, PASSAGES, STORING)
    if not near:
        return []
    read = _facts if kind is Embedded.FACTS else _turns
    passages, vectors = tx.together(
        lambda: read(tx, list(near)), lambda: _vectors(tx, fresh, list(near), kind)
    )
    return [_peer(passage, texts, vectors[passage.row]) for passage in passages if passage.row in vectors]


def _facts(tx: Tx, ids: Sequence[int]) -> list[Passage]:
    return [
        Passage(f"f {fact.key}", fact_text.of(fact.key, fact.value), fact.id, origin=fact.origin)
        for fact in tx.facts.select(ids)
    ]


def _turns(tx: Tx, ids: Sequence[int]) -> list[Passage]:
    return [
        Passage(f"t{turn.id}", turn.summary.strip() or turn.message, turn.id, origin=turn.origin)
        for turn in tx.turns.select(ids)
    ]


def _select(tx: Tx, ids: Collection[MemoryId], without: Container[int]) -> list[Memory]:
    selected = [id for id in ids if id not in without]
    return tx.memories.select(selected) if selected else []


def _beside(
    tx: Tx, written: WrittenText, fresh: Fresh | None
) -> tuple[dict[MemoryId, float], Sequence[MemoryId]]:
    """Return the memories nearest in meaning, each with its cosine, and those that may share most words. Where meaning
    is compared, common words are not looked up: a text that says the same in common words is near in meaning too."""
    where, phrases = Filter(project=written.project or ""), _phrases(written.text)
    space_id = written.fresh.space_id if written.fresh else 0
    find = partial(
        tx.peers.find, phrases, THRESHOLD, replace(where, type=written.type), PEERS, space_id=space_id
    )
    if fresh is None:
        return {}, find()
    nearest, sharing = tx.together(
        lambda: tx.embeddings.nearest(Embedded.MEMORIES, space_id, fresh.vectors[0], where, NEAREST, STORING),
        lambda: find(rare_only=True),
    )
    cosines = {MemoryId(id): cosine for id, cosine in nearest.items() if not parts.number_of(id)}
    return cosines, sharing if cosines else find()


def _close(tx: Tx, text: Text, ids: Sequence[MemoryId], texts: PreparedTexts) -> Sequence[Memory]:
    """Return the memories that are close to a text in their words. Of the others nothing else is read."""

    def is_close(content: str) -> bool:
        return may_be_close(text, content) and likeness(text, texts.of(content)) is not Likeness.DIFFERENT

    return tx.memories.select_if(ids, is_close) if ids else ()


def _vectors(
    tx: Tx, fresh: Fresh | None, ids: Sequence[int], kind: Embedded = Embedded.MEMORIES
) -> dict[int, tuple[Vector, Vector]]:
    """Return the vectors of texts, each beside that of the text and of the shape (dimensions,)."""
    if fresh is None or not ids:
        return {}
    vectors = tx.embeddings.vectors_of(fresh.space_id, ids, kind)
    neutral_vectors = neutral(list(vectors.values()))
    return {id: (vector, fresh.vectors[0]) for id, vector in zip(vectors, neutral_vectors, strict=True)}


def _phrases(text: Text) -> list[str]:
    """Return the words that a memory which says the same has too; numbers and small words have other spellings."""
    words = [word for word in text.words if is_key(word)] or list(text.words)
    return list(map(query.index_phrase, words))


def _with_successor(
    tx: Tx, comparison: Compared, written: WrittenText, texts: PreparedTexts, without: Container[int]
) -> Compared:
    old = comparison.restated
    if comparison.twin is not None or not isinstance(old, Memory) or old.superseded_by is None:
        return comparison
    last = tx.memories.get(line_of(old.id, tx.edges.successors([old.id]))[-1])
    if last.id in without or last.person != written.person:
        return comparison
    neighbours = [neighbour for neighbour in comparison.similar if neighbour.memory.id != last.id]
    there_now = texts.of(last.content)
    difference = differences.told(
        there_now, written.text, updates.aligned(there_now.wording, written.text.wording)
    )
    named = (*neighbours[: similar.MOST - 1], Similar(last, difference))
    return replace(comparison, similar=named, maybe_replaced=(last.id,))
