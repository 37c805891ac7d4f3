"""Makes the caller of a request over HTTP: person of the token, session of the protocol, project of the header."""

import hashlib
import time
import uuid
from collections.abc import Callable
from math import inf
from urllib.parse import unquote

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request

from memory_server.domain.caller import Caller, Person
from memory_server.language.text import clean
from memory_server.project import NONE, Project, named

PROJECT = "memory-project"
"""The header with the project of a client: its name, the address of its remote, or a path, which is not looked at.

In UTF-8, or with escapes as in addresses. Others call theirs `X-PRODUCT-Project`; RFC 6648 advises against new `X-`.
"""

SESSION = "memory-session"
"""The header with which a client of the newer protocol tells its sessions apart, where it has several."""

FORWARDED = "x-forwarded-for"
"""The header in which a proxy says which machine asks."""

PROTOCOL_SESSION = "mcp-session-id"

IDLE = 30 * 60.0
"""Seconds without a call after which a session without an id of the protocol is over: as long as the SDK keeps one that
has an id."""

MOST = 200
"""Sessions without an id of the protocol that one person has at the same time. The one that paused longest makes
room."""

LONGEST = 500
"""Characters of a header that are read."""


class TokenUser(AuthenticatedUser):
    """A person whose token was found valid. The SDK binds each session of the protocol to it."""

    def __init__(
        self, person: Person, token_id: str, issuer: str | None = None, tenant: str | None = None
    ) -> None:
        """`token_id` names the token to the SDK; it is not the token. `tenant` is the person's, where a server has
        several.
        """
        claims = None if issuer is None else {"iss": issuer}
        super().__init__(
            AccessToken(token=token_id, client_id=token_id, scopes=[], subject=person.name, claims=claims)
        )
        self.person = person
        self.tenant = tenant


class HttpCallers:
    """Makes a Caller of a request.

    Each session of the protocol is one of the file. The newer protocol has none: there the calls of one person,
    program and machine are a session, until they pause.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._people: dict[str, dict[tuple[str, ...], tuple[str, float]]] = {}
        """The sessions of each person, and when each was used; in both, what was used last stands last."""

    def __call__(self, client: str | None, request: Request | None) -> Caller:
        if request is None:
            return Caller(client, is_here=False)
        person = person_of(request)
        return Caller(
            client, self._session(client, request, person), _project(request, person), person, False
        )

    def _session(self, client: str | None, request: Request, person: Person | None) -> str:
        protocol_session = request.headers.get(PROTOCOL_SESSION)
        if protocol_session is not None:
            return f"http-{hashlib.sha256(protocol_session.encode()).hexdigest()[:32]}"
        name = "" if person is None else person.name
        # A client can forge this header. It only separates sessions of one person, and gives no rights.
        machine = request.headers.get(FORWARDED) or (request.client.host if request.client else "")
        which = (client or "", machine[:LONGEST], request.headers.get(SESSION, "")[:LONGEST])
        now, sessions = self._now(), self._people.pop(name, {})
        session, at = sessions.pop(which, ("", -inf))
        if now - at >= IDLE:
            session = f"http-{uuid.uuid4().hex}"
        sessions[which] = session, now
        if len(sessions) > MOST:
            del sessions[next(iter(sessions))]
        self._people[name] = sessions
        self._forget_idle(now)
        return session

    def _forget_idle(self, now: float) -> None:
        """Forget the people whose last session is over: they stand first."""
        for name, sessions in list(self._people.items()):
            _, used = next(reversed(sessions.values()))
            if now - used < IDLE:
                return
            del self._people[name]


def person_of(request: Request) -> Person | None:
    """Return the person of the request's token; None without one."""
    user = request.scope.get("user")
    return user.person if isinstance(user, TokenUser) else None


def _project(request: Request, person: Person | None) -> Project:
    """The project of the header, else the only one that the person has."""
    project = clean(_readable(request.headers.get(PROJECT, "")))[:LONGEST]
    if project:
        return named(project)
    if person is not None and person.projects is not None and len(person.projects) == 1:
        return named(*person.projects)
    return NONE


def _readable(header: str) -> str:
    """HTTP carries bytes, which starlette reads as Latin-1; people write UTF-8, or escapes if they must."""
    try:
        return unquote(header.encode("latin-1").decode())
    except UnicodeError:
        return unquote(header)
