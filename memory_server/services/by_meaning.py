"""What a text is likely about, by words and meaning together: for a process that has an embedder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain import reminding
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.reminding import Shared
from memory_server.services import by_words
from memory_server.services.by_words import Told
from memory_server.services.recall import RecallService, RecallWish

_WISH = RecallWish(frozenset({Recallable.MEMORY, Recallable.FACT, Recallable.TURN}))

LOOKED_AT = 20
"""Texts, the best of a search, whose words are looked at: those behind them are never likely."""


@dataclass(frozen=True, slots=True)
class ByMeaning:
    recall: RecallService

    def find(self, text: str, told: Told, caller: Caller) -> Sequence[Found]:
        """The memories, facts and turns of the caller's project and of none that a text is likely about, best first.

        By words alone, without those of `told`, while no embedder that knows meaning answers.
        """
        if not self.recall.queue.knows_meaning:
            return by_words.find(self.recall.database, text, told, caller)
        likely = [
            replace(each, score=reminding.with_meaning(each.score, shared))
            for each, shared in self.nearest(text, caller)
            if reminding.is_likely(each.score, shared)
        ]
        return sorted(likely, key=lambda each: -each.score)

    def nearest(self, text: str, caller: Caller) -> list[tuple[Found, Shared | None]]:
        """What a search for the text finds first, and the words that each shares with it."""
        found, _, _ = self.recall.find(text, _WISH, caller)
        own = [each for each in found if each.project is None][:LOOKED_AT]
        with self.recall.database.read() as tx:
            shared = by_words.shared_by(tx, by_words.terms_of(text))
        of_row = {
            (by_words.KINDS[index], id): each for index, rows in shared.items() for id, each in rows.items()
        }
        return [(each, of_row.get((Injected(each.kind.value), each.id))) for each in own]
