"""The table `facts`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, Fact, FactDraft, Headline, Home, tagged
from memory_server.storage import fact_rows
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.statements import Statements
from memory_server.storage.tables.fact_history import WritableFactHistory

ALIVE = "(expires_at IS NULL OR expires_at > :now)"
"""True for a fact that has not expired."""

_OF_KEY = "scope = :scope AND owner = :owner AND key = :key"


def within(homes: Sequence[Home]) -> tuple[str, dict[str, str]]:
    """Return a clause for the facts of any of these scopes, and its values."""
    places = [(f"scope{number}", f"owner{number}", home) for number, home in enumerate(homes)]
    clause = " OR ".join(f"(scope = :{scope} AND owner = :{owner})" for scope, owner, _ in places)
    values = {
        name: value
        for scope, owner, home in places
        for name, value in ((scope, home.scope.value), (owner, home.owner))
    }
    return f"({clause or 'false'})", values


@dataclass(frozen=True, slots=True)
class Facts:
    tx: Statements

    def find(self, home: Home, key: str) -> Fact | None:
        """Return the fact, unless it has expired."""
        return self.first([home], key)

    def first(self, homes: Sequence[Home], key: str) -> Fact | None:
        """Return the fact of the first of these scopes that has the key, unless it has expired.

        Raises:
            Unavailable: its row cannot be read.
        """
        where, values = within(homes)
        place = " ".join(
            f"WHEN scope = :scope{number} AND owner = :owner{number} THEN {number}"
            for number in range(len(homes))
        )
        row = self.tx.row(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE {where} AND key = :key AND {ALIVE}
            ORDER BY CASE {place} END
            LIMIT 1
            """,
            {**values, "key": key, "now": self.tx.now},
        )
        return None if row is None else fact_rows.fact(row)

    def expired(self, moment: str, limit: int) -> list[Fact]:
        """Return facts whose time was over at a moment and that are still in the table."""
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            WHERE expires_at IS NOT NULL AND expires_at <= :moment
            ORDER BY expires_at
            LIMIT :limit
            """,
            {"moment": moment, "limit": limit},
        )
        return [fact_rows.fact(row) for row in rows]

    def expired_at(self, home: Home, key: str) -> Fact | None:
        """Return the fact of this key, if its time is over."""
        row = self.tx.row(
            f"SELECT {fact_rows.FACT} FROM facts WHERE {_OF_KEY} AND expires_at <= :now",
            {"scope": home.scope.value, "owner": home.owner, "key": key, "now": self.tx.now},
        )
        return None if row is None else fact_rows.fact(row)

    def headlines(
        self,
        homes: Sequence[Home],
        prefix: str = "",
        tags: tuple[str, ...] = (),
        newest_first: bool = False,
        said_unasked: bool = False,
    ) -> list[Headline]:
        """Return the facts of these scopes whose key begins with a text and that have any of the tags.

        They come by key, or newest first. `said_unasked`: none that waits until a person confirms it.
        """
        where, values = within(homes)
        rows = self.tx.rows(
            f"""
            SELECT id, key, scope, owner, updated_at, tags
            FROM facts
            WHERE {where} AND {ALIVE} {"AND substr(key, 1, length(:prefix)) = :prefix" if prefix else ""}
                {f"AND {STANDS}" if said_unasked else ""}
            ORDER BY {"updated_at DESC, id DESC" if newest_first else "key, scope"}
            """,
            {**values, "now": self.tx.now, "prefix": prefix},
        )
        home_of = {(home.scope.value, home.owner): home for home in homes}
        return [
            Headline(id, key, home_of[scope, owner], updated_at)
            for id, key, scope, owner, updated_at, its_tags in rows
            if not tags or tagged(fact_rows.tags_of(its_tags), tags)
        ]

    def select(self, ids: Sequence[int]) -> list[Fact]:
        """Return these facts, in the order given."""
        rows = self.tx.rows(
            f"SELECT {fact_rows.FACT} FROM facts WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(ids)},
        )
        facts = {row[0]: fact_rows.fact(row) for row in rows}
        return [facts[id] for id in ids if id in facts]


@dataclass(frozen=True, slots=True)
class WritableFacts(Facts):
    def insert(self, home: Home, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        """Store a fact with its words. No version of its key is used twice."""
        row = self.tx.one(
            f"""
            INSERT INTO main.facts
                (scope, owner, key, value, tags, version, created_at, updated_at, expires_at,
                 created_by, updated_by, session, writer, origin)
            VALUES (
                CAST(:scope AS text), CAST(:owner AS text), CAST(:key AS text), :value, :tags,
                (SELECT coalesce(max(version), 0) + 1 FROM fact_history WHERE {_OF_KEY}),
                :now, :now, :expires_at, :author, :author, :session, :writer, :origin
            )
            RETURNING {fact_rows.FACT}
            """,
            {
                "scope": home.scope.value,
                "owner": home.owner,
                "key": draft.key,
                "value": fact_rows.as_json(draft.value),
                "tags": fact_rows.as_json(draft.tags),
                "now": self.tx.now,
                "expires_at": expires_at,
                "author": caller.author,
                "session": caller.session,
                "writer": self.tx.owner,
                "origin": _origin(draft, caller),
            },
        )
        fact = fact_rows.fact(row)
        self.tx.write_words("facts", fact.id, {"key": fact.key, "value": row[4]})
        return fact

    def replace(self, fact: Fact, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        """Write a new version of the fact; the old value is in the history already."""
        value, tags = fact_rows.as_json(draft.value), fact_rows.as_json(draft.tags)
        origin = _origin(draft, caller)
        self.tx.send(
            """
            UPDATE main.facts
            SET value = :value, tags = :tags, version = :version, updated_at = :now, expires_at = :expires_at,
                updated_by = :author, session = :session, writer = :writer, origin = :origin
            WHERE id = :id
            """,
            {
                "value": value,
                "tags": tags,
                "version": fact.version + 1,
                "now": self.tx.now,
                "expires_at": expires_at,
                "author": caller.author,
                "session": caller.session,
                "writer": self.tx.owner,
                "origin": origin,
                "id": fact.id,
            },
        )
        self.tx.write_words("facts", fact.id, {"key": fact.key, "value": value})
        return replace(
            fact,
            value=fact_rows.value_of(value),
            tags=fact_rows.tags_of(tags),
            version=fact.version + 1,
            updated_at=self.tx.now,
            expires_at=expires_at,
            updated_by=caller.author,
            writer=self.tx.owner,
            origin=origin,
        )

    def delete(self, fact: Fact, caller: Caller) -> None:
        """Remove the fact; its last value stays in the history, with who took it."""
        self._remove(fact, Action.DELETED, self.tx.now, caller.author)

    def let_go(self, fact: Fact) -> None:
        """Remove a fact whose time is over. The history says when that was, and holds no value of the key any more."""
        self._remove(fact, Action.EXPIRED, fact.expires_at or self.tx.now, None)
        WritableFactHistory(self.tx).blank(fact)

    def erase(self, home: Home, key: str) -> int:
        """Erase a key with its history, for good, and return how many steps it had."""
        self.tx.send(
            f"DELETE FROM main.facts WHERE {_OF_KEY}",
            {"scope": home.scope.value, "owner": home.owner, "key": key},
        )
        return WritableFactHistory(self.tx).erase(home, key)

    def mark_accessed(self, ids: Sequence[int]) -> None:
        """Count a read as one access; `updated_at` stays."""
        self.tx.send(
            """
            UPDATE main.facts
            SET access_count = access_count + 1, accessed_at = :now
            WHERE id IN (SELECT value FROM json_each(:ids))
            """,
            {"now": self.tx.now, "ids": self.tx.array(ids)},
        )

    def _remove(self, fact: Fact, action: Action, moment: str, client: str | None) -> None:
        self.tx.send("DELETE FROM main.facts WHERE id = :id", {"id": fact.id})
        WritableFactHistory(self.tx).explain(fact, action, moment, client)


def _origin(draft: FactDraft, caller: Caller) -> str:
    return draft.origin or fact_text.origin(draft.key, draft.value, caller.stamp, draft.tags)
