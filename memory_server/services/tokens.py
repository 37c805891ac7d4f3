"""Tokens: made and revoked by the owner of the file, and checked with each request over HTTP: nobody acts yet."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from memory_server.domain import acting
from memory_server.domain.caller import Caller
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.token import BYTES, NAME, SHOWN, SIGN, State, Token, TokenDraft, made
from memory_server.errors import Invalid, Mend, NotFound
from memory_server.language.text import clean
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx


@dataclass(frozen=True, slots=True)
class TokenService:
    database: Database
    chance: Callable[[int], bytes]
    """So many bytes that nobody can guess."""

    def add(self, draft: TokenDraft, caller: Caller) -> tuple[str, Token]:
        """Make a token; the token itself, which is kept nowhere, and what the file knows of it.

        Its projects get the names that they have in the file.

        Raises:
            Invalid: the name is empty or too long, or a project is `*`, or it expires in the past.
        """
        name = clean(draft.name)
        if not 1 <= len(name) <= NAME:
            raise Invalid(f"The name of a person has 1 to {NAME} characters, got {draft.name[:NAME]!r}.")
        if draft.projects is not None and EVERYWHERE in draft.projects:
            raise Invalid(f"`{EVERYWHERE}` is not a project. A token for all projects names none.")
        meant = None if draft.projects is None else [projects.asked(each, caller) for each in draft.projects]
        token = made(self.chance(BYTES))
        with acting.as_(None), self.database.write() as tx:
            if draft.expires_at is not None and draft.expires_at <= tx.now:
                raise Invalid(f"{draft.expires_at} is in the past: such a token would never be valid.")
            names = None if meant is None else [projects.name_of(tx, each) for each in meant]
            known = None if names is None else tuple(dict.fromkeys(filter(None, names)))
            kept = tx.tokens.insert(replace(draft, name=name, projects=known), token)
        return token, kept

    def select(self) -> list[tuple[Token, State]]:
        """All that there ever were, the oldest first, and how each stands now."""
        with acting.as_(None), self.database.read() as tx:
            return [(token, token.state(tx.now)) for token in tx.tokens.select()]

    def revoke(self, which: str) -> list[Token]:
        """Make tokens invalid for good: that of this id or beginning, or this one, or all of the person of this name.

        Raises:
            NotFound: there is no such token that is still valid.
        """
        which = which.strip().rstrip("…")
        if which.startswith(SIGN):
            which = which[:SHOWN]  # a whole token is not repeated in an error
        with acting.as_(None), self.database.write() as tx:
            valid = [each for each in tx.tokens.select() if each.revoked_at is None]
            found = [each for each in valid if which in (str(each.id), each.prefix)] or [
                each for each in valid if which == each.name
            ]
            if not found:
                raise NotFound(f"There is no valid token `{which}`.", Mend.LIST_TOKENS)
            for each in found:
                tx.tokens.revoke(each.id)
        return found

    def are_needed(self) -> bool:
        """Whether callers must show one: from the first token on, also when it is revoked or has expired."""
        with acting.as_(None), self.database.read() as tx:
            return tx.tokens.is_any()

    def check(self, token: str) -> Token | None:
        """What a token allows; None where it is unknown, has expired or was revoked. The day of its use is marked."""
        with acting.as_(None), self.database.read() as tx:
            found, now = tx.tokens.find(token), tx.now
        if found is None or found.state(now) is not State.VALID:
            return None
        if found.last_used != now[:10]:
            with acting.as_(None):
                self.database.later(partial(_mark_used, found.id))
        return found

    def find(self, token: str) -> tuple[Token, State] | None:
        """What the file knows of a token, and how it stands now; None where it is unknown."""
        with acting.as_(None), self.database.read() as tx:
            found = tx.tokens.find(token)
            return None if found is None else (found, found.state(tx.now))


def _mark_used(id: int, tx: WriteTx) -> None:
    tx.tokens.mark_used(id)
