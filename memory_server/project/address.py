"""The address of a git remote in one form, whichever way it is written; never with a credential."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

_HELPER = re.compile(r"[\w+.-]+::")
"""The name of a remote helper before an address: `codecommit::…`."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

_SCP = re.compile(r"[^/\s]+:")
"""`user@host:path`: a colon before the first slash, as git tells it from a path (git-fetch(1), GIT URLS)."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")

_HOST = re.compile(r"(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:\[\]]*))(?::(?P<port>\d*))?")

DEFAULT_PORTS = ("", "22", "80", "443", "9418")
"""The ports of ssh, http, https and git: with one of them an address is the same as without."""

SSH_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
"""Hosts that offer the repositories of another one over ssh, as these services document."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a repository on another machine: `github.com`, `Acme/App`."""

    host: str
    path: str

    @property
    def key(self) -> str:
        """One text for all forms of the address. Services that host repositories ignore the case of its letters."""
        return f"{self.host}/{self.path}".casefold()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def is_path(text: str) -> bool:
    """True for the absolute path of a folder, on any system."""
    return text.startswith(("/", "\\\\")) or _DRIVE.match(text) is not None


def is_address(text: str) -> bool:
    """True for a text that can only be an address: it has a scheme, or a user before a host and a path."""
    return _SCHEME.match(text) is not None or re.match(r"[\w.+-]+@[\w.-]+:\S", text) is not None


def local_path(url: str) -> str | None:
    """Return the path of a remote that is a folder on this machine, as git tells it from an address; else None."""
    if url.lower().startswith("file://"):
        path = unquote(re.sub(r"(?i)^file://(localhost)?", "", url))
        return path[1:] if _DRIVE.match(path[1:]) else path
    if is_path(url) or not (_HELPER.match(url) or _SCHEME.match(url) or _SCP.match(url)):
        return url
    return None


def read(url: str) -> Address | None:
    """Return the address without scheme, user, password, token, default port, `.git` and query; None where nothing is
    left.

    All before the last @ is taken for a credential: a password may hold any character, and no part of one may stay.
    """
    location = _HELPER.sub("", url.strip(), count=1)
    scheme = _SCHEME.match(location)
    location = re.split(r"[?#]", (location[scheme.end() :] if scheme else location).rpartition("@")[2])[0]
    if scheme:
        place, _, path = location.partition("/")
    else:
        place, path = _of_scp(location)
    host_match = _HOST.fullmatch(place)
    if host_match is None:
        return None
    host = (host_match["six"] or host_match["host"] or "").lower().rstrip(".").removeprefix("www.")
    path = _path(path, host)
    if not host or not path:
        return None
    port = host_match["port"] or ""
    host = SSH_HOSTS.get(host, host)
    return Address(host if port in DEFAULT_PORTS else f"{host}:{port}", path)


def _of_scp(location: str) -> tuple[str, str]:
    """Split `host:path`, `host/path`, `[host:port]:path`, `[::1]:path`; the [ may be gone with a user."""
    bracketed = re.match(r"\[?([^\[\]]*)\]:?(.*)", location, re.DOTALL)
    if bracketed is not None:
        inner = bracketed[1]
        return (f"[{inner}]" if inner.count(":") > 1 else inner), bracketed[2]
    place, colon, path = location.partition(":")
    if not colon or "/" in place:
        place, _, path = location.partition("/")
    return place, path


def _path(path: str, host: str) -> str:
    readable = "".join(filter(str.isprintable, unquote(path)))
    parts = [part for part in readable.split("/") if part not in ("", "~", ".")]
    if host in ("dev.azure.com", "ssh.dev.azure.com"):  # v3/owner/project/app, owner/project/_git/app
        parts = [part for part in parts[parts[:1] == ["v3"] :] if part != "_git"]
    name = "/".join(parts)
    return name[: -len(".git")] if name.lower().endswith(".git") else name
