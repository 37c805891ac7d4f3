"""The table `facts` and the index of its words."""

import json
from collections.abc import Sequence
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, Fact, FactDraft, FactFilter, Headline, Home, Scope, tagged
from memory_server.sqlite import fact_history
from memory_server.sqlite.fact_history import tags_of, value_of
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, Value, WriteTx
from memory_server.sqlite.words import any_of

ROWS = (
    Rows(
        "facts",
        (
            "scope", "owner", "key", "value", "tags", "created_at", "updated_at", "accessed_at", "expires_at",
            "created_by", "updated_by", "session",
        ),
        moments=("created_at", "updated_at", "accessed_at", "expires_at"),
        json=("value", "tags"),
    ),
)  # fmt: skip

_COLUMNS = """
    id, key, scope, owner, value, tags, version, access_count,
    created_at, updated_at, accessed_at, expires_at, created_by, updated_by
"""
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"


def _fact(row: tuple[Any, ...]) -> Fact:
    return Fact(
        id=row[0],
        key=row[1],
        home=Home(Scope(row[2]), row[3]),
        value=value_of(row[4]),
        tags=tags_of(row[5]),
        version=row[6],
        access_count=row[7],
        created_at=row[8],
        updated_at=row[9],
        accessed_at=row[10],
        expires_at=row[11],
        created_by=row[12],
        updated_by=row[13],
    )


def as_json(value: object) -> str:
    """JSON as the file keeps it: UTF-8, numbers and texts as they came."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def find(tx: Tx, home: Home, key: str) -> Fact | None:
    """The fact, unless it has expired."""
    row = tx.row(
        f"""
        SELECT {_COLUMNS}
        FROM facts
        WHERE scope = ? AND owner = ? AND key = ? AND {_ALIVE}
        """,
        (home.scope.value, home.owner, key, tx.now),
    )
    return None if row is None else _fact(row)


def insert(tx: WriteTx, home: Home, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
    row = tx.one(
        f"""
        INSERT INTO main.facts
            (scope, owner, key, value, tags, version, created_at, updated_at, expires_at,
             created_by, updated_by, session)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING {_COLUMNS}
        """,
        (
            home.scope.value,
            home.owner,
            draft.key,
            as_json(draft.value),
            as_json(draft.tags),
            fact_history.last_version(tx, home, draft.key) + 1,
            tx.now,
            tx.now,
            expires_at,
            caller.author,
            caller.author,
            caller.session,
        ),
    )
    return _fact(row)


def replace(tx: WriteTx, fact: Fact, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
    """A new version of the fact; the old value is in the history already."""
    row = tx.one(
        f"""
        UPDATE main.facts
        SET value = ?, tags = ?, version = ?, updated_at = ?, expires_at = ?, updated_by = ?, session = ?
        WHERE id = ?
        RETURNING {_COLUMNS}
        """,
        (
            as_json(draft.value),
            as_json(draft.tags),
            fact.version + 1,
            tx.now,
            expires_at,
            caller.author,
            caller.session,
            fact.id,
        ),
    )
    return _fact(row)


def delete(tx: WriteTx, fact: Fact, caller: Caller) -> None:
    """Remove the fact; its last value stays in the history, with who took it."""
    _remove(tx, fact, Action.DELETED, tx.now, caller.author)


def let_go(tx: WriteTx, fact: Fact) -> None:
    """Remove a fact whose time is over. The history says when that was, and holds no value of the key any more."""
    _remove(tx, fact, Action.EXPIRED, fact.expires_at or tx.now, None)
    fact_history.blank(tx, fact.home, fact.key)


def erase(tx: WriteTx, home: Home, key: str) -> int:
    """Erase a key with its history, for good; how many steps it had."""
    tx.execute(
        "DELETE FROM main.facts WHERE scope = ? AND owner = ? AND key = ?",
        (home.scope.value, home.owner, key),
    )
    return fact_history.erase(tx, home, key)


def _remove(tx: WriteTx, fact: Fact, action: Action, moment: str, client: str | None) -> None:
    tx.execute("DELETE FROM main.facts WHERE id = ?", (fact.id,))
    fact_history.explain(tx, fact, action, moment, client)


def expired(tx: Tx, limit: int) -> list[Fact]:
    """Facts whose time is over and that are still in the table."""
    rows = tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM facts
        WHERE expires_at IS NOT NULL AND expires_at <= ?
        LIMIT ?
        """,
        (tx.now, limit),
    )
    return [_fact(row) for row in rows]


def expired_at(tx: Tx, home: Home, key: str) -> Fact | None:
    """The fact of this key, if its time is over."""
    row = tx.row(
        f"""
        SELECT {_COLUMNS}
        FROM facts
        WHERE scope = ? AND owner = ? AND key = ? AND expires_at <= ?
        """,
        (home.scope.value, home.owner, key, tx.now),
    )
    return None if row is None else _fact(row)


def headlines(
    tx: Tx, homes: Sequence[Home], prefix: str = "", tags: tuple[str, ...] = (), newest_first: bool = False
) -> list[Headline]:
    """The facts of these scopes whose key begins with a text and that have any of the tags; by key, or newest first."""
    where, values = _within(homes)
    rows = tx.rows(
        f"""
        SELECT id, key, scope, owner, updated_at, tags
        FROM facts
        WHERE {where} AND {_ALIVE} AND substr(key, 1, ?) = ?
        ORDER BY {"updated_at DESC, id DESC" if newest_first else "key, scope"}
        """,
        (*values, tx.now, len(prefix), prefix),
    )
    known = {(home.scope.value, home.owner): home for home in homes}
    return [
        Headline(row[0], row[1], known[row[2], row[3]], row[4])
        for row in rows
        if not tags or tagged(tags_of(row[5]), tags)
    ]


def select(tx: Tx, ids: Sequence[int]) -> list[Fact]:
    """These facts, in the order given."""
    rows = tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM facts
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (as_json(list(ids)),),
    )
    found = {row[0]: _fact(row) for row in rows}
    return [found[id] for id in ids if id in found]


def mark_accessed(tx: WriteTx, ids: Sequence[int]) -> None:
    """Reading counts an access; `updated_at` stays."""
    tx.execute(
        """
        UPDATE main.facts
        SET access_count = access_count + 1, accessed_at = ?
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (tx.now, json.dumps(list(ids))),
    )


def mentioned(tx: Tx, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
    """The facts whose key or value holds words of a query, best first."""
    where, values = _within(homes)
    rows = tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM facts
        JOIN (
            SELECT rowid AS found, bm25(fact_words) AS rank FROM fact_words WHERE fact_words MATCH ?
        ) ON found = id
        WHERE {where} AND {_ALIVE}
        ORDER BY rank, id DESC
        LIMIT ?
        """,
        (any_of(terms), *values, tx.now, limit),
    )
    return [_fact(row) for row in rows]


def conditions(wanted: FactFilter, now: str) -> tuple[list[str], list[Value]]:
    """The filter as clauses on `facts AS m`, beside their values; what has expired never passes."""
    clauses: list[str] = ["(m.expires_at IS NULL OR m.expires_at > ?)"]
    values: list[Value] = [now]
    if wanted.homes is not None:
        # With min() the other columns are those of the row that has it: sqlite.org/lang_select.html#bareagg
        clauses.append(
            """
            m.id IN (
                SELECT id
                FROM (
                    SELECT f.id, min(h.key)
                    FROM json_each(?) AS h
                    JOIN facts AS f
                        ON f.scope = json_extract(h.value, '$[0]') AND f.owner = json_extract(h.value, '$[1]')
                    WHERE f.expires_at IS NULL OR f.expires_at > ?
                    GROUP BY f.key
                )
            )
            """
        )
        values += [as_json([[home.scope.value, home.owner] for home in wanted.homes]), now]
    for sign, moment in ((">=", wanted.since), ("<", wanted.until)):
        if moment is not None:
            clauses.append(f"julianday(m.updated_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


def _within(homes: Sequence[Home]) -> tuple[str, list[Value]]:
    """Any of these scopes as a clause, beside its values."""
    clause = " OR ".join("(scope = ? AND owner = ?)" for _ in homes)
    return f"({clause})", [each for home in homes for each in (home.scope.value, home.owner)]
