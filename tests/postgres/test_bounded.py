"""Lists of what was written last, the log and the timeline do not read all rows for the few that they show."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest

from memory_server.domain.change import ChangeFilter
from memory_server.domain.embedding import Space
from memory_server.domain.memory import Filter
from memory_server.domain.recall import Recallable
from memory_server.postgres.database import Database
from memory_server.storage.tx import Tx
from memory_server.where import Postgres
from tests.conftest import Clock
from tests.postgres import plans
from tests.postgres_server import new_database

SPACE = Space("hashing", "m", "1", 2, "", "", "", True, True, "f")
ROWS = 10_000
SHOWN = 10
SINCE, UNTIL = "2026-01-07T21:00:00.000Z", "2026-01-09T00:00:00.000Z"
"""A moment after which a hundredth of the rows was written."""

_AT = "to_char(timestamp '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

FILL = f"""
    INSERT INTO memories (id, content, type, project, created_at, accessed_at)
    SELECT n, 'memory ' || n, 'learning', 'p' || mod(n, 7), {_AT}, {_AT} FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO edges (id, source_id, target_id, relation, valid_from)
    SELECT n, n, n + 1, 'related_to', {_AT} FROM generate_series(1, {ROWS - 1}) AS n;
    INSERT INTO turns (id, message, summary, project, created_at)
    SELECT n, 'm', 's', 'p' || mod(n, 7), {_AT} FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO facts (id, scope, key, value, updated_at)
    SELECT n, 'global', n, '1', {_AT} FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO conversations (id, name) VALUES (1, 'default');
    INSERT INTO short_term_memories (id, conversation_id, text, said_at)
    SELECT n, 1, 's', {_AT} FROM generate_series(1, {ROWS}) AS n
"""


def _newest(kind: Recallable, tx: Tx) -> object:
    return tx.newest.select(kind, None, None, None, SHOWN)


READS: dict[str, Callable[[Tx], object]] = {
    "memories": lambda tx: tx.candidates.newest(Filter(), SHOWN, 0),
    **{
        kind.value: partial(_newest, kind)
        for kind in (Recallable.TURN, Recallable.FACT, Recallable.SHORT_TERM)
    },
    "days": lambda tx: tx.embeddings.nearest_within(
        1, np.ones(2, np.float32), Filter(), "2026-01-07T20", SINCE, SHOWN
    ),
    "log": lambda tx: tx.log.select(ChangeFilter(), SHOWN),
    "timeline": lambda tx: tx.timeline.counts(SINCE, UNTIL),
}


@pytest.fixture(scope="module")
def filled() -> Iterator[Database]:
    """Many more rows than are shown. Do not change it."""
    place = Postgres(new_database())
    database = Database(place, Clock())
    with database.write() as tx:
        for statement in FILL.split(";"):
            tx.send(statement)
        space = tx.spaces.open(SPACE).id
        tx.send("INSERT INTO embeddings (space_id, memory_id, vector) VALUES (%s, 1, '[1, 2]')", (space,))
    plans.analyze(place.url)
    yield database
    database.close()


@pytest.mark.parametrize("name", READS)
def test_rows_that_are_not_shown_are_not_read(filled: Database, name: str) -> None:
    with filled.read() as tx:
        with plans.asked() as statements:
            READS[name](tx)
        found = plans.plans(tx, statements)
    assert sum(map(plans.rows_read, found)) < ROWS / 10
