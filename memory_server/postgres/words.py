"""The word indices: tells if they hold Chinese."""

from dataclasses import dataclass

from memory_server.postgres import terms
from memory_server.postgres.tx import Tx
from memory_server.storage.words import COMMON_HAN


@dataclass(frozen=True, slots=True)
class Words:
    """The table of `tx.words`: see `storage.words.Words`."""

    tx: Tx

    def holds_han(self) -> bool:
        in_texts = [
            f"EXISTS (SELECT 1 FROM {index}_some(%(any)s::tsquery, '{{}}', 1))"
            for index in ("memory_words", "fact_words", "turn_words")
        ]
        holds = self.tx.value(
            f"""
            SELECT EXISTS (
                SELECT 1
                FROM conversations AS c
                JOIN short_term_keywords AS k ON k.conversation_id = c.id AND k.word >= '㐀' AND k.word < 'ꀀ'
            ) OR {" OR ".join(in_texts)}
            """,
            {"any": terms.any_of(self.tx.tenant, COMMON_HAN)},
        )
        return bool(holds)
