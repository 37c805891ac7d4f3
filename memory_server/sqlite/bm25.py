"""An SQL function that scores a few rows of a word index. FTS5's `bm25()` first counts all rows that hold the word."""

from typing import Any

import apsw

from memory_server.domain import ranking
from memory_server.domain.ranking import K1, B


def install(connection: apsw.Connection) -> None:
    """Give the connection `bm25_of`, for our own statements; no trigger or view in the file may use it.

    `bm25_of(index, holding)` equals `-bm25(index)` to the last digit, for a row that matches one phrase; `holding` is
    the number of rows that hold the phrase. It takes 3 µs a row. FTS5's takes 1 µs a row, and 0.07 µs for each row of
    the index that holds the phrase.
    """
    connection.register_fts5_function("bm25_of", _bm25)


def _bm25(row: apsw.FTS5ExtensionApi, *arguments: Any) -> float:
    weights: tuple[float, float] | None = row.aux_data  # of this phrase
    if weights is None:
        (holding,) = arguments
        average = row.column_total_size(-1) / row.row_count
        weights = row.aux_data = (ranking.fts5_idf(holding, row.row_count), average)
    rarity, average = weights
    times = row.inst_count
    return rarity * (times * (K1 + 1.0) / (times + K1 * (1 - B + B * row.column_size(-1) / average)))
