"""The table `facts` and the index of its words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, Fact, FactDraft, Headline, Home, tagged
from memory_server.domain.ranking import K1, B
from memory_server.postgres import terms as tokens
from memory_server.postgres import word_rows
from memory_server.postgres.spelling import Spelled
from memory_server.postgres.tx import Tx
from memory_server.storage import fact_rows
from memory_server.storage.tables.fact_history import WritableFactHistory

_ALIVE = "(expires_at IS NULL OR expires_at > %(now)s)"

_WITHIN = "(scope, owner) IN (SELECT * FROM unnest(%(scopes)s::text[], %(owners)s::text[]))"
"""Any of some scopes: see `_places`."""

_BM25 = f"""
    greatest(1e-6, ln((texts - everywhere + 0.5) / (everywhere + 0.5)))
        * (held * {K1 + 1}::float8 / (held + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * length / average)))
"""
"""What FTS5's `bm25()` gives for one phrase: sqlite.org/fts5.html#the_bm25_function."""


def _places(homes: Sequence[Home]) -> dict[str, list[str]]:
    return {"scopes": [home.scope.value for home in homes], "owners": [home.owner for home in homes]}


@dataclass(frozen=True, slots=True)
class Facts:
    """The table `facts` and the index of its words."""

    tx: Tx

    def find(self, home: Home, key: str) -> Fact | None:
        return self.first([home], key)

    def first(self, homes: Sequence[Home], key: str) -> Fact | None:
        row = self.tx.row(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            JOIN unnest(%(scopes)s::text[], %(owners)s::text[]) WITH ORDINALITY AS place (of_scope, of_owner, number)
                ON scope = of_scope AND owner = of_owner
            WHERE key = %(key)s AND {_ALIVE}
            ORDER BY number
            LIMIT 1
            """,
            {**_places(homes), "key": key, "now": self.tx.now},
        )
        return None if row is None else fact_rows.fact(row)

    def insert(self, home: Home, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        row = self.tx.one(
            f"""
            INSERT INTO facts
                (scope, owner, key, value, tags, created_at, updated_at, expires_at, created_by, updated_by, session,
                writer)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            RETURNING {fact_rows.FACT}
            """,
            (
                home.scope.value,
                home.owner,
                draft.key,
                fact_rows.as_json(draft.value),
                fact_rows.as_json(draft.tags),
                self.tx.now,
                self.tx.now,
                expires_at,
                caller.author,
                caller.author,
                caller.session,
                self.tx.owner,
            ),
        )
        return self._indexed(fact_rows.fact(row), row[4])

    def replace(self, fact: Fact, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        value, tags = fact_rows.as_json(draft.value), fact_rows.as_json(draft.tags)
        self.tx.send(
            """
            UPDATE facts
            SET value = %s, tags = %s, version = %s, updated_at = %s, expires_at = %s, updated_by = %s, session = %s,
                writer = %s
            WHERE id = %s
            """,
            (
                value,
                tags,
                fact.version + 1,
                self.tx.now,
                expires_at,
                caller.author,
                caller.session,
                self.tx.owner,
                fact.id,
            ),
        )
        now = replace(
            fact,
            value=fact_rows.value_of(value),
            tags=fact_rows.tags_of(tags),
            version=fact.version + 1,
            updated_at=self.tx.now,
            expires_at=expires_at,
            updated_by=caller.author,
            writer=self.tx.owner,
        )
        return self._indexed(now, value)

    def delete(self, fact: Fact, caller: Caller) -> None:
        self._remove(fact, Action.DELETED, self.tx.now, caller.author)

    def let_go(self, fact: Fact) -> None:
        self._remove(fact, Action.EXPIRED, fact.expires_at or self.tx.now, None)
        WritableFactHistory(Spelled(self.tx)).blank(fact)

    def erase(self, home: Home, key: str) -> int:
        self.tx.send(
            "DELETE FROM facts WHERE scope = %s AND owner = %s AND key = %s",
            (home.scope.value, home.owner, key),
        )
        return WritableFactHistory(Spelled(self.tx)).erase(home, key)

    def _remove(self, fact: Fact, action: Action, moment: str, client: str | None) -> None:
        self.tx.send("DELETE FROM facts WHERE id = %s", (fact.id,))
        WritableFactHistory(Spelled(self.tx)).explain(fact, action, moment, client)

    def _indexed(self, fact: Fact, value: str) -> Fact:
        word_rows.write_fact(self.tx, fact.id, fact.key, value)
        return fact

    def expired(self, moment: str, limit: int) -> list[Fact]:
        rows = self.tx.rows(
            f"SELECT {fact_rows.FACT} FROM facts WHERE expires_at <= %s ORDER BY expires_at LIMIT %s",
            (moment, limit),
        )
        return [fact_rows.fact(row) for row in rows]

    def expired_at(self, home: Home, key: str) -> Fact | None:
        row = self.tx.row(
            f"SELECT {fact_rows.FACT} FROM facts WHERE scope = %s AND owner = %s AND key = %s AND expires_at <= %s",
            (home.scope.value, home.owner, key, self.tx.now),
        )
        return None if row is None else fact_rows.fact(row)

    def headlines(
        self, homes: Sequence[Home], prefix: str = "", tags: tuple[str, ...] = (), newest_first: bool = False
    ) -> list[Headline]:
        rows = self.tx.rows(
            f"""
            SELECT id, key, scope, owner, updated_at, tags
            FROM facts
            WHERE {_WITHIN} AND {_ALIVE} AND starts_with(key, %(prefix)s)
            ORDER BY {"updated_at DESC, id DESC" if newest_first else "key, scope"}
            """,
            {**_places(homes), "now": self.tx.now, "prefix": prefix},
        )
        known = {(home.scope.value, home.owner): home for home in homes}
        return [
            Headline(row[0], row[1], known[row[2], row[3]], row[4])
            for row in rows
            if not tags or tagged(fact_rows.tags_of(row[5]), tags)
        ]

    def select(self, ids: Sequence[int]) -> list[Fact]:
        rows = self.tx.rows(f"SELECT {fact_rows.FACT} FROM facts WHERE id = ANY(%s::bigint[])", (list(ids),))
        found = {row[0]: fact_rows.fact(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def mark_accessed(self, ids: Sequence[int]) -> None:
        self.tx.send(
            "UPDATE facts SET access_count = access_count + 1, accessed_at = %s WHERE id = ANY(%s::bigint[])",
            (self.tx.now, list(ids)),
        )

    def mentioned(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        asked = [found for term in terms if (found := tokens.lookup(self.tx.tenant, term)) is not None]
        rows = self.tx.rows(
            f"""
            WITH total (texts, average) AS (
                SELECT texts::float8, terms / texts::float8 FROM word_totals WHERE name = 'fact_words' AND texts > 0
            ),
            ranked (id, score) AS (
                SELECT h.id, sum({_BM25} ORDER BY t.place)
                FROM total
                CROSS JOIN unnest(%(queries)s::text[], %(terms)s::text[], %(phrases)s::text[]) WITH ORDINALITY
                    AS t (query, term, phrases, place)
                CROSS JOIN LATERAL fact_words_holding(
                    t.query::tsquery, t.term, string_to_array(t.phrases, chr(10)), NULL
                ) AS h
                GROUP BY h.id
            )
            SELECT {fact_rows.FACT}
            FROM facts
            JOIN ranked USING (id)
            WHERE {_WITHIN} AND {_ALIVE}
            ORDER BY score DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                **_places(homes),
                "now": self.tx.now,
                "queries": [each.query for each in asked],
                "terms": [each.term for each in asked],
                "phrases": [each.phrases for each in asked],
                "limit": limit,
            },
        )
        return [fact_rows.fact(row) for row in rows]
