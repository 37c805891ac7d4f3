"""Moves a memory into another database while servers use it.

First all rows are copied, as of one moment. Then what was written since is copied, again and again, until little is
left. Then the writes wait: the rest is copied, the target is marked as whole, and the source is left with the address
of the target. Each server is told that address by its next transaction, and goes there.

Until the source is left, the target is an unfinished copy that nobody uses; from then on it is the memory. So a move
that was killed can be repeated, or given up.
"""

import time
from contextlib import closing
from dataclasses import dataclass

from memory_server.domain.exchange.pages import pages
from memory_server.errors import Conflict
from memory_server.storage.columns import TABLES, Table
from memory_server.storage.copying import ComparedRows, Key, Leaving, MoveTarget
from memory_server.transfer.copying import CopyRun, Progress

FEW = 200
"""Rows of a pass: so few are left that the rest can be copied while the writes wait."""

PASSES = 10
"""Passes at most before the writes wait: more are written all the time."""


@dataclass(frozen=True, slots=True)
class Move:
    """A finished move: its rows, those that were written while they were copied, and the seconds that writes waited."""

    rows: int
    since: int
    waited: float


def move(
    source: Leaving,
    name: str,
    target: MoveTarget,
    address: str,
    progress: Progress = lambda _done, _total: None,
) -> Move | None:
    """Move everything of the source to the target, whose address is what servers are told. Both are closed.

    Return None where the source had been left already: then the target was only opened.

    Raises:
        Conflict: the target is not empty, or holds an unfinished copy of something else.
        Unavailable: a database cannot be reached or used any more. The move goes on when it is repeated.
    """
    with closing(source), closing(target):
        if source.begin(address):
            target.open()
            return None
        run = CopyRun(target, progress)
        with source.look() as moment:
            mark = moment.mark()
            rows = sum(table.rows for table in run.fill(moment, name).tables)
        target.check()
        since = 0
        for _ in range(PASSES):
            with source.look() as moment:
                next_mark = moment.mark()
                number = _catch_up(moment, target, mark)
            mark, since = next_mark, since + number
            if number <= FEW:
                break
        with source.pause(address) as moment:
            began = time.monotonic()
            since += _catch_up(moment, target, mark)
            target.complete(moment.highest_ids())
        waited = time.monotonic() - began
        target.open()
        return Move(rows, since, waited)


def purge(source: Leaving, target: MoveTarget, address: str) -> int:
    """Delete what a move left behind; return the number of rows. Both are closed.

    Raises:
        Conflict: the source has not moved there.
        Unavailable: a database cannot be reached, or the target is not there.
    """
    with closing(source), closing(target):
        if not source.begin(address):
            raise Conflict(f"It has not moved to {address}. Nothing was deleted.")
        target.open()
        return source.purge()


def _catch_up(source: ComparedRows, target: MoveTarget, mark: str) -> int:
    """Copy what was written since the mark; return the number of rows.

    The tables stand in the order in which rows need each other. What triggers of the target did to a table, for rows of
    an earlier one, is undone when its turn comes.
    """
    own_mark = target.mark()
    return sum(_catch_up_in(source, target, table, mark, own_mark) for table in TABLES)


def _catch_up_in(source: ComparedRows, target: MoveTarget, table: Table, mark: str, own_mark: str) -> int:
    keys = {*source.changed(table, mark), *target.changed(table, own_mark), *_unequal(source, target, table)}
    for page in pages(sorted(keys)):
        target.replace(table, page, source.pick(table, page))
    return len(keys)


def _unequal(source: ComparedRows, target: MoveTarget, table: Table) -> set[Key]:
    """Return the keys that one of both has alone."""
    before, after = source.digests(table), target.digests(table)
    groups = [group for group in before.keys() | after.keys() if before.get(group) != after.get(group)]
    if not groups:
        return set()
    return set(source.keys(table, groups)) ^ set(target.keys(table, groups))
