"""What a text is likely about, by words and meaning together: for a process that has an embedder."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.reminding import LIKELY_BY_MEANING
from memory_server.services import by_words
from memory_server.services.by_words import Told
from memory_server.services.recall import RecallService, RecallWish

_WISH = RecallWish(frozenset({Recallable.MEMORY, Recallable.FACT, Recallable.TURN}))


@dataclass(frozen=True, slots=True)
class ByMeaning:
    recall: RecallService

    def find(self, text: str, told: Told, caller: Caller) -> Sequence[Found]:
        """The memories, facts and turns of the caller's project and of none that a text is likely about, best first.

        By words alone, without those of `told`, while no embedder that knows meaning answers.
        """
        if not text or not self.recall.queue.knows_meaning:
            return by_words.find(self.recall.database, text, told, caller)
        found, _, _ = self.recall.find(text, _WISH, caller)
        return [each for each in found if each.score >= LIKELY_BY_MEANING and each.project is None]
