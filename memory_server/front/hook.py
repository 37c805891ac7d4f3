"""`memory-server hook EVENT` as a client of an engine. A person waits for it: it imports the standard library alone."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memory_server import defaults, flags
from memory_server.front import finding, place
from memory_server.hook import written
from memory_server.hook.output import tell

PROMPT = "UserPromptSubmit"
"""The event that takes an embedder and JavaScript."""

ACTS = frozenset([written.BEFORE, written.EVENT, written.FAILED])
"""The events around what an assistant does."""

HEARD = frozenset(["SessionStart", PROMPT, written.EVENT])
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
    is_act = arguments[0] in ACTS and not (arguments[0] == written.EVENT and written.is_memory(data))
    flags_of_hook, needs_engine = dict(flags.of_hook(arguments[1:])), is_act or arguments[0] == PROMPT
    is_done_without = needs_engine and arguments[0] != written.BEFORE
    if not finding.may_be_used(flags_of_hook, environment):
        return is_done_without
    engine = finding.wanted(flags_of_hook, environment)
    seconds = BEFORE_AN_ACT if is_act else BEFORE_A_PROMPT if needs_engine else PATIENCE
    ends = time.monotonic() + seconds
    try:
        starts = engine.has_memory and not is_act
        links = finding.all_running(engine)
        link = next(links, None) or (finding.reach(engine, seconds) if starts else None)
        text = written.cut(data).decode()
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return needs_engine
    if link is None:
        return is_done_without
    variables = {
        name: value for name, value in environment.items() if name.startswith((flags.PREFIX, "CLAUDE_"))
    }
    members = {
        "database": place.name_of(engine.database),
        "environment": variables,
        "folder": str(defaults.folder()),
    }
    if arguments[0] in HEARD:
        for further in links:
            with further, suppress(OSError):  # it has ended
                further.sendall(
                    finding.hello(engine, hook=list(arguments), input=text, heard=True, **members)
                )
    answer = ""
    with link, suppress(ConnectionError, ValueError, KeyError):  # it has ended: a hook must not fail
        link.settimeout(max(LEAST, ends - time.monotonic()))
        link.sendall(finding.hello(engine, hook=list(arguments), input=text, **members))
        with link.makefile("rb") as lines:
            answer = json.loads(lines.readline())["answer"]
    with suppress(OSError):  # the client has gone
        tell(answer)
    return True


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Start an engine for the next act, and do not wait for it."""
    flags_of_hook = dict(flags.of_hook(arguments[1:]))
    if finding.may_be_used(flags_of_hook, environment):
        with suppress(OSError):  # a TimeoutError too: it starts
            finding.reach(finding.wanted(flags_of_hook, environment), 0).close()
