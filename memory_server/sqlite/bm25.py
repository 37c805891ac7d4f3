"""An SQL function that scores a few rows of a word index. FTS5's `bm25()` first counts all rows that hold the word."""

from typing import Any

import apsw

from memory_server.domain import ranking
from memory_server.domain.ranking import K1, B


def install(connection: apsw.Connection) -> None:
    """Give the connection `bm25_of`, for our own statements: nothing that stands in the file may need it.

    `bm25_of(index, holding)` equals `-bm25(index)` to the last digit, for a row that matches one phrase. `holding` says
    how many rows hold the phrase. It takes 3 µs a row. FTS5's takes 1 µs a row, and 0.07 µs for each row of the index
    that holds the phrase.
    """
    connection.register_fts5_function("bm25_of", _bm25)


def _bm25(row: apsw.FTS5ExtensionApi, *asked: Any) -> float:
    known: tuple[float, float] | None = row.aux_data  # of this phrase
    if known is None:
        (holding,) = asked
        average = row.column_total_size(-1) / row.row_count
        known = row.aux_data = (ranking.fts5_idf(holding, row.row_count), average)
    rarity, average = known
    held = row.inst_count
    return rarity * (held * (K1 + 1.0) / (held + K1 * (1 - B + B * row.column_size(-1) / average)))
