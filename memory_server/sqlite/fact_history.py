"""The table `fact_history`: every value that a key has had. Triggers write it; it is read and explained here."""

import json
from dataclasses import dataclass
from typing import Any

from memory_server.domain.fact import Action, Fact, FactChange, Home, Scope, is_plain
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx

ROWS = (
    Rows(
        "fact_history",
        ("scope", "owner", "key", "action", "value", "tags", "expires_at", "changed_at", "changed_by"),
        moments=("expires_at", "changed_at"),
        json=("value", "tags"),
    ),
)

_COLUMNS = """
    id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by
"""


def _change(row: tuple[Any, ...]) -> FactChange:
    return FactChange(
        number=row[0],
        home=Home(Scope(row[1]), row[2]),
        key=row[3],
        version=row[4],
        action=Action(row[5]),
        value=value_of(row[6]),
        tags=tags_of(row[7]),
        expires_at=row[8],
        changed_at=row[9],
        changed_by=row[10],
    )


def value_of(text: str) -> Any:
    """The value; its bare text where a person has put in what no client could read: 1e999, hundreds of levels."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_plain(value) else text


def tags_of(text: str) -> tuple[str, ...]:
    """A person may have put numbers among them."""
    return tuple(str(tag) for tag in json.loads(text))


@dataclass(frozen=True, slots=True)
class FactHistory:
    """The table `fact_history`: every value that a key has had. Triggers write it; it is read and explained here."""

    tx: Tx

    def last_version(self, home: Home, key: str) -> int:
        """The highest version that the key has ever had, deletions counted; 0 for a new key."""
        version = self.tx.value(
            """
            SELECT max(version)
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ?
            """,
            (home.scope.value, home.owner, key),
        )
        return int(version or 0)

    def select(self, home: Home, key: str, limit: int) -> list[FactChange]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ?
            ORDER BY id DESC
            LIMIT ?
            """,
            (home.scope.value, home.owner, key, limit),
        )
        return [_change(row) for row in rows]

    def find(self, number: int) -> FactChange | None:
        row = self.tx.row(f"SELECT {_COLUMNS} FROM fact_history WHERE id = ?", (number,))
        return None if row is None else _change(row)

    def find_last(self, home: Home, key: str, until: str | None = None) -> FactChange | None:
        row = self.tx.row(
            f"""
            SELECT {_COLUMNS}
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ? AND (? IS NULL OR changed_at <= ?)
            ORDER BY id DESC
            LIMIT 1
            """,
            (home.scope.value, home.owner, key, until, until),
        )
        return None if row is None else _change(row)

    def changed_at(self, home: Home, key: str) -> str | None:
        row = self.tx.row(
            """
            WITH steps (id, action, value, changed_at) AS (
                SELECT id, action, value, changed_at
                FROM fact_history
                WHERE scope = ? AND owner = ? AND key = ?
            ),
            last (action, value) AS (SELECT action, value FROM steps ORDER BY id DESC LIMIT 1),
            before (id) AS (
                SELECT max(steps.id) FROM steps, last WHERE steps.action <> last.action OR steps.value <> last.value
            )
            SELECT min(changed_at) FROM steps, before WHERE steps.id > before.id
            """,
            (home.scope.value, home.owner, key),
        )
        return None if row is None or row[0] is None else str(row[0])

    def blank(self, home: Home, key: str) -> None:
        """Take the values out of a key's history: what has expired leaves none behind. The steps stay."""
        self.tx.execute(
            "UPDATE main.fact_history SET value = 'null', tags = '[]' WHERE scope = ? AND owner = ? AND key = ?",
            (home.scope.value, home.owner, key),
        )

    def erase(self, home: Home, key: str) -> int:
        """Erase a key's history; how many steps it had."""
        return self.tx.execute(
            "DELETE FROM main.fact_history WHERE scope = ? AND owner = ? AND key = ?",
            (home.scope.value, home.owner, key),
        )

    def deleted_before(self, moment: str, limit: int) -> list[tuple[Home, str]]:
        rows = self.tx.rows(
            """
            SELECT scope, owner, key
            FROM fact_history AS h
            WHERE action = 'deleted' AND (changed_at < ? OR expires_at <= ?)
                AND NOT EXISTS (SELECT 1 FROM facts WHERE scope = h.scope AND owner = h.owner AND key = h.key)
                AND id = (SELECT max(id) FROM fact_history WHERE scope = h.scope AND owner = h.owner AND key = h.key)
            ORDER BY id
            LIMIT ?
            """,
            (moment, self.tx.now, limit),
        )
        return [(Home(Scope(scope), owner), key) for scope, owner, key in rows]

    def explain(self, fact: Fact, action: Action, moment: str, client: str | None) -> None:
        """Say of the newest step of a key, which a trigger wrote, what it was, when, and who took it."""
        self.tx.execute(
            """
            UPDATE main.fact_history
            SET action = ?, changed_at = ?, changed_by = ?
            WHERE id = (SELECT max(id) FROM fact_history WHERE scope = ? AND owner = ? AND key = ?)
            """,
            (action.value, moment, client, fact.home.scope.value, fact.home.owner, fact.key),
        )
