"""The place of a memory: a file of SQLite, or one tenant of a PostgreSQL database."""

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

SCHEMES = ("postgresql", "postgres")

DEFAULT_TENANT = "default"

_LINE = re.compile(r"([A-Za-z0-9_-]{1,64})\s*=\s*(\S.*)")
"""A line of a file with tenants: a name that fits behind a token, and a place."""


class Postgres(NamedTuple):
    """A tenant of a database; `url` is a connection string of libpq. As text it is shown without its password.

    `prepares`: prepare statements that run often. Not behind an old pooler that gives each transaction another
    connection: a prepared statement would be missing there. `replicas`: read from a replica of the address, if it has
    all writes of the tenant.
    """

    url: str
    tenant: str = DEFAULT_TENANT
    prepares: bool = True
    replicas: bool = False

    @property
    def given(self) -> str:
        """The address as programs take it: with the password, if it has one."""
        return self._with_own(self.url)

    @property
    def name(self) -> str:
        """A short name for files of this machine that belong to it."""
        return f"postgres-{zlib.crc32(str(self).encode()):08x}"

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        user, at, host = parts.netloc.rpartition("@")
        query = [pair for pair in parse_qsl(parts.query) if pair[0] != "password"]
        return self._with_own(_url(f"{user.partition(':')[0]}{at}{host}", parts.path, query))

    def _with_own(self, url: str) -> str:
        """Append the parameters that are ours and not those of libpq."""
        parameters = [("tenant", self.tenant)] if self.tenant != DEFAULT_TENANT else []
        parameters += [] if self.prepares else [("prepare", "no")]
        parameters += [("replicas", "yes")] if self.replicas else []
        return f"{url}{'&' if urlsplit(url).query else '?'}{_query(parameters)}" if parameters else url


def _url(netloc: str, path: str, query: Sequence[tuple[str, str]]) -> str:
    """Join the parts with `//`, even without a host, as for a socket."""
    return f"{SCHEMES[0]}://{netloc}{path}{'?' if query else ''}{_query(query)}"


def _query(pairs: Sequence[tuple[str, str]]) -> str:
    """Encode parameters for libpq, which takes no plus sign for a space."""
    return urlencode(pairs, quote_via=quote)


Where: TypeAlias = Path | Postgres


def of(written: object) -> Where:
    """Return the place for a path or an address such as postgresql://memory@db.example.com/memory?tenant=shop.

    Raises:
        ValueError: the name of the tenant is empty or too long, or `prepare` or `replicas` is neither yes nor no.
    """
    if isinstance(written, Path | Postgres):
        return written
    text = str(written)
    scheme, colon, _ = text.partition("://")
    if not colon or scheme not in SCHEMES:
        return Path(text).expanduser()
    parts = urlsplit(text)
    query = parse_qsl(parts.query, keep_blank_values=True)
    tenant = next((value for name, value in query if name == "tenant"), DEFAULT_TENANT).strip()
    if not 1 <= len(tenant) <= 200:
        raise ValueError("the tenant must have 1 to 200 characters, such as ?tenant=shop")
    prepares, replicas = (
        _is_yes(dict(query), name, unset) for name, unset in (("prepare", "yes"), ("replicas", "no"))
    )
    remaining = [pair for pair in query if pair[0] not in ("tenant", "prepare", "replicas")]
    return Postgres(_url(parts.netloc, parts.path, remaining), tenant, prepares, replicas)


def _is_yes(query: dict[str, str], name: str, unset: str) -> bool:
    value = query.get(name, unset)
    if value not in ("yes", "no"):
        raise ValueError(f"{name} must be yes or no")
    return value == "yes"


def tenants_in(path: Path) -> dict[str, Where]:
    """Return by name the places that a file lists, one `name = place` a line; a line may begin with `#`.

    Raises:
        ValueError: the file cannot be read; or a line is neither, or repeats a name, or its place is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(
            f"{path}: {error.strerror}; this must be a file with a line `name = address` for each"
        ) from error
    places: dict[str, Where] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None or match[1] in places:
            why = (
                "repeats a name"
                if match
                else "is not `name = address`, with a name of letters, digits, - and _"
            )
            raise ValueError(f"line {number} of {path} {why}")
        try:
            places[match[1]] = of(match[2])
        except ValueError as error:
            raise ValueError(f"line {number} of {path}: {error}") from error
    return places
