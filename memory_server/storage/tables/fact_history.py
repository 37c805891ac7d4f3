"""The table `fact_history`: every value that a key has had. Triggers write it; it is read and explained here."""

from dataclasses import dataclass
from typing import Any

from memory_server.domain.fact import Action, Fact, FactChange, Home, Scope
from memory_server.storage import fact_rows
from memory_server.storage.statements import Statements

_OF_KEY = "scope = :scope AND owner = :owner AND key = :key"


def _key(home: Home, key: str) -> dict[str, Any]:
    return {"scope": home.scope.value, "owner": home.owner, "key": key}


@dataclass(frozen=True, slots=True)
class FactHistory:
    tx: Statements

    def select(self, home: Home, key: str, limit: int | None) -> list[FactChange]:
        """Return the steps of a key, the newest first; None: all of them."""
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.CHANGE}
            FROM fact_history
            WHERE {_OF_KEY}
            ORDER BY id DESC
            {"" if limit is None else "LIMIT :limit"}
            """,
            {**_key(home, key), "limit": limit},
        )
        return [fact_rows.change(row) for row in rows]

    def first(self, home: Home, key: str) -> int:
        """Return the number of the first step of a key, which has one."""
        number = self.tx.value(f"SELECT min(id) FROM fact_history WHERE {_OF_KEY}", _key(home, key))
        return int(str(number))

    def writers(self, home: Home, key: str) -> list[str | None]:
        """Return the people who have written the values of a key, each once.

        None stands for the owner and the unknown.
        """
        rows = self.tx.rows(f"SELECT DISTINCT writer FROM fact_history WHERE {_OF_KEY}", _key(home, key))
        return [writer for (writer,) in rows]

    def find(self, number: int) -> FactChange | None:
        """Return one step."""
        row = self.tx.row(f"SELECT {fact_rows.CHANGE} FROM fact_history WHERE id = :id", {"id": number})
        return None if row is None else fact_rows.change(row)

    def find_last(self, home: Home, key: str, until: str | None = None) -> FactChange | None:
        """Return the last step of a key, or the last one up to a moment."""
        row = self.tx.row(
            f"""
            SELECT {fact_rows.CHANGE}
            FROM fact_history
            WHERE {_OF_KEY} {"" if until is None else "AND changed_at <= :until"}
            ORDER BY id DESC
            LIMIT 1
            """,
            {**_key(home, key), "until": until},
        )
        return None if row is None else fact_rows.change(row)

    def changed_at(self, home: Home, key: str) -> str | None:
        """Return when a key got its present value, or lost its value; None where it never had another one."""
        moment = self.tx.value(
            f"""
            WITH steps (id, action, value, changed_at) AS (
                SELECT id, action, value, changed_at FROM fact_history WHERE {_OF_KEY}
            ),
            last (action, value) AS (SELECT action, value FROM steps ORDER BY id DESC LIMIT 1),
            before (id) AS (
                SELECT max(steps.id) FROM steps, last WHERE steps.action <> last.action OR steps.value <> last.value
            )
            SELECT min(changed_at) FROM steps, before WHERE steps.id > before.id
            """,
            _key(home, key),
        )
        return None if moment is None else str(moment)

    def deleted_before(self, before: str, moment: str, limit: int | None) -> list[tuple[Home, str]]:
        """Return the keys without a value whose last was deleted before `before`, or would have expired by `moment`."""
        rows = self.tx.rows(
            f"""
            SELECT scope, owner, key
            FROM fact_history AS h
            WHERE action = 'deleted' AND (changed_at < :before OR expires_at <= :moment AND NOT EXISTS (
                    SELECT 1
                    FROM fact_history AS o
                    WHERE (o.scope, o.owner, o.key) = (h.scope, h.owner, h.key) AND o.writer IS DISTINCT FROM h.writer
                ))
                AND NOT EXISTS (SELECT 1 FROM facts WHERE scope = h.scope AND owner = h.owner AND key = h.key)
                AND id = (SELECT max(id) FROM fact_history WHERE scope = h.scope AND owner = h.owner AND key = h.key)
            ORDER BY id
            {"" if limit is None else "LIMIT :limit"}
            """,
            {"before": before, "moment": moment, "limit": limit},
        )
        return [(Home(Scope(scope), owner), key) for scope, owner, key in rows]


@dataclass(frozen=True, slots=True)
class WritableFactHistory(FactHistory):
    def blank(self, fact: Fact) -> None:
        """Take the values of its writer out of a key's history: what has expired leaves none behind. The steps stay."""
        self.tx.send(
            f"""
            UPDATE main.fact_history
            SET value = 'null', tags = '[]'
            WHERE {_OF_KEY} AND writer IS NOT DISTINCT FROM :writer
            """,
            {**_key(fact.home, fact.key), "writer": fact.writer},
        )

    def erase(self, home: Home, key: str) -> int:
        """Erase a key's history, and return how many steps it had."""
        return self.tx.change(f"DELETE FROM main.fact_history WHERE {_OF_KEY}", _key(home, key))

    def explain(self, fact: Fact, action: Action, moment: str, client: str | None) -> None:
        """Say of the newest step of a key, which a trigger wrote, what it was, when, and who took it."""
        self.tx.send(
            f"""
            UPDATE main.fact_history
            SET action = :action, changed_at = :moment, changed_by = :client
            WHERE id = (SELECT max(id) FROM fact_history WHERE {_OF_KEY})
            """,
            {**_key(fact.home, fact.key), "action": action.value, "moment": moment, "client": client},
        )
