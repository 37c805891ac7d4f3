"""OAuth 2.1: this server as the resource, whose tokens another server gives out (RFC 9068, RFC 9728)."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.routing import Route

from memory_server.call import deadline
from memory_server.call.places import Places
from memory_server.domain.caller import Person
from memory_server.domain.token import NAME
from memory_server.errors import Invalid, Unavailable
from memory_server.language.text import clean
from memory_server.mcp.http.callers import TokenUser

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""With a public key all of them: a shared secret would let whoever checks a token make one."""

LEEWAY = 30
"""Seconds by which the clocks of two machines may differ."""

FRESH = 600.0
"""Seconds for which the keys of the issuer are used without a look for new ones."""

AGAIN = 30.0
"""Seconds between two looks for a key that is not known: anybody can send a token that names one."""

PATIENCE = 5.0
"""Seconds that the issuer may take to answer."""

LARGEST = 1 << 20
"""Bytes of an answer of the issuer that are read."""

_DESCRIPTIONS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


@dataclass(frozen=True, slots=True)
class Issuer:
    """An issuer of tokens: for which resource, and which claims name the person and the person's projects.

    `audience` is the address of this server as clients know it. Without `projects` a token has all projects; with it,
    one that lacks the claim has none. `tenant` is the claim that names the tenant, where the server has several.
    """

    url: str
    audience: str
    person: str = "sub"
    projects: str | None = None
    tenant: str | None = None

    def refuse_open(self) -> None:
        """Raises Invalid where keys would come over the network in the clear: anybody on the way could give others."""
        parts = urlsplit(self.url)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise Invalid(f"The issuer {self.url} must have an https address.")


class OAuth:
    """Checks tokens of an issuer with its public keys, and tells clients where to get one."""

    def __init__(self, issuer: Issuer, now: Callable[[], float] = time.monotonic) -> None:
        issuer.refuse_open()
        self._issuer = issuer
        self._keys = _IssuerKeys(issuer.url, now)
        resource = AnyHttpUrl(issuer.audience)
        self.metadata = str(build_resource_metadata_url(resource))
        self.routes: Sequence[Route] = create_protected_resource_routes(resource, [AnyHttpUrl(issuer.url)])

    def check(self, token: str) -> TokenUser | None:
        """Whom a token stands for; None where it is not one of this issuer for this server, or is not valid now.

        Raises:
            Unavailable: the keys of the issuer cannot be had now.
        """
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                return None
            key = self._keys.find(header.get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._issuer.audience,
                issuer=self._issuer.url,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError:
            return None
        person = self._person(claims)
        if person is None:
            return None
        tenant = None if self._issuer.tenant is None else str(claims.get(self._issuer.tenant, ""))
        named = "" if tenant is None else f"{tenant}/"
        return TokenUser(person, f"{named}oauth-{claims['sub']}", self._issuer.url, tenant)

    def _person(self, claims: Mapping[str, Any]) -> Person | None:
        claim = claims.get(self._issuer.person)
        name = clean(claim) if isinstance(claim, str) else ""
        if not 1 <= len(name) <= NAME:
            return None
        return Person(
            name, None if self._issuer.projects is None else _names(claims.get(self._issuer.projects))
        )


class _IssuerKeys:
    """The public keys of an issuer, by their names."""

    def __init__(self, url: str, now: Callable[[], float]) -> None:
        self._url = url
        self._now = now
        self._turn = Places(1)
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._read_at = float("-inf")

    def find(self, name: str | None) -> jwt.PyJWK | None:
        """Return the key of this name; without a name, the only key that there is."""
        if not self._turn.enter():
            raise Unavailable(f"The issuer {self._url} does not answer.")
        try:
            age = self._now() - self._read_at
            if age > FRESH or (self._get(name) is None and age > AGAIN):
                self._keys = self._read()
                self._read_at = self._now()
            return self._get(name)
        finally:
            self._turn.leave()

    def _get(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    def _read(self) -> dict[str | None, jwt.PyJWK]:
        about = self._described()
        if about.get("issuer") != self._url:
            raise Unavailable(f"The issuer {self._url} calls itself {str(about.get('issuer'))[:200]!r}.")
        try:
            key_set = jwt.PyJWKSet.from_dict(_asked(str(about.get("jwks_uri"))))
        except jwt.PyJWTError as error:
            raise Unavailable(f"The keys of {self._url} cannot be read: {error}.") from error
        return {key.key_id: key for key in key_set.keys if key.public_key_use in (None, "sig")}

    def _described(self) -> dict[str, Any]:
        """Fetch the issuer's description: RFC 8414 puts its path behind the well-known one, OpenID before it."""
        parts = urlsplit(self._url.rstrip("/"))
        root = f"{parts.scheme}://{parts.netloc}"
        first, second = _DESCRIPTIONS
        problem: Unavailable | None = None
        for address in (f"{root}{first}{parts.path}", f"{root}{parts.path}{second}"):
            try:
                return _asked(address)
            except Unavailable as error:
                problem = error
        raise problem or Unavailable(f"The issuer {self._url} does not answer.")


class _Unmoved(HTTPRedirectHandler):
    """Follows no redirection: another address has other keys."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _asked(address: str) -> dict[str, Any]:
    """Fetch the JSON object at an address.

    Raises:
        Unavailable: there is none now.
    """
    if not address.startswith(("https://", "http://")):
        raise Unavailable(f"{address[:200]!r} is not an address of keys.")
    try:
        asking = Request(address, headers={"Accept": "application/json"})  # noqa: S310 - checked above
        with build_opener(_Unmoved).open(asking, timeout=max(0.01, deadline.left(PATIENCE))) as answer:
            answered = json.loads(answer.read(LARGEST))
    except (URLError, OSError, ValueError) as error:
        raise Unavailable(f"{address} does not answer as an issuer of tokens does: {error}.") from error
    if not isinstance(answered, dict):
        raise Unavailable(f"{address} does not answer as an issuer of tokens does.")
    return answered


def _names(claim: object) -> frozenset[str]:
    """Return the projects of a claim: a list of names, or names with spaces between."""
    names = claim.split() if isinstance(claim, str) else claim
    return (
        frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    )
