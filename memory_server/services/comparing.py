"""Compares a text with the memories of its project: is it said already, is something close, does it replace one?"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from memory_server.domain import differences, parts, similar, updates
from memory_server.domain.consolidation import THRESHOLD, Likeness, Text, may_be_close
from memory_server.domain.consolidation import compare as likeness
from memory_server.domain.edge import line_of
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter, Memory, MemoryId, MemoryType, Similar
from memory_server.domain.similar import Compared, Peer
from memory_server.domain.wording import is_key
from memory_server.language import query
from memory_server.services.embedding_queue import Fresh
from memory_server.services.prepared import PreparedTexts
from memory_server.storage.tx import Tx
from memory_server.storage.vectors import STORING

PEERS = 500
"""Memories that share rare words with a text and are compared with it: about 10 ms where none is prepared yet."""

NEAREST = 10
"""Memories nearest in meaning that are compared. The one that a note updates is among them for 98 % of notes."""


@dataclass(frozen=True, slots=True)
class Written:
    """A text as it is or will be stored, with its vector where it has one now."""

    text: Text
    type: MemoryType
    project: str | None
    fresh: Fresh | None
    person: str | None = None
    """Whose own it is: it is compared with what is of the same person, or of nobody too."""


def compare(tx: Tx, written: Written, texts: PreparedTexts, without: Collection[MemoryId]) -> Compared:
    """What a text is to the memories of its project, but for those `without`.

    Where it says again what has been superseded, what superseded that is named too.
    """
    where = Filter(project=written.project or "")
    fresh = written.fresh if written.fresh and similar.comparable(written.fresh.space) else None
    cosines = _cosines(tx, fresh, where)
    sharing = _sharing(tx, written, replace(where, type=written.type), rare_only=bool(cosines))
    others = [id for id in sharing if id not in cosines]
    close, (near, vectors) = tx.both(
        lambda: _close(tx, written.text, others, texts),
        lambda: tx.both(
            lambda: _select(tx, cosines, without),
            lambda: _vectors(tx, fresh, list(cosines)),
        ),
    )
    known = {memory.id: memory for memory in near}
    known |= {memory.id: memory for memory in _select(tx, close, without)}
    wanted = [id for id in dict.fromkeys([*sharing, *cosines]) if id in known]
    found = similar.compared(
        written.text,
        written.type,
        [
            Peer(
                memory,
                texts.of(memory.content),
                cosines.get(memory.id),
                vectors.get(memory.id),
            )
            for memory in map(known.__getitem__, wanted)
            if memory.person == written.person
        ],
    )
    return _with_successor(tx, found, written, texts, without)


def _select(tx: Tx, ids: Collection[MemoryId], without: Collection[MemoryId]) -> list[Memory]:
    wanted = [id for id in ids if id not in without]
    return tx.memories.select(wanted) if wanted else []


def _sharing(tx: Tx, written: Written, where: Filter, rare_only: bool) -> list[MemoryId]:
    """The memories that may share most words with a text. What says the same in common words is near in meaning too."""
    space_id = written.fresh.space_id if written.fresh else 0
    phrases = _phrases(written.text)
    return tx.peers.find(phrases, THRESHOLD, where, PEERS, space_id, rare_only)


def _close(tx: Tx, text: Text, ids: Sequence[MemoryId], texts: PreparedTexts) -> set[MemoryId]:
    """Those of these memories that are close to a text in their words. Of the others nothing else is read."""
    contents = tx.memories.contents(ids) if ids else {}
    return {
        id
        for id, content in contents.items()
        if may_be_close(text, content) and likeness(text, texts.of(content)) is not Likeness.DIFFERENT
    }


def _cosines(tx: Tx, fresh: Fresh | None, where: Filter) -> dict[MemoryId, float]:
    if fresh is None:
        return {}
    nearest = tx.embeddings.nearest(
        Embedded.MEMORIES,
        fresh.space_id,
        fresh.vectors[0],
        where,
        NEAREST,
        STORING,
    )
    return {MemoryId(id): cosine for id, cosine in nearest.items() if not parts.number_of(id)}


def _vectors(tx: Tx, fresh: Fresh | None, ids: Sequence[MemoryId]) -> dict[int, tuple[Vector, Vector]]:
    """The vectors of memories, each beside that of the text."""
    if fresh is None or not ids:
        return {}
    there = tx.embeddings.vectors_of(fresh.space_id, ids)
    return {id: (vector, fresh.vectors[0]) for id, vector in there.items()}


def _phrases(text: Text) -> list[str]:
    """The words that a memory which says the same has too: no numbers and small words, which have other spellings."""
    found = [word for word in text.words if is_key(word)] or list(text.words)
    return list(map(query.index_phrase, found))


def _with_successor(
    tx: Tx, found: Compared, written: Written, texts: PreparedTexts, without: Collection[MemoryId]
) -> Compared:
    old = found.restated
    if found.twin is not None or old is None or old.superseded_by is None:
        return found
    last = tx.memories.get(line_of(old.id, tx.edges.successors([old.id]))[-1])
    if last.id in without or last.person != written.person:
        return found
    there = [each for each in found.similar if each.memory.id != last.id]
    there_now = texts.of(last.content)
    told = differences.told(there_now, written.text, updates.aligned(there_now.wording, written.text.wording))
    named = (*there[: similar.MOST - 1], Similar(last, told))
    return replace(found, similar=named, maybe_replaced=(last.id,))
