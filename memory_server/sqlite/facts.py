"""The table `facts` and the index of its words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, Fact, FactDraft, FactFilter, Headline, Home, Scope, tagged
from memory_server.sqlite.tx import Tx, Value
from memory_server.sqlite.words import any_of
from memory_server.storage import fact_rows
from memory_server.storage.tables.fact_history import WritableFactHistory

_ALIVE = "(expires_at IS NULL OR expires_at > ?)"


def conditions(wanted: FactFilter, now: str) -> tuple[list[str], list[Value]]:
    """The filter as clauses on `facts AS m`, beside their values; what has expired never passes."""
    clauses: list[str] = ["(m.expires_at IS NULL OR m.expires_at > ?)"]
    values: list[Value] = [now]
    if wanted.homes is not None:
        # The + keeps SQLite from reading all facts of these scopes where few are asked for.
        clauses.append(" OR ".join("(+m.scope = ? AND +m.owner = ?)" for _ in wanted.homes).join("()"))
        values += [each for home in wanted.homes for each in (home.scope.value, home.owner)]
        pairs = list(combinations(wanted.homes, 2))
        if pairs:
            clauses.append(f"m.id NOT IN ({' UNION ALL '.join(_hidden(narrow) for narrow, _ in pairs)})")
            values += [
                each
                for narrow, wide in pairs
                for each in (narrow.scope.value, narrow.owner, wide.scope.value, wide.owner, now)
            ]
    for sign, moment in ((">=", wanted.since), ("<", wanted.until)):
        if moment is not None:
            clauses.append(f"julianday(m.updated_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


def _hidden(narrow: Home) -> str:
    """A statement for the facts of a wide scope that a narrow one hides, because their key has a value there.

    Its values: scope and owner of the narrow one, scope and owner of the wide one, now.
    The keys of the scope that probably has fewer are looked up in the other: a session has few, a project has many.
    """
    tables = ["facts AS narrow", "facts AS wide"]
    if narrow.scope is not Scope.SESSION:
        tables.reverse()
    return f"""
        SELECT wide.id
        FROM {" CROSS JOIN ".join(tables)}
        WHERE narrow.scope = ? AND narrow.owner = ? AND wide.scope = ? AND wide.owner = ? AND wide.key = narrow.key
            AND (narrow.expires_at IS NULL OR narrow.expires_at > ?)
    """


def _within(homes: Sequence[Home]) -> tuple[str, list[Value]]:
    """Any of these scopes as a clause, beside its values."""
    clause = " OR ".join("(scope = ? AND owner = ?)" for _ in homes)
    return f"({clause})", [each for home in homes for each in (home.scope.value, home.owner)]


@dataclass(frozen=True, slots=True)
class Facts:
    """The table `facts` and the index of its words."""

    tx: Tx

    def find(self, home: Home, key: str) -> Fact | None:
        row = self.tx.row(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE scope = ? AND owner = ? AND key = ? AND {_ALIVE}
            """,
            (home.scope.value, home.owner, key, self.tx.now),
        )
        return None if row is None else fact_rows.fact(row)

    def first(self, homes: Sequence[Home], key: str) -> Fact | None:
        found = (self.find(home, key) for home in homes)
        return next((fact for fact in found if fact is not None), None)

    def insert(self, home: Home, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        row = self.tx.one(
            f"""
            INSERT INTO main.facts
                (scope, owner, key, value, tags, version, created_at, updated_at, expires_at,
                 created_by, updated_by, session, writer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING {fact_rows.FACT}
            """,
            (
                home.scope.value,
                home.owner,
                draft.key,
                fact_rows.as_json(draft.value),
                fact_rows.as_json(draft.tags),
                WritableFactHistory(self.tx).last_version(home, draft.key) + 1,
                self.tx.now,
                self.tx.now,
                expires_at,
                caller.author,
                caller.author,
                caller.session,
                self.tx.owner,
            ),
        )
        return fact_rows.fact(row)

    def replace(self, fact: Fact, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        row = self.tx.one(
            f"""
            UPDATE main.facts
            SET value = ?, tags = ?, version = ?, updated_at = ?, expires_at = ?, updated_by = ?, session = ?,
                writer = ?
            WHERE id = ?
            RETURNING {fact_rows.FACT}
            """,
            (
                fact_rows.as_json(draft.value),
                fact_rows.as_json(draft.tags),
                fact.version + 1,
                self.tx.now,
                expires_at,
                caller.author,
                caller.session,
                self.tx.owner,
                fact.id,
            ),
        )
        return fact_rows.fact(row)

    def delete(self, fact: Fact, caller: Caller) -> None:
        self._remove(fact, Action.DELETED, self.tx.now, caller.author)

    def let_go(self, fact: Fact) -> None:
        self._remove(fact, Action.EXPIRED, fact.expires_at or self.tx.now, None)
        WritableFactHistory(self.tx).blank(fact)

    def erase(self, home: Home, key: str) -> int:
        self.tx.execute(
            "DELETE FROM main.facts WHERE scope = ? AND owner = ? AND key = ?",
            (home.scope.value, home.owner, key),
        )
        return WritableFactHistory(self.tx).erase(home, key)

    def _remove(self, fact: Fact, action: Action, moment: str, client: str | None) -> None:
        self.tx.execute("DELETE FROM main.facts WHERE id = ?", (fact.id,))
        WritableFactHistory(self.tx).explain(fact, action, moment, client)

    def expired(self, moment: str, limit: int) -> list[Fact]:
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE expires_at IS NOT NULL AND expires_at <= ?
            LIMIT ?
            """,
            (moment, limit),
        )
        return [fact_rows.fact(row) for row in rows]

    def expired_at(self, home: Home, key: str) -> Fact | None:
        row = self.tx.row(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE scope = ? AND owner = ? AND key = ? AND expires_at <= ?
            """,
            (home.scope.value, home.owner, key, self.tx.now),
        )
        return None if row is None else fact_rows.fact(row)

    def headlines(
        self, homes: Sequence[Home], prefix: str = "", tags: tuple[str, ...] = (), newest_first: bool = False
    ) -> list[Headline]:
        where, values = _within(homes)
        rows = self.tx.rows(
            f"""
            SELECT id, key, scope, owner, updated_at, tags
            FROM facts
            WHERE {where} AND {_ALIVE} AND substr(key, 1, ?) = ?
            ORDER BY {"updated_at DESC, id DESC" if newest_first else "key, scope"}
            """,
            (*values, self.tx.now, len(prefix), prefix),
        )
        known = {(home.scope.value, home.owner): home for home in homes}
        return [
            Headline(row[0], row[1], known[row[2], row[3]], row[4])
            for row in rows
            if not tags or tagged(fact_rows.tags_of(row[5]), tags)
        ]

    def select(self, ids: Sequence[int]) -> list[Fact]:
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (fact_rows.as_json(list(ids)),),
        )
        found = {row[0]: fact_rows.fact(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def mark_accessed(self, ids: Sequence[int]) -> None:
        self.tx.execute(
            """
            UPDATE main.facts
            SET access_count = access_count + 1, accessed_at = ?
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (self.tx.now, json.dumps(list(ids))),
        )

    def mentioned(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        where, values = _within(homes)
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            JOIN (
                SELECT rowid AS found, bm25(fact_words) AS rank FROM fact_words WHERE fact_words MATCH ?
            ) ON found = id
            WHERE {where} AND {_ALIVE}
            ORDER BY rank, id DESC
            LIMIT ?
            """,
            (any_of(terms), *values, self.tx.now, limit),
        )
        return [fact_rows.fact(row) for row in rows]
