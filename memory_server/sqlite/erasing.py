"""Overwrites what deleted rows have left behind in the file."""

from memory_server.sqlite.database import WriteTx

_INDEXES = ("memory_words", "turn_words", "fact_words")


def erase_traces(tx: WriteTx) -> None:
    """Leave no byte of what was deleted: not in the word indexes, and not in unused parts of pages.

    FTS5's `optimize` will not do: it may keep the deleted words as marks of their deletion.
    """
    for index in _INDEXES:
        tx.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    tx.rewrite_file_afterwards()
