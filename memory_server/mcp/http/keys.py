"""Whom a token stands for: the tokens of the file, and those of an issuer."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from starlette.routing import BaseRoute

from memory_server.call import deadline
from memory_server.domain.token import SIGN, State, Token, hashed
from memory_server.mcp.http.callers import Known
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
        self._valid: dict[str, tuple[Known, float]] = {}
        self._needed = False

    async def find(self, token: str) -> Known | None:
        """Whom it stands for; None where it is not valid.

        Raises:
            Unavailable: the file, or the keys of the issuer, cannot be read now.
        """
        if not token.startswith(SIGN):
            return None if self._oauth is None else await _within(partial(self._oauth.check, token))
        key, now = hashed(token), self._now()
        kept = self._valid.get(key)
        if kept is not None and now - kept[1] < FRESH:
            return kept[0]
        self._valid.pop(key, None)
        found = await _within(partial(self._tokens.check, token))
        if found is None:
            return None
        if len(self._valid) >= MOST:
            self._valid.clear()
        known = _known(found)
        self._valid[key] = known, now
        return known

    async def known(self, token: str) -> tuple[Token, State] | None:
        """What the file knows of a token, also of one that is not valid any more.

        Raises:
            Unavailable: the file cannot be read now.
        """
        return await _within(partial(self._tokens.find, token)) if token.startswith(SIGN) else None

    async def are_open(self) -> bool:
        """Whether nobody has to show a token: there was never one, and no issuer gives out any.

        Raises:
            Unavailable: the file cannot be read now.
        """
        if self._oauth is None and not self._needed:
            self._needed = await _within(self._tokens.are_needed)
        return self._oauth is None and not self._needed


def _known(token: Token) -> Known:
    return Known(token.person, f"token-{token.id}")


async def _within(work: Callable[[], Result]) -> Result:
    with deadline.within(PATIENCE):
        return await anyio.to_thread.run_sync(work)
