"""The table `tokens`: who may reach the memory over HTTP."""

import json
from dataclasses import dataclass

from memory_server.domain.token import SHOWN, Token, TokenDraft, hashed
from memory_server.storage.statements import Row, Statements

_COLUMNS = "id, name, prefix, projects, read_only, shared, created_at, expires_at, revoked_at, last_used"


def _token(row: Row) -> Token:
    id, name, prefix, projects, read_only, shared, *moments = row
    names = None if projects is None else tuple(map(str, json.loads(projects)))
    return Token(id, name, prefix, names, bool(read_only), bool(shared), *moments)


def _as_json(projects: tuple[str, ...] | None) -> str | None:
    return None if projects is None else json.dumps(projects, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    tx: Statements

    def find(self, token: str) -> Token | None:
        """Return the row of a token, also of one that is not valid any more."""
        row = self.tx.row(f"SELECT {_COLUMNS} FROM tokens WHERE hash = :hash", {"hash": hashed(token)})
        return None if row is None else _token(row)

    def select(self) -> list[Token]:
        """Return all, the oldest first."""
        return [_token(row) for row in self.tx.rows(f"SELECT {_COLUMNS} FROM tokens ORDER BY id")]

    def is_any(self) -> bool:
        """True if there was ever one."""
        return self.tx.value("SELECT 1 FROM tokens LIMIT 1") is not None


@dataclass(frozen=True, slots=True)
class WritableTokens(Tokens):
    def insert(self, draft: TokenDraft, token: str) -> Token:
        row = self.tx.one(
            f"""
            INSERT INTO tokens (name, hash, prefix, projects, read_only, shared, created_at, expires_at)
            VALUES (:name, :hash, :prefix, :projects, :read_only, :shared, :now, :expires_at)
            RETURNING {_COLUMNS}
            """,
            {
                "name": draft.name,
                "hash": hashed(token),
                "prefix": token[:SHOWN],
                "projects": _as_json(draft.projects),
                "read_only": draft.read_only,
                "shared": draft.shared,
                "now": self.tx.now,
                "expires_at": draft.expires_at,
            },
        )
        return _token(row)

    def revoke(self, id: int) -> None:
        self.tx.send(
            "UPDATE tokens SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL",
            {"now": self.tx.now, "id": id},
        )

    def rename_project(self, old: str, new: str) -> None:
        """Let who has a project have it under its new name. A rename of the project itself does this by a trigger."""
        for token in self.select():
            if token.projects is not None and old in token.projects:
                names = tuple(new if name == old else name for name in token.projects)
                self.tx.send(
                    "UPDATE tokens SET projects = :projects WHERE id = :id",
                    {"projects": _as_json(names), "id": token.id},
                )

    def mark_used(self, id: int) -> None:
        """Record that it is used on the day of this moment."""
        self.tx.send("UPDATE tokens SET last_used = :day WHERE id = :id", {"day": self.tx.now[:10], "id": id})
