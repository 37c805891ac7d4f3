"""Tokens: made and revoked by the owner of the file, checked on each request over HTTP, before the caller is known."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memory_server.call import acting
from memory_server.domain.caller import Caller
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.token import BYTES, NAME, SHOWN, SIGN, State, Token, TokenDraft, made
from memory_server.errors import Invalid, Mend, NotFound
from memory_server.language.text import clean
from memory_server.services import projects
from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class TokenService:
    database: Database
    chance: Callable[[int], bytes]
    """So many bytes that nobody can guess."""

    def add(self, draft: TokenDraft, caller: Caller) -> tuple[str, Token]:
        """Make a token; return the token itself, which is kept nowhere, and what the file knows of it.

        Its projects get the names that they have in the file.

        Raises:
            Invalid: the name is empty or too long, or a project is `*`, or it expires in the past.
        """
        name = clean(draft.name)
        if not 1 <= len(name) <= NAME:
            raise Invalid(f"The name of a person has 1 to {NAME} characters, got {draft.name[:NAME]!r}.")
        if draft.projects is not None and EVERYWHERE in draft.projects:
            raise Invalid(f"`{EVERYWHERE}` is not a project. A token for all projects names none.")
        meant = None if draft.projects is None else [projects.asked(name, caller) for name in draft.projects]
        token = made(self.chance(BYTES))
        with acting.as_(None), self.database.write() as tx:
            if draft.expires_at is not None and draft.expires_at <= tx.now:
                raise Invalid(f"{draft.expires_at} is in the past: such a token would never be valid.")
            names = None if meant is None else [projects.name_of(tx, project) for project in meant]
            project_names = None if names is None else tuple(dict.fromkeys(filter(None, names)))
            stored = tx.tokens.insert(replace(draft, name=name, projects=project_names), token)
        return token, stored

    def select(self) -> list[tuple[Token, State]]:
        """Return all that there ever were, the oldest first, and how each stands now."""
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
            valid = [token for token in tx.tokens.select() if token.revoked_at is None]
            matching = [token for token in valid if which in (str(token.id), token.prefix)] or [
                token for token in valid if which == token.name
            ]
            if not matching:
                raise NotFound(f"There is no valid token `{which}`.", Mend.LIST_TOKENS)
            for token in matching:
                tx.tokens.revoke(token.id)
        return matching

    def are_needed(self) -> bool:
        """True if callers must show a token: from the first one on, also when it is revoked or has expired."""
        with acting.as_(None), self.database.read() as tx:
            return tx.tokens.is_any()

    def check(self, token: str) -> Token | None:
        """Return what a token allows; None if it is unknown, has expired or was revoked. Marks the day of its use."""
        with acting.as_(None), self.database.read() as tx:
            stored, now = tx.tokens.find(token), tx.now
        if stored is None or stored.state(now) is not State.VALID:
            return None
        if stored.last_used != now[:10]:
            with acting.as_(None):
                self.database.later(lambda tx: tx.tokens.mark_used(stored.id))
        return stored

    def find(self, token: str) -> tuple[Token, State] | None:
        """Return what the file knows of a token, and how it stands now; None where it is unknown."""
        with acting.as_(None), self.database.read() as tx:
            stored = tx.tokens.find(token)
            return None if stored is None else (stored, stored.state(tx.now))
