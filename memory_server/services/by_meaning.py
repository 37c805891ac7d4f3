"""Finds what a text is likely about, by words and meaning together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_server.domain import reminding
from memory_server.domain.caller import Caller
from memory_server.domain.edge import line_of
from memory_server.domain.injection import Injected
from memory_server.domain.memory import MemoryId
from memory_server.domain.recall import Found, Recallable, with_newer
from memory_server.domain.reminding import LIKELY, Shared
from memory_server.language import asking
from memory_server.services import retrieval, shared_words
from memory_server.services.recall import RecallService, RecallWish
from memory_server.storage.tx import Tx
from memory_server.storage.words import Index

_WISH = RecallWish(frozenset({Recallable.MEMORY, Recallable.FACT, Recallable.TURN}))

LOOKED_AT = 20
"""Texts, the best of a search, whose words are looked at: those behind them are never likely."""


@dataclass(frozen=True, slots=True)
class ByMeaning:
    recall: RecallService

    def find(self, text: str, caller: Caller) -> Sequence[Found]:
        """Return the memories, facts and turns, of the caller's project and of none, that a text is likely about.

        Best first. While no embedder that knows meaning answers, those are likely that share telling words.
        """
        knows_meaning = self.recall.queue.knows_meaning
        nearest = self.nearest(text, caller)
        likely = [
            replace(hit, score=reminding.with_meaning(hit.score, shared))
            for hit, shared in nearest
            if reminding.is_likely(hit.score if knows_meaning else 0.0, shared)
        ]
        likely.sort(key=lambda hit: -hit.score)
        return with_newer(likely, [hit for hit, _ in nearest])

    def nearest(self, text: str, caller: Caller) -> list[tuple[Found, Shared | None]]:
        """Search for the text; return the first hits, each with the words that it shares with the text.

        There are none where it is a question for a fact that `recall` does not answer.
        """
        reading = self.recall.reading(text, _WISH, caller)
        found, shared = self.recall.queue.read(
            retrieval.questions(text),
            lambda tx, meaning: tx.together(lambda: reading(tx, meaning), lambda: _shared(tx, text)),
        )
        if asking.asks_for_a_fact(text) and not found.answered:
            return []
        own_hits = [hit for hit in found.hits if hit.project is None][:LOOKED_AT]
        of_kind = {shared_words.KINDS[index]: rows for index, rows in shared.items()}
        return [(hit, of_kind[Injected(hit.kind.value)].get(hit.id)) for hit in own_hits]


def _shared(tx: Tx, text: str) -> dict[Index, dict[int, Shared]]:
    """Return what rows share with the text; a memory that took the place of another, what that one shares too."""
    shared = shared_words.shared_by(tx, shared_words.terms_of(text))
    shared[Index.MEMORY] |= _of_successors(tx, shared[Index.MEMORY])
    return shared


def _of_successors(tx: Tx, shared: Mapping[int, Shared]) -> dict[int, Shared]:
    """Return the likely memories that took the place of others, which share more, with what those share."""
    likely = [MemoryId(id) for id, share in shared.items() if share.probability >= LIKELY]
    line = tx.edges.successors(likely) if likely else {}
    newest = {id: line_of(id, line)[-1] for id in likely if line_of(id, line)}
    return {
        new: shared[id]
        for id, new in newest.items()
        if new not in shared or shared[id].probability > shared[new].probability
    }
