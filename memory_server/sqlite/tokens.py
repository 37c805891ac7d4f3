"""The table `tokens`: who may reach the memory over HTTP."""

import json
from dataclasses import dataclass

from memory_server.domain.token import SHOWN, Token, TokenDraft, hashed
from memory_server.sqlite.tx import Tx
from memory_server.storage.people import token_of

_COLUMNS = "id, name, prefix, projects, read_only, shared, created_at, expires_at, revoked_at, last_used"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The table `tokens`: who may reach the memory over HTTP."""

    tx: Tx

    def insert(self, draft: TokenDraft, token: str) -> Token:
        projects = None if draft.projects is None else json.dumps(draft.projects, ensure_ascii=False)
        row = self.tx.one(
            f"""
            INSERT INTO tokens (name, hash, prefix, projects, read_only, shared, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING {_COLUMNS}
            """,
            (
                draft.name,
                hashed(token),
                token[:SHOWN],
                projects,
                draft.read_only,
                draft.shared,
                self.tx.now,
                draft.expires_at,
            ),
        )
        return token_of(row)

    def find(self, token: str) -> Token | None:
        row = self.tx.row(f"SELECT {_COLUMNS} FROM tokens WHERE hash = ?", (hashed(token),))
        return None if row is None else token_of(row)

    def select(self) -> list[Token]:
        return [token_of(row) for row in self.tx.rows(f"SELECT {_COLUMNS} FROM tokens ORDER BY id")]

    def is_any(self) -> bool:
        return self.tx.value("SELECT 1 FROM tokens LIMIT 1") is not None

    def revoke(self, id: int) -> None:
        self.tx.execute(
            "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (self.tx.now, id)
        )

    def follow(self, old: str, new: str) -> None:
        self.tx.execute(
            """
            UPDATE tokens
            SET projects = (
                SELECT json_group_array(CASE value WHEN :old THEN :new ELSE value END) FROM json_each(tokens.projects)
            )
            WHERE :old IN (SELECT value FROM json_each(tokens.projects))
            """,
            {"old": old, "new": new},
        )

    def mark_used(self, id: int) -> None:
        self.tx.execute("UPDATE tokens SET last_used = ? WHERE id = ?", (self.tx.now[:10], id))
