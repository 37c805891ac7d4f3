"""Writes refused tokens into the audit log, so many a minute at most: an attacker cannot push out other lines."""

import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Scope

from memory_server.errors import MemoryServerError
from memory_server.language.text import clean
from memory_server.mcp.audit import RefusedLogin
from memory_server.mcp.http.callers import FORWARDED
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.http.rates import Rates

EACH = 30
"""Lines a minute for one address: if one address tries without end, the others still get lines."""

ALL = 60
"""Lines a minute for all addresses: 22 MB a day at most, so that the calls of most of a week stay in the files that are
kept."""

ADDRESSES = 1_000
"""Addresses that are told apart."""

LONGEST = 100
"""Characters of what a header says about the address."""


class RefusedLogins:
    def __init__(
        self, keys: Keys, tell: Callable[[RefusedLogin], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._keys = keys
        self._tell = tell
        self._each = Rates(EACH, now, ADDRESSES)
        self._all = Rates(ALL, now)
        self._left_out = 0

    async def by_token(self, scope: Scope, token: str) -> None:
        """A request over HTTP has shown this token."""
        await self._refused(scope, token, "token")

    async def by_form(self, scope: Scope, token: str) -> None:
        """Somebody has typed this token into the form of the pages."""
        await self._refused(scope, token, "form")

    async def _refused(self, scope: Scope, token: str, through: str) -> None:
        address = scope["client"][0] if scope.get("client") else None
        header = Headers(scope=scope).get(FORWARDED)
        forwarded = None if header is None else clean(header)[:LONGEST]
        if self._each.take(f"{address} {forwarded}") or self._all.take(""):
            self._left_out += 1
            return
        try:
            token_state = await self._keys.known(token)
        except MemoryServerError:
            token_state = None
        left_out, self._left_out = self._left_out, 0
        reason = "unknown" if token_state is None else token_state[1].value
        id, person = (None, None) if token_state is None else (token_state[0].id, token_state[0].name)
        tenant = self._keys.tenant_of(token)
        self._tell(RefusedLogin(reason, through, address, forwarded, id, person, left_out, tenant))
