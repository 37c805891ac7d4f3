"""The word indices: quotes the phrases of their queries, and tells if they hold Chinese."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.sqlite.tx import Tx
from memory_server.storage.words import COMMON_HAN


def quoted(term: str) -> str:
    """Quote a term as an FTS5 phrase, so that no character of it is syntax."""
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def any_of(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))


@dataclass(frozen=True, slots=True)
class Words:
    """The table of `tx.words`: see `storage.words.Words`."""

    tx: Tx

    def holds_han(self) -> bool:
        keyword = """
            SELECT 1
            FROM conversations AS c
            JOIN short_term_keywords AS k ON k.conversation_id = c.id AND k.word >= '㐀' AND k.word < 'ꀀ'
            LIMIT 1
        """
        return self.tx.value(keyword) is not None or any(
            self.tx.value(f"SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT 1", (any_of(COMMON_HAN),))
            is not None
            for index in ("memory_words", "fact_words", "turn_words")
        )
