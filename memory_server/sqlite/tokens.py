"""The table `tokens`: who may reach the memory over HTTP."""

import json
from typing import Any

from memory_server.domain.token import SHOWN, Token, TokenDraft, hashed
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows(
        "tokens",
        ("name", "hash", "prefix", "projects", "created_at", "expires_at", "revoked_at", "last_used"),
        moments=("created_at", "expires_at", "revoked_at", "last_used"),
        json=("projects",),
    ),
)

_COLUMNS = "id, name, prefix, projects, read_only, created_at, expires_at, revoked_at, last_used"


def insert(tx: WriteTx, draft: TokenDraft, token: str) -> Token:
    projects = None if draft.projects is None else json.dumps(draft.projects, ensure_ascii=False)
    row = tx.one(
        f"""
        INSERT INTO tokens (name, hash, prefix, projects, read_only, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        RETURNING {_COLUMNS}
        """,
        (draft.name, hashed(token), token[:SHOWN], projects, draft.read_only, tx.now, draft.expires_at),
    )
    return _token(row)


def find(tx: Tx, token: str) -> Token | None:
    """The row of a token, also of one that is not valid any more."""
    row = tx.row(f"SELECT {_COLUMNS} FROM tokens WHERE hash = ?", (hashed(token),))
    return None if row is None else _token(row)


def select(tx: Tx) -> list[Token]:
    """All, the oldest first."""
    return [_token(row) for row in tx.rows(f"SELECT {_COLUMNS} FROM tokens ORDER BY id")]


def is_any(tx: Tx) -> bool:
    """Whether there was ever one."""
    return tx.value("SELECT 1 FROM tokens LIMIT 1") is not None


def revoke(tx: WriteTx, id: int) -> None:
    tx.execute("UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (tx.now, id))


def follow(tx: WriteTx, old: str, new: str) -> None:
    """Who has a project has it under its new name. Where the project itself is renamed, a trigger does this."""
    tx.execute(
        """
        UPDATE tokens
        SET projects = (
            SELECT json_group_array(CASE value WHEN :old THEN :new ELSE value END) FROM json_each(tokens.projects)
        )
        WHERE :old IN (SELECT value FROM json_each(tokens.projects))
        """,
        {"old": old, "new": new},
    )


def mark_used(tx: WriteTx, id: int) -> None:
    """It is used on the day of this moment."""
    tx.execute("UPDATE tokens SET last_used = ? WHERE id = ?", (tx.now[:10], id))


def _token(row: tuple[Any, ...]) -> Token:
    id, name, prefix, projects, read_only, *moments = row
    seen = None if projects is None else tuple(map(str, json.loads(projects)))
    return Token(id, name, prefix, seen, bool(read_only), *moments)
