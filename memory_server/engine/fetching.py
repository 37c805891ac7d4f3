"""Tells of a line of a shell whether it prints what somebody outside has written, and into which files it puts that."""

import os
import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from memory_server.language import commands
from memory_server.language.commands import Invocation
from memory_server.language.invocations import joined
from memory_server.language.shell_words import UNKNOWN

FETCHERS: Final = frozenset(
    "curl wget http https httpie xh aria2c lynx w3m links elinks invoke-webrequest iwr".split()
)
"""Programs that print what an address says; they need not be told its scheme."""

FORGES: Final = frozenset(["gh", "glab"])
"""Programs that print what others have written on a forge."""

_AZURE: Final = frozenset(["repos", "boards", "pipelines", "artifacts", "devops", "rest"])
_CLOUDS: Final = frozenset(["aws", "gsutil", "gcloud", "s3cmd"])
_COPYING: Final = frozenset(["cp", "mv", "sync", "rsync", "put"])
_BUCKET: Final = re.compile(r"(?:s3|gs)://")

REGISTRIES: Final = frozenset(["npm", "pnpm", "yarn", "cargo", "gem", "brew", "docker"])
_SHOWING: Final = frozenset(["view", "info", "show", "search", "v"])

REMOTE: Final = frozenset(["ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet"])
_NAMED_ALONE: Final = REMOTE - {"scp", "rsync"}
_GIT_FETCHES: Final = frozenset(["clone", "fetch", "pull", "ls-remote"])

COPIERS: Final = frozenset(["scp", "rsync", "cp", "mv"])
"""Programs that put what their first words name where the last one says: into a file, or under its name into a
folder."""

SEARCHERS: Final = frozenset(
    "rg grep egrep fgrep zgrep ag ack sed awk gawk perl git echo printf find jq cat head tail ls test psql mysql"
    " redis-cli mongosh pip uv poetry export cd sqlite3 memory-server"
    .split()
)  # fmt: skip
"""Programs to which an address is a word like others."""

ANYWHERE: Final = "*/"
"""Stands before a path whose folder only the run shows."""

_ADDRESS = re.compile(r"\b(?:https?|ftps?|sftp|ssh|git|rsync)://[^\s'\"|;<>)]+", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w.+-]+@)?(localhost|[\w-]+(?:\.[\w-]+)+|)(:[\w/.~-]*)?(?:/\S*)?")
_HOME = re.compile(r"^~(?=/|$)")
_FOLDER = re.compile(r"(?:.*/)?(?:\.{1,2}|~)?")
"""A path that can only be a folder."""

_MAY_BE_ADDRESS = re.compile("localhost|[^/.]*:|[^/.][^/]*[:/]")
_ANY = re.compile("")
_LOCAL = re.compile(r"(?:.*\.)?(?:localhost|local|internal|lan|test)")
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)/")
"""A connection as a shell opens it."""

_FETCHES = re.compile(r"\b(?:curl|wget|gh|glab|httpie|lynx|w3m|aria2c|Invoke-WebRequest|iwr)\b")


@dataclass(frozen=True, slots=True)
class Fetched:
    """`host` is '' where nobody knows it; `files` are those that may hold what was fetched, as seen from where the line
    began."""

    host: str
    files: tuple[str, ...] = ()


def read(line: str) -> Fetched | None:
    """Return what a line fetches; None where it says only what is on this machine."""
    reading = commands.read(line)
    hosts = [host for command in reading.commands if (host := _host(command)) is not None]
    hosts += [host_of(code) for code in reading.code if _FETCHES.search(code) or _is_outside(host_of(code))]
    if not hosts:
        return None
    files = (path for command in reading.commands for path in _files(command))
    return Fetched(next(filter(None, hosts), ""), tuple(filter(None, map(_known, files))))


def files_of(line: str) -> frozenset[str]:
    """Return what may be files that a line reads, as seen from where it began."""
    paths = (
        path
        for command in commands.read(line).commands
        for path in (*command.reads, *(joined(command.folder, word) for word in command.words))
    )
    return frozenset(filter(None, map(_known, paths)))


def whole(paths: Collection[str], folder: Path) -> list[str]:
    """Return the whole paths that those of a command may mean. Its client names the folder in which it began, or the
    one in which a `cd` of it ended."""
    return [
        os.path.normpath(folder / end)
        for path in (_HOME.sub(lambda _: str(Path.home()), path) for path in paths)
        if not path.startswith(ANYWHERE)
        for end in (Path(path), *_ends(Path(path), folder))
    ] + [path for path in paths if path.startswith(ANYWHERE)]


def _ends(path: Path, folder: Path) -> list[Path]:
    """Return what of a path is left in this folder, where the folders that it begins with are the last of this one."""
    counts = range(1, 1 if path.is_absolute() else len(path.parts))
    return [Path(*path.parts[count:]) for count in counts if folder.parts[-count:] == path.parts[:count]]


def is_same(path: str, place: str) -> bool:
    """True for one path, or for two that end alike where nobody knows the folder of one."""
    end, longer = (path, place) if path.startswith(ANYWHERE) else (place, path)
    return path == place or (end.startswith(ANYWHERE) and longer.endswith(end[1:]))


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
    lead = "".join(command.leads[:1])
    devices = map(_DEVICE.match, (*command.reads, *command.writes, *command.words))
    if host := next((device[1] for device in devices if device and not is_local(device[1])), None):
        return host
    if names & FORGES or ("az" in names and lead in _AZURE):
        return ""
    if names & _CLOUDS and any(map(_BUCKET.match, command.words)) and not _uploads(command):
        return ""
    if "git" in names and any("FETCH_HEAD" in word for word in command.words):
        return ""
    if names & REGISTRIES and lead in _SHOWING:
        return ""
    if names & FETCHERS:
        hosts = _hosts(command.words)
        return None if hosts and all(map(is_local, hosts)) else next(iter(hosts), "")
    if names & REMOTE or ("git" in names and lead in _GIT_FETCHES):
        sign = "." if names & _NAMED_ALONE else ":"
        named = (_named(word) for word in command.words if sign in word)
        return next((host for host in named if host and _is_outside(host)), None)
    if names & SEARCHERS:
        return None
    addresses = [word for word in command.words if _ADDRESS.search(word)]
    if not addresses:
        return None
    host = host_of(addresses[0])
    return None if host and is_local(host) else host


def _uploads(command: Invocation) -> bool:
    """True for a command that copies something into a bucket of a cloud."""
    return _BUCKET.match(command.words[-1]) is not None and not _COPYING.isdisjoint(command.words)


def _known(path: str) -> str:
    """Return a path, in ANYWHERE where a variable says its folder; '' where it says its name."""
    if UNKNOWN not in path:
        return path
    end = path.rpartition(UNKNOWN)[2].partition("/")[2]
    return end and ANYWHERE + end


def _files(command: Invocation) -> Iterator[str]:
    """Yield the files that a command may have written."""
    names = list(filter(None, map(_name, command.words)))
    paths = [*command.writes, *(joined(command.folder, path) for path in _downloaded(command))]
    if is_copy := not COPIERS.isdisjoint(command.programs):
        target = "".join(command.words[-1:])
        paths, names = [joined(command.folder, target)], list(filter(None, map(_name, command.words[:-1])))
        if ":" in target:
            return
    for path in paths:
        is_folder = _FOLDER.fullmatch(path) is not None
        if not is_folder:
            yield path
        if is_folder or is_copy:
            yield from (posixpath.join(path, name) for name in names)


def _name(word: str) -> str:
    """Return the name of the file that an address or a path ends with; '' where it is a folder."""
    return word.partition("?")[0].rpartition("/")[2].rpartition(":")[2]


def _downloaded(command: Invocation) -> list[str]:
    """Return the files into which a command may put what it fetches, and the folders."""
    addresses = [word for word in command.words if _ADDRESS.match(word)]
    names = list(map(_name, addresses))
    if "curl" in command.programs:
        letters = "".join(flag for flag in command.flags if not flag.startswith("--"))
        to_file = "o" in letters or "--output" in command.flags
        plain = [word for word in command.words if word not in addresses] if to_file else []
        return plain + (names if "O" in letters or "--remote-name" in command.flags else [])
    if not _CLOUDS.isdisjoint(command.programs):
        return list(command.words[-1:])
    if {"wget", "aria2c"}.isdisjoint(command.programs):
        return []
    plain = [word for word in command.words if word not in addresses]
    return [*plain, *names, *(posixpath.join(folder, name) for folder in plain for name in names)]


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
