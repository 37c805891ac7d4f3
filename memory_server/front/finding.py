"""Finds the engine that a session needs, or starts it.

An engine serves one user, one database, one installed program, and the settings that make a process different. Its
socket is named after them, in a folder that nobody else may enter. gopls (`-remote=auto`) and watchman do it so too.
"""

import io
import json
import os
import select
import socket
import sys
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from memory_server import __version__, defaults, flags, where
from memory_server.front import place

OF_A_SESSION = ("project", "session", "toolsets", "tools", "exclude_tools")
"""Settings that each connection says for itself. All others make another engine, or do not concern one."""

NOT_OF_AN_ENGINE = ("engine", "hooks_off", "no_early_answers")

PLAIN = frozenset(["db", "engine_idle", "log_level"])
"""Settings that change no answer."""

FILES = {"dictionary", "stop_words"}
"""Settings that name a file which an engine reads once: when it has changed, it makes another engine."""

OF_A_PROCESS = (
    "TZ",
    "HOME",
    "XDG_CACHE_HOME",
    "OPENAI_API_KEY",
    "MEMORY_SERVER_EMBEDDER_KEY",
    "MEMORY_SERVER_RERANKER_KEY",
)
"""Variables that are no settings and make a process different."""

STARTING = 10.0
"""Seconds that a start may take until the engine listens: it does so before its imports."""

LOOK = 0.01
"""Seconds between two looks whether another process has started it."""

LONGEST_NAME = len("/12345678-12345678-12345678.sock")

DETACHED = '"$@" &'
"""Of a shell, which ends at once: an engine is nobody's child, so what ends a client with its children spares it."""


ANEW = os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags of a file that is made or used: nothing that lies in its place leads elsewhere, or is waited for."""


class WantedEngine(NamedTuple):
    """The engine that a client wants. `environment` is that of its process, `identity` tells it from all others.
    `is_plain`: it has no settings but the database, and what concerns its process alone.
    """

    database: where.Where
    environment: Mapping[str, str]
    identity: str
    name: str
    is_plain: bool

    def paths(self) -> Iterator[Path]:
        """Yield the paths at which its socket may be, best first."""
        return (folder / f"{self.name}.sock" for folder in place.folders())

    @property
    def has_memory(self) -> bool:
        """True for a file that has a memory: an engine would make a new one."""
        return isinstance(self.database, Path) and self.database.exists() and self.database.stat().st_size > 0


def may_be_used(server_flags: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """True unless the settings switch engines off, or are wrong."""
    return os.name != "nt" and flags.value_of("engine", server_flags, environment) in ("", "auto")


def wanted(server_flags: Mapping[str, object], environment: Mapping[str, str]) -> WantedEngine:
    """Return the engine for a server with these flags and variables."""
    names = flags.SETTINGS.difference(OF_A_SESSION, NOT_OF_AN_ENGINE)
    settings = {name: flags.value_of(name, server_flags, environment) for name in sorted(names)}
    settings = {name: value for name, value in settings.items() if value}
    database = where.of(settings["db"]) if "db" in settings else defaults.database()
    if isinstance(database, Path):
        settings = {**settings, **({"db": os.path.realpath(database)} if "db" in settings else {})}
    files = sorted(FILES & settings.keys())
    settings |= {name: str(Path(settings[name]).expanduser().absolute()) for name in files}
    process = [environment.get(name, "") for name in OF_A_PROCESS]
    process += [str(defaults.is_month_first(environment)), *(_state(settings[name]) for name in files)]
    if not isinstance(database, Path):
        process += sorted(f"{name}={value}" for name, value in environment.items() if name.startswith("PG"))
    identity = json.dumps([place.name_of(database), program(), settings, process])
    name = f"{short(place.name_of(database))}-{program()}-{short(identity)}"
    variables = {name: value for name, value in environment.items() if not _is_setting(name)}
    variables |= {flags.PREFIX + name.upper(): value for name, value in settings.items()}
    checksums = f"{short(identity)}{zlib.adler32(identity.encode()):08x}"
    is_plain = not settings.keys() - PLAIN and _is_right(settings)
    return WantedEngine(database, variables, checksums, name, is_plain)


def _is_right(settings: Mapping[str, str]) -> bool:
    """Return True where the plain settings have values that an engine takes."""
    try:
        seconds = float(settings.get("engine_idle", "0"))
    except ValueError:
        return False
    level = settings.get("log_level", flags.LEVELS[0]).strip().upper()
    return 0 <= seconds <= flags.LONGEST_IDLE and level in flags.LEVELS


def program() -> str:
    """Name this installation of this version."""
    return short(json.dumps([__version__, sys.executable, str(Path(__file__).parents[1])]))


def _state(path: str) -> str:
    """Return what changes with a file."""
    try:
        state = Path(path).stat()
    except OSError:
        return ""
    return f"{state.st_mtime_ns} {state.st_size}"


def _is_setting(variable: str) -> bool:
    """Return True for a variable that an engine does not inherit: it hears the settings of each session."""
    name = variable.upper().removeprefix(flags.PREFIX).lower()
    return variable in flags.OF_A_CLIENT.values() or (name != variable.lower() and name in flags.SETTINGS)


def of_a_session(server_flags: Mapping[str, object], environment: Mapping[str, str]) -> dict[str, object]:
    """Return the settings that a connection says for itself, as far as they are given."""
    names = {name: flags.value_of(name, {}, environment) for name in OF_A_SESSION}
    variables = {
        name: names[name] or environment.get(flags.OF_A_CLIENT.get(name, ""), "") for name in OF_A_SESSION
    }
    flags_of_session = {name: value for name, value in server_flags.items() if name in OF_A_SESSION}
    return {name: value for name, value in variables.items() if value} | flags_of_session


def reach(engine: WantedEngine, seconds: float = STARTING) -> socket.socket:
    """Connect to the engine, which is started where there is none.

    Raises:
        TimeoutError: it takes longer.
        OSError: there can be none, such as in a sandbox without sockets.
    """
    if (link := running(engine)) is not None:
        return link
    ends = time.monotonic() + seconds
    folder = own_folder()
    with _alone(folder / f"{engine.name}.starting", ends):
        if (link := running(engine)) is not None:
            return link
        if not _start(engine, folder, ends):
            raise TimeoutError("the engine does not listen")
        if (link := running(engine)) is None:
            raise ConnectionError(f"the engine ended at its start; {folder / engine.name}.log says why")
        return link


def running(engine: WantedEngine) -> socket.socket | None:
    """Connect to the engine if it runs."""
    for path in engine.paths():
        if place.is_private(path.parent) and (link := connected(path)) is not None:
            return link
    return None


def all_running(engine: WantedEngine) -> Iterator[socket.socket]:
    """Connect to the engine if it runs, then to each other one of the same database and program: a client may start its
    hooks and its server in different surroundings."""
    if (link := running(engine)) is not None:
        yield link
    yield from all_of(engine.database, set(engine.paths()))


def all_of(database: where.Where, left_out: Collection[Path] = ()) -> Iterator[socket.socket]:
    """Connect to each engine of a database and this program, but those at the paths that are left out."""
    for folder in filter(place.is_private, place.folders()):
        for path in folder.glob(f"{short(place.name_of(database))}-{program()}-*.sock"):
            if path not in left_out and (link := connected(path)) is not None:
                yield link


def connected(path: Path) -> socket.socket | None:
    """Connect to a socket of this user; None where nobody listens."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(OSError):
        link.settimeout(STARTING)
        link.connect(str(path))
        if place.is_of_this_user(link):
            link.settimeout(None)
            return link
    link.close()
    return None


def hello(engine: WantedEngine, **members: object) -> bytes:
    """Return the first line of a connection."""
    return json.dumps({"engine": engine.identity, **members}).encode() + b"\n"


def own_folder() -> Path:
    """Make the folder of the sockets.

    Raises:
        OSError: none can be made that is private, with a path that is short enough.
    """
    for folder in place.folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        if place.is_private(folder) and len(os.fsencode(folder)) + LONGEST_NAME <= place.LONGEST:
            return folder
    raise NotADirectoryError("there is no private folder for a socket")


@contextmanager
def _alone(path: Path, ends: float) -> Iterator[None]:
    """Let only one process start an engine.

    Raises:
        TimeoutError: another one does, and takes too long.
    """
    while (file := lock(path)) is None:
        if time.monotonic() > ends:
            raise TimeoutError("another process starts the engine, and takes too long")
        time.sleep(LOOK)
    try:
        yield
    finally:
        unlock(path, file)


def lock(path: Path) -> int | None:
    """Open a file and lock it. None: another process has it.

    Its holder may remove the file before it lets it go. So a lock counts only where the path still leads to the file.
    """
    import fcntl  # which Windows has not

    while True:
        file = os.open(path, os.O_RDWR | ANEW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        if is_at(path, file):
            return file
        os.close(file)


def is_at(path: Path, file: int) -> bool:
    """True if the path leads to the open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(file))
    return False


def unlock(path: Path, file: int) -> None:
    """Remove a locked file, then let it go."""
    with suppress(OSError):  # the folder may have gone
        path.unlink(missing_ok=True)
    os.close(file)


def _start(engine: WantedEngine, folder: Path, ends: float) -> bool:
    """Start the engine, and wait until it listens or has ended. False: its time is over."""
    log = os.open(folder / f"{engine.name}.log", os.O_WRONLY | os.O_APPEND | os.O_TRUNC | ANEW, 0o600)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    listens, says_so = os.pipe()
    command = [sys.executable, "-P", "-m", "memory_server", "engine", "run"]
    arguments = ["/bin/sh", "-c", DETACHED, "sh", *command, str(folder / engine.name), engine.identity]
    streams = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate((null, says_so, log))]
    with io.FileIO(listens, "rb") as output:  # which the engine closes when it listens
        try:
            shell = os.posix_spawn(arguments[0], arguments, engine.environment, file_actions=streams)
        finally:
            for file in (null, says_so, log):
                os.close(file)
        with suppress(ChildProcessError):  # a client may have it that children vanish
            os.waitpid(shell, 0)
        poll = select.poll()
        poll.register(output, 0)  # an end is told without being asked for
        return bool(poll.poll(max(0.0, ends - time.monotonic()) * 1000))


def short(text: str) -> str:
    return f"{zlib.crc32(os.fsencode(text)):08x}"
