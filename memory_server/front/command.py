"""Commands as clients of an engine, such as `memory-server search`. They import the standard library alone."""

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from memory_server import defaults, flags
from memory_server.front import finding, place

READING = frozenset(["search", "recall"])
"""Commands that another process may repeat."""

GLANCES = frozenset(["facts", "list", "log", "show"])
"""Commands that only read rows: they ask an engine that runs, and start none."""

RELAYED = READING | GLANCES | {"add"}

HERE = frozenset(["-h", "--help", "--version", "-"])
"""Words with which the command is for this process: `-` is the text on standard input."""

PATIENCE = 30.0
"""Seconds that an engine has to start and to answer."""

COLUMNS = 80
"""Columns of a terminal that does not tell them."""

LOST = "The engine ended while it stored this. Check whether it is stored before you add it again."
SILENT = "The engine does not answer. `memory-server engine status` shows it."

Json = dict[str, Any]


class Command(NamedTuple):
    """A command line: the flags that make another engine, and all other words, the name of the command first."""

    engine_flags: Mapping[str, object]
    words: Sequence[str]


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Let an engine run the command, and print what that prints.

    Returns the exit code, or None where this process has to run the command.
    """
    command = parted(arguments)
    if command is None or not finding.may_be_used(command.engine_flags, environment):
        return None
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # so Ctrl-C prints no traceback
    name = command.words[0]
    try:
        engine = finding.wanted(command.engine_flags, environment)
        link = _reached(engine, name)
    except (OSError, ValueError):  # this process says what is wrong
        return None
    is_reading = name in READING | GLANCES
    return None if link is None else _relayed(link, _hello(engine, command.words, environment), is_reading)


def parted(arguments: Sequence[str]) -> Command | None:
    """Part the flags of an engine from the other words; None where this is no command for one."""
    names = {flags.flag_of(name): name for name in flags.SETTINGS.difference(finding.OF_A_SESSION)}
    engine_flags: dict[str, object] = {}
    words: list[str] = []
    left = iter(arguments)
    for word in left:
        flag, equals, value = word.partition("=")
        name = names.get(flag)
        if word == "--":
            words += [word, *left]
        elif name is None:
            words.append(word)
        elif name in flags.SWITCHES and not equals:
            engine_flags[name] = True
        elif name not in flags.SWITCHES and (value := value if equals else next(left, "")):
            engine_flags[name] = value
        else:
            return None
    is_relayed = bool(words) and words[0] in RELAYED and not HERE.intersection(words)
    return Command(engine_flags, words) if is_relayed and _is_unicode(words) else None


def _reached(engine: finding.WantedEngine, name: str) -> socket.socket | None:
    """Connect to an engine for this command. It is started where there is none, except for a glance. A command that
    only reads makes no database, and if it has no settings of its own, any engine of the database does.

    Raises:
        OSError: there can be none.
    """
    if name not in READING | GLANCES:
        return finding.reach(engine)
    link = next(finding.all_running(engine), None) if engine.is_plain else finding.running(engine)
    if link is None and name in READING and engine.has_memory:
        return finding.reach(engine)
    return link


def _hello(engine: finding.WantedEngine, words: Sequence[str], environment: Mapping[str, str]) -> bytes:
    colors = not environment.get("NO_COLOR") and environment.get("TERM") not in (None, "dumb", "unknown")
    return finding.hello(
        engine,
        command=words,
        database=place.name_of(engine.database),
        session=finding.of_a_session({}, environment),
        folder=str(defaults.folder()),
        zone=environment.get("TZ", ""),
        width=_width(environment),
        colors=colors,
        language=flags.language(environment),
    )


def _relayed(link: socket.socket, hello: bytes, is_reading: bool) -> int | None:
    """Return the exit code. None where the engine leaves the command, or has ended and nothing can be written twice."""
    has_begun = False
    with link, link.makefile("rb") as lines:
        link.settimeout(PATIENCE)
        try:
            link.sendall(hello)
            has_begun = lines.read(1) == b"\n"
            answer: Json | None = json.loads(lines.readline())
        except TimeoutError:
            return _failed(SILENT)
        except (OSError, ValueError):
            return _failed(LOST) if has_begun and not is_reading else None
    return None if answer is None else _printed(answer)


def _printed(answer: Json) -> int:
    try:
        _print(sys.stdout, answer["out"])
        _print(sys.stderr, answer["err"])
    except BrokenPipeError:  # who reads has seen enough
        return 1
    except OSError as error:
        return _failed(f"the output cannot be written: {error.strerror}. Free some space.")
    code: int = answer["code"]
    return code


def _print(stream: TextIO | None, text: str) -> None:
    if stream is None or not text:
        return
    encoding = stream.encoding if stream.isatty() else "utf-8"
    left = text.replace("\n", os.linesep).encode(encoding, "backslashreplace")
    while left:
        left = left[os.write(stream.fileno(), left) :]


def _failed(problem: str) -> int:
    _print(sys.stderr, f"memory-server: {problem}\n")
    return 1


def _width(environment: Mapping[str, str]) -> int | None:
    """Return the columns of the terminal; None where standard output is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    named = environment.get("COLUMNS", "")
    columns = int(named) if named.isdecimal() else 0
    return columns or os.get_terminal_size(sys.stdout.fileno()).columns or COLUMNS


def _is_unicode(words: Sequence[str]) -> bool:
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return False
    return True
