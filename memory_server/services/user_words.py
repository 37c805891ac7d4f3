"""Takes the words of the user into the keywords of what was said before."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.short_term import Keyword, ShortTermId, ShortTermMemory, keywords, messages_of
from memory_server.language.text import fold
from memory_server.nlp import KeywordExtractor
from memory_server.nlp.user_words import UserWords
from memory_server.storage.database import Database

PAGE = 200
"""Memories that are looked through at once."""


@dataclass(frozen=True, slots=True)
class UserWordsService:
    """Finds the keywords anew of each short-term memory that lacks a word of the dictionary which its text holds.

    So a memory that this process or another one with the same file has cut already is not cut again.
    """

    database: Database
    extractor: KeywordExtractor
    user_words: UserWords
    ignored: frozenset[str]
    """The words that are never keywords, as keywords are written."""

    def take_in(self) -> None:
        """Background work, once: go through all short-term memories."""
        if self.database.read_only:
            return
        self._ignore()
        last = ShortTermId(0)
        while self.user_words.weights:
            with self.database.read() as tx:
                page = tx.short_term.page(last, PAGE)
                holding = [(memory.id, word) for memory in page for word in self._words_in(memory.text)]
                lacking = tx.short_term.lacking(holding) if holding else []
            if not page:
                return
            last = page[-1].id
            lacked: dict[ShortTermId, set[str]] = {}
            for id, word in lacking:
                lacked.setdefault(id, set()).add(word)
            self._cut([memory for memory in page if memory.id in lacked], lacked)

    def _words_in(self, text: str) -> set[str]:
        return set(self.user_words.within(fold(text)))

    def _cut(self, memories: Sequence[ShortTermMemory], lacked: dict[ShortTermId, set[str]]) -> None:
        """Store the keywords of the memories that now have a word that they lacked."""
        cut: list[tuple[ShortTermMemory, list[Keyword]]] = []
        for memory in memories:
            found = keywords(messages_of(memory.text), self.extractor.extract, {})
            if not lacked[memory.id].isdisjoint(keyword.word for keyword in found):
                cut.append((memory, found))
        if not cut:
            return
        with self.database.write() as tx:
            for memory, found in cut:
                tx.short_term.replace_keywords(memory, found)

    def _ignore(self) -> None:
        """Delete the keywords that are ignored now."""
        ignored = sorted(self.ignored)
        with self.database.read() as tx:
            if not ignored or not tx.short_term.has_keyword(ignored):
                return
        with self.database.write() as tx:
            tx.short_term.delete_keywords(ignored)
