"""Tokens: what a client shows over HTTP to say for whom it asks."""

import base64
import hashlib
from dataclasses import dataclass
from enum import StrEnum

from memory_server.domain.caller import LONGEST, Person

SIGN = "msrv_"
"""How each token begins, so that people and scanners of secrets know it for one."""

BYTES = 32
"""Of chance in a token: 256 bits, which nobody guesses. So a plain hash of it is safe to keep."""

SHOWN = 12
"""Characters of a token that are kept readable: the sign and 42 bits of the chance."""

NAME = LONGEST
"""Most characters of a person's name."""


class State(StrEnum):
    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class TokenDraft:
    """A token to make. `projects` None is all; `expires_at` None is never; `shared`: it may write shared facts."""

    name: str
    projects: tuple[str, ...] | None = None
    read_only: bool = False
    expires_at: str | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the file knows it, without the token itself. `last_used` is a day in UTC."""

    id: int
    name: str
    prefix: str
    projects: tuple[str, ...] | None
    read_only: bool
    shared: bool
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used: str | None

    def state(self, now: str) -> State:
        """Its state at a moment: valid, expired or revoked."""
        if self.revoked_at is not None:
            return State.REVOKED
        return State.EXPIRED if self.expires_at is not None and self.expires_at <= now else State.VALID

    @property
    def person(self) -> Person:
        """Whom it stands for, and what this person may see and do with it."""
        projects = None if self.projects is None else frozenset(self.projects)
        return Person(self.name, projects, self.read_only, self.shared)


def made(chance: bytes) -> str:
    """A token of BYTES that nobody can guess."""
    return SIGN + base64.urlsafe_b64encode(chance).rstrip(b"=").decode()


def hashed(token: str) -> str:
    """SHA-256 of a token, in hexadecimal: what the file keeps."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
