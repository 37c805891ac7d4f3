"""What PostgreSQL does for the statements of a call."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from memory_server.postgres.tx import Tx, Values


@contextmanager
def asked() -> Iterator[list[tuple[str, Values]]]:
    """The statements of the block that give rows, with their values."""
    found: list[tuple[str, Values]] = []
    real = Tx.ask

    def ask(self: Tx, sql: str, values: Values = (), binary: bool = False) -> Any:
        found.append((sql, values))
        return real(self, sql, values, binary)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tx, "ask", ask)
        yield found


def plans(tx: Tx, statements: Sequence[tuple[str, Values]]) -> list[dict[str, Any]]:
    """Each statement is run again: the root of its plan, with how many rows each node gave."""
    return [
        tx.value(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values)[0]["Plan"] for sql, values in statements
    ]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All nodes of a plan."""
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


def rows_read(plan: dict[str, Any]) -> int:
    """How many rows the nodes read that read a table, also those that they passed over."""
    return sum(
        round((each["Actual Rows"] + each.get("Rows Removed by Filter", 0)) * each["Actual Loops"])
        for each in nodes(plan)
        if "Relation Name" in each
    )


def analyze(url: str) -> None:
    """Let the planner know what is there, as PostgreSQL does by itself after a while."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
