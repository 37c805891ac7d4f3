"""The table `fact_history`: every value that a key has had. Triggers write it; it is read and explained here."""

from dataclasses import dataclass

from memory_server.domain.fact import Action, Fact, FactChange, Home, Scope
from memory_server.sqlite.tx import Tx, no_more_than
from memory_server.storage import fact_rows


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

    def select(self, home: Home, key: str, limit: int | None) -> list[FactChange]:
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.CHANGE}
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ?
            ORDER BY id DESC
            LIMIT ?
            """,
            (home.scope.value, home.owner, key, no_more_than(limit)),
        )
        return [fact_rows.change(row) for row in rows]

    def writers(self, home: Home, key: str) -> list[str | None]:
        rows = self.tx.rows(
            """
            SELECT DISTINCT writer
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ?
            """,
            (home.scope.value, home.owner, key),
        )
        return [writer for (writer,) in rows]

    def find(self, number: int) -> FactChange | None:
        row = self.tx.row(f"SELECT {fact_rows.CHANGE} FROM fact_history WHERE id = ?", (number,))
        return None if row is None else fact_rows.change(row)

    def find_last(self, home: Home, key: str, until: str | None = None) -> FactChange | None:
        row = self.tx.row(
            f"""
            SELECT {fact_rows.CHANGE}
            FROM fact_history
            WHERE scope = ? AND owner = ? AND key = ? AND (? IS NULL OR changed_at <= ?)
            ORDER BY id DESC
            LIMIT 1
            """,
            (home.scope.value, home.owner, key, until, until),
        )
        return None if row is None else fact_rows.change(row)

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

    def blank(self, fact: Fact) -> None:
        """Take the values of its writer out of a key's history: what has expired leaves none behind. The steps stay."""
        self.tx.execute(
            """
            UPDATE main.fact_history
            SET value = 'null', tags = '[]'
            WHERE scope = ? AND owner = ? AND key = ? AND writer IS ?
            """,
            (fact.home.scope.value, fact.home.owner, fact.key, fact.writer),
        )

    def erase(self, home: Home, key: str) -> int:
        """Erase a key's history; how many steps it had."""
        return self.tx.execute(
            "DELETE FROM main.fact_history WHERE scope = ? AND owner = ? AND key = ?",
            (home.scope.value, home.owner, key),
        )

    def deleted_before(self, before: str, moment: str, limit: int | None) -> list[tuple[Home, str]]:
        rows = self.tx.rows(
            """
            SELECT scope, owner, key
            FROM fact_history AS h
            WHERE action = 'deleted' AND (changed_at < ? OR expires_at <= ? AND NOT EXISTS (
                    SELECT 1
                    FROM fact_history AS o
                    WHERE (o.scope, o.owner, o.key) = (h.scope, h.owner, h.key) AND o.writer IS NOT h.writer
                ))
                AND NOT EXISTS (SELECT 1 FROM facts WHERE scope = h.scope AND owner = h.owner AND key = h.key)
                AND id = (SELECT max(id) FROM fact_history WHERE scope = h.scope AND owner = h.owner AND key = h.key)
            ORDER BY id
            LIMIT ?
            """,
            (before, moment, no_more_than(limit)),
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
