"""`memory-server hook EVENT` as a client of an engine. A person waits for it: it imports the standard library alone."""

import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from memory_server import defaults, flags
from memory_server.front import finding, place
from memory_server.hook import written
from memory_server.hook.output import tell

PROMPT = "UserPromptSubmit"
"""The event that takes an embedder and JavaScript."""

ACTS = frozenset([written.BEFORE, written.EVENT, written.FAILED])
"""The events around what an assistant does."""

HEARD = frozenset(["SessionStart", PROMPT, written.EVENT, written.FAILED])
"""The events of which every engine of a database hears, since any of them may serve the session."""

PATIENCE = 5.0
"""Seconds that an engine has to start and to answer. It gives up after 1.5 itself, once it has started."""

BEFORE_AN_ACT = 0.5
"""The same around an act, of which there are hundreds in a session. None of them starts an engine."""

BEFORE_A_PROMPT = 2.0
"""The same before a prompt, for which a person waits. A first start can take longer; the next prompt has its engine."""

LEAST = 0.1
"""Seconds that an engine has to answer at least, however long its start took."""


def relay(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> bool:
    """Let an engine answer what the client said, and print that. Return False where this process has to do the work.

    Where no engine answers, nothing is said before a prompt. An act starts no engine, since where none runs no session
    stores anything; but before an act this process looks for rules itself.

    Raises:
        TimeoutError: an engine starts or runs, and does not answer in time.
    """
    event, flags_of_hook = arguments[0], dict(flags.of_hook(arguments[1:]))
    is_act = event in ACTS and not (event == written.EVENT and written.is_memory(data))
    needs_engine = is_act or event == PROMPT
    is_done_without = needs_engine and event != written.BEFORE
    if not finding.may_be_used(flags_of_hook, environment):
        return is_done_without
    engine = finding.wanted(flags_of_hook, environment)
    seconds = BEFORE_AN_ACT if is_act else BEFORE_A_PROMPT if needs_engine else PATIENCE
    ends = time.monotonic() + seconds
    try:
        links = finding.all_running(engine)
        starts = engine.has_memory and not is_act
        link = next(links, None) or (finding.reach(engine, seconds) if starts else None)
        members = _members(engine, arguments, environment, data)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return is_done_without
    if link is None:
        return is_done_without
    if event in HEARD:
        _tell_others(links, finding.hello(engine, heard=True, **members))
    answer = _answer(link, finding.hello(engine, **members), ends)
    if answer is not None:
        with suppress(OSError):  # the client has gone
            tell(answer)
    return answer is not None or event != written.BEFORE


def _members(
    engine: finding.WantedEngine, arguments: Sequence[str], environment: Mapping[str, str], data: bytes
) -> dict[str, object]:
    """Return what an engine is told of a hook.

    Raises:
        ValueError: what the client said is not UTF-8.
    """
    return {
        "hook": list(arguments),
        "input": written.cut(data).decode(),
        "database": place.name_of(engine.database),
        "environment": {
            name: value for name, value in environment.items() if name.startswith((flags.PREFIX, "CLAUDE_"))
        },
        "folder": str(defaults.folder()),
    }


def _tell_others(links: Iterator[socket.socket], line: bytes) -> None:
    """Let the other engines of the database hear what happened; none of them answers."""
    for link in links:
        with link, suppress(OSError):  # it has ended
            link.sendall(line)


def _answer(link: socket.socket, line: bytes, ends: float) -> str | None:
    """Return the answer of an engine; None where it has ended, which must make no hook fail.

    Raises:
        TimeoutError: it does not answer until `ends`.
    """
    with link, suppress(ConnectionError, ValueError, KeyError):
        link.settimeout(max(LEAST, ends - time.monotonic()))
        link.sendall(line)
        with link.makefile("rb") as lines:
            return str(json.loads(lines.readline())["answer"])
    return None


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Start an engine for the next act, and do not wait for it."""
    flags_of_hook = dict(flags.of_hook(arguments[1:]))
    if finding.may_be_used(flags_of_hook, environment):
        with suppress(OSError):  # a TimeoutError too: it starts
            finding.reach(finding.wanted(flags_of_hook, environment), 0).close()
