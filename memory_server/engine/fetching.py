"""Tells of a line of a shell whether it prints what somebody outside has written, and into which files it puts that."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from memory_server.language import commands
from memory_server.language.commands import Invocation
from memory_server.language.shell_words import UNKNOWN

FETCHERS: Final = frozenset(
    "curl wget http https httpie xh aria2c lynx w3m links elinks invoke-webrequest iwr".split()
)
"""Programs that print what an address says; they need not be told its scheme."""

FORGES: Final = frozenset(["gh", "glab"])
"""Programs that print what others have written on a forge."""

REGISTRIES: Final = frozenset(["npm", "pnpm", "yarn", "cargo", "gem", "brew", "docker"])
_SHOWING: Final = frozenset(["view", "info", "show", "search", "v"])

REMOTE: Final = frozenset(["ssh", "scp", "sftp", "rsync"])

SEARCHERS: Final = frozenset(
    "rg grep egrep fgrep zgrep ag ack sed awk gawk perl git echo printf find jq cat head tail ls test psql mysql"
    " redis-cli mongosh pip uv poetry export cd sqlite3 memory-server"
    .split()
)  # fmt: skip
"""Programs to which an address is a word like others."""

_ADDRESS = re.compile(r"\b(?:https?|ftp)://[^\s'\"|;<>)]+", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w.+-]+@)?(localhost|[\w-]+(?:\.[\w-]+)+|)(:[\w/.~-]*)?(?:/\S*)?")
_MAY_BE_ADDRESS = re.compile("localhost|[^/.]*:|[^/.][^/]*[:/]")
_ANY = re.compile("")
_LOCAL = re.compile(r"(?:.*\.)?(?:localhost|local|internal|lan|test)")
_FETCHES = re.compile(r"\b(?:curl|wget|gh|glab|httpie|lynx|w3m|aria2c|Invoke-WebRequest|iwr)\b")


@dataclass(frozen=True, slots=True)
class Fetched:
    """`host` is '' where nobody knows it; `files` are those that may hold what was fetched."""

    host: str
    files: tuple[str, ...] = ()


def read(line: str) -> Fetched | None:
    """Return what a line fetches; None where it says only what is on this machine."""
    reading = commands.read(line)
    hosts = [host for command in reading.commands if (host := _host(command)) is not None]
    hosts += [host_of(code) for code in reading.code if _FETCHES.search(code) or _is_outside(host_of(code))]
    if not hosts:
        return None
    files = [path for command in reading.commands for path in (*command.writes, *_downloaded(command))]
    named = (path.removeprefix("./") for path in files if path and UNKNOWN not in path)
    return Fetched(next(filter(None, hosts), ""), tuple(named))


def files_of(line: str) -> frozenset[str]:
    """Return the words of a line that may be files."""
    return frozenset(
        word.removeprefix("./") for command in commands.read(line).commands for word in command.words
    )


def host_of(text: str) -> str:
    """Return the host of the first address in a text; '' where it has none."""
    address = _ADDRESS.search(text)
    try:
        return (urlsplit(address[0]).hostname if address else None) or ""
    except ValueError:
        return ""


def is_local(host: str) -> bool:
    """True for this machine, for an address of a private network, and for a name without a dot."""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or _LOCAL.fullmatch(host) is not None
    return address.is_private or address.is_loopback or address.is_unspecified


def _is_outside(host: str) -> bool:
    return bool(host) and not is_local(host)


def _host(command: Invocation) -> str | None:
    """Return the host from which a command prints something; None where it prints what is on this machine."""
    names = frozenset(name.lower() for name in command.programs)
    if names & FORGES:
        return ""
    if names & REGISTRIES and _SHOWING.intersection(command.leads[:1]):
        return ""
    if names & FETCHERS:
        hosts = _hosts(command.words)
        return None if hosts and all(map(is_local, hosts)) else next(iter(hosts), "")
    if names & REMOTE or ("git" in names and command.leads[:1] == ("clone",)):
        hosts = [match[1] for word in command.words if "." in word and (match := _HOST.fullmatch(word))]
        return next((host for host in map(str, hosts) if _is_outside(host)), None)
    if names & SEARCHERS:
        return None
    addresses = [word for word in command.words if _ADDRESS.search(word)]
    if not addresses:
        return None
    host = host_of(addresses[0])
    return None if host and is_local(host) else host


def _downloaded(command: Invocation) -> list[str]:
    """Return the files into which a command may put what it fetches."""
    addresses = [word for word in command.words if _ADDRESS.match(word)]
    names = [word.partition("?")[0].rpartition("/")[2] for word in addresses]
    if "curl" in command.programs:
        letters = "".join(flag for flag in command.flags if not flag.startswith("--"))
        to_file = "o" in letters or "--output" in command.flags
        plain = [word for word in command.words if word not in addresses] if to_file else []
        return plain + (names if "O" in letters or "--remote-name" in command.flags else [])
    is_download = not {"wget", "aria2c"}.isdisjoint(command.programs)
    return [*(word for word in command.words if word not in addresses), *names] if is_download else []


def _hosts(words: Sequence[str]) -> list[str]:
    """Return the hosts of the words that are surely addresses; where none is, of those that may be."""
    for pattern in (_ADDRESS, _MAY_BE_ADDRESS, _ANY):
        if hosts := [host for word in words if pattern.match(word) and (host := _named(word)) is not None]:
            return hosts
    return []


def _named(word: str) -> str | None:
    """Return the host of an address, whether it says its scheme or not; None where a word is none."""
    if _ADDRESS.match(word):
        return host_of(word)
    if "/" in word and word.startswith(("/", ".", "~")):
        return None
    match = _HOST.fullmatch(word)
    return (match[1] or "localhost") if match and (match[1] or match[2]) else None
