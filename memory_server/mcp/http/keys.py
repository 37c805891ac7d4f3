"""Whom a token stands for: the tokens of the file, and those of an issuer."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.routing import BaseRoute

from memory_server.call import again, deadline
from memory_server.domain.token import SIGN, State, Token, hashed
from memory_server.mcp.http.callers import TokenUser

if TYPE_CHECKING:
    from memory_server.mcp.http.oauth import OAuth

Result = TypeVar("Result")

FRESH = 1.0
"""Seconds for which a token that was found valid counts as valid: so long does one work that was just revoked."""

PATIENCE = 10.0
"""Seconds that the check of a token may wait for the database: as a call, it waits for a machine that takes over."""

CHECKS = 4
"""Tokens of one tenant that are checked at the same time: its database may not answer, and the others do not wait."""

MOST = 10_000
"""Tokens that are kept as valid; then all are looked for again."""


class TokenKeeper(Protocol):
    """Knows the tokens of one memory, or of several: the service of tokens does, and `Tenants`."""

    def check(self, token: str) -> Token | None: ...

    def find(self, token: str) -> tuple[Token, State] | None: ...

    def are_needed(self) -> bool: ...


class Keys:
    """Finds the person of a token."""

    def __init__(
        self,
        tokens: TokenKeeper,
        oauth: "OAuth | None" = None,
        now: Callable[[], float] = time.monotonic,
        tenant_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """`tenant_of` names the tenant of a token, where the server has several."""
        self._tokens = tokens
        self.tenant_of = tenant_of
        self._limiters = defaultdict[str, CapacityLimiter](lambda: CapacityLimiter(CHECKS))
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
        tenant = self.tenant_of(token)
        limiter = None if tenant is None else self._limiters[tenant]
        valid = await _within(partial(self._tokens.check, token), limiter)
        if valid is None:
            return None
        if len(self._valid) >= MOST:
            self._valid.clear()
        id = f"token-{valid.id}" if tenant is None else f"{tenant}/token-{valid.id}"
        user = TokenUser(valid.person, id, tenant=tenant)
        self._valid[key] = user, now
        return user

    async def known(self, token: str) -> tuple[Token, State] | None:
        """Find a token in the file, also one that is no longer valid.

        Raises:
            Unavailable: the file cannot be read now.
        """
        if not token.startswith(SIGN):
            return None
        tenant = self.tenant_of(token)
        limiter = None if tenant is None else self._limiters[tenant]
        return await _within(partial(self._tokens.find, token), limiter)

    async def are_open(self) -> bool:
        """True if no token is needed: none was ever made, and no issuer gives any out.

        Raises:
            Unavailable: the file cannot be read now.
        """
        if self._oauth is None and not self._needed:
            self._needed = await _within(self._tokens.are_needed)
        return self._oauth is None and not self._needed


async def _within(work: Callable[[], Result], limiter: CapacityLimiter | None = None) -> Result:
    """Do it on a worker thread, again where the database has rolled it back."""
    with deadline.within(PATIENCE):
        return await anyio.to_thread.run_sync(again.whole, work, limiter=limiter)
