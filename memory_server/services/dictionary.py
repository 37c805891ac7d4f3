"""Loads the Chinese dictionary in the background where the file has Chinese; else the first Chinese text loads it."""

from dataclasses import dataclass

from memory_server.nlp import Segmenter
from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class DictionaryService:
    database: Database
    segmenter: Segmenter

    def load_if_used(self) -> None:
        """Background work: load the dictionary, so that the first Chinese text of a session does not wait for it."""
        with self.database.read() as tx:
            used = tx.words.holds_han()
        if used:
            self.segmenter.load()
