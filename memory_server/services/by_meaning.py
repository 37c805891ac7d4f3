"""Finds what a text is likely about, by words and meaning together: for a process that has an embedder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain import reminding
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.reminding import Shared
from memory_server.language import asking
from memory_server.services import by_words
from memory_server.services.by_words import Told
from memory_server.services.recall import RecallService, RecallWish

_WISH = RecallWish(frozenset({Recallable.MEMORY, Recallable.FACT, Recallable.TURN}))

LOOKED_AT = 20
"""Texts, the best of a search, whose words are looked at: those behind them are never likely."""


@dataclass(frozen=True, slots=True)
class ByMeaning:
    recall: RecallService

    def find(self, text: str, told_rows: Told, caller: Caller) -> Sequence[Found]:
        """Return the memories, facts and turns, of the caller's project and of none, that a text is likely about.

        Best first. By words alone, without those of `told_rows`, while no embedder that knows meaning answers.
        """
        if not self.recall.queue.knows_meaning:
            return by_words.find(self.recall.database, text, told_rows, caller)
        likely = [
            replace(hit, score=reminding.with_meaning(hit.score, shared))
            for hit, shared in self.nearest(text, caller)
            if reminding.is_likely(hit.score, shared)
        ]
        return sorted(likely, key=lambda hit: -hit.score)

    def nearest(self, text: str, caller: Caller) -> list[tuple[Found, Shared | None]]:
        """Search for the text; return the first hits, each with the words that it shares with the text.

        There are none where it is a question for a fact that `recall` does not answer.
        """
        found = self.recall.find(text, _WISH, caller)
        if asking.asks_for_a_fact(text) and not found.answered:
            return []
        own_hits = [hit for hit in found.hits if hit.project is None][:LOOKED_AT]
        with self.recall.database.read() as tx:
            shared = by_words.shared_by(tx, by_words.terms_of(text))
        of_row = {
            (by_words.KINDS[index], id): shared_words
            for index, rows in shared.items()
            for id, shared_words in rows.items()
        }
        return [(hit, of_row.get((Injected(hit.kind.value), hit.id))) for hit in own_hits]
