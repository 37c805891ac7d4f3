"""Whom a token stands for: the tokens of the file, and those of an issuer."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from starlette.routing import BaseRoute

from memory_server.call import deadline
from memory_server.domain.token import SIGN, State, Token, hashed
from memory_server.mcp.http.callers import TokenUser
from memory_server.services.tokens import TokenService

if TYPE_CHECKING:
    from memory_server.mcp.http.oauth import OAuth

Result = TypeVar("Result")

FRESH = 1.0
"""Seconds for which a token that was found valid counts as valid: so long does one work that was just revoked."""

PATIENCE = 5.0
"""Seconds that the check of a token may wait for the file."""

MOST = 10_000
"""Tokens that are kept as valid; then all are looked for again."""


class Keys:
    """Finds the person of a token."""

    def __init__(
        self, tokens: TokenService, oauth: "OAuth | None" = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tokens = tokens
        self._oauth = oauth
        self.metadata = oauth.metadata if oauth else None
        """The address that tells who gives out tokens."""
        self.routes: Sequence[BaseRoute] = oauth.routes if oauth else ()
        self._now = now
        self._valid: dict[str, tuple[TokenUser, float]] = {}
        self._needed = False

    async def find(self, token: str) -> TokenUser | None:
        """Whom it stands for; None where it is not valid.

        Raises:
            Unavailable: the file, or the keys of the issuer, cannot be read now.
        """
        if not token.startswith(SIGN):
            return None if self._oauth is None else await _within(partial(self._oauth.check, token))
        key, now = hashed(token), self._now()
        cached = self._valid.get(key)
        if cached is not None and now - cached[1] < FRESH:
            return cached[0]
        self._valid.pop(key, None)
        valid = await _within(partial(self._tokens.check, token))
        if valid is None:
            return None
        if len(self._valid) >= MOST:
            self._valid.clear()
        user = _known(valid)
        self._valid[key] = user, now
        return user

    async def known(self, token: str) -> tuple[Token, State] | None:
        """Find a token in the file, also one that is no longer valid.

        Raises:
            Unavailable: the file cannot be read now.
        """
        return await _within(partial(self._tokens.find, token)) if token.startswith(SIGN) else None

    async def are_open(self) -> bool:
        """True if no token is needed: none was ever made, and no issuer gives any out.

        Raises:
            Unavailable: the file cannot be read now.
        """
        if self._oauth is None and not self._needed:
            self._needed = await _within(self._tokens.are_needed)
        return self._oauth is None and not self._needed


def _known(token: Token) -> TokenUser:
    return TokenUser(token.person, f"token-{token.id}")


async def _within(work: Callable[[], Result]) -> Result:
    with deadline.within(PATIENCE):
        return await anyio.to_thread.run_sync(work)
