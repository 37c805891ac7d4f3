"""`memory-server hook EVENT` as a client of an engine. A person waits for it: it imports the standard library alone."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memory_server import defaults, flags
from memory_server.front import finding
from memory_server.hook import place, settings
from memory_server.hook.output import tell

PROMPT = "UserPromptSubmit"
"""The event that takes an embedder and JavaScript."""

PATIENCE = 5.0
"""Seconds that an engine has to start and to answer. It gives up after 1.5 itself, once it has started."""


def answered(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> bool:
    """Let an engine answer what the client said, and print that. Returns False where this process has to do its work:
    there can be no engine. Before a prompt nothing is said then.
    """
    flags_of_hook, needs_engine = dict(settings.flags_of(arguments[1:])), arguments[0] == PROMPT
    if not finding.may_be_used(flags_of_hook, environment):
        return needs_engine
    engine = finding.wanted(flags_of_hook, environment)
    try:
        link = finding.running_for(engine) or (finding.reach(engine) if engine.has_memory else None)
        text = data.decode()
    except (OSError, ValueError):
        return needs_engine
    if link is None:
        return needs_engine
    variables = {
        name: value for name, value in environment.items() if name.startswith((flags.PREFIX, "CLAUDE_"))
    }
    members = {
        "database": place.name_of(engine.database),
        "environment": variables,
        "folder": str(defaults.folder()),
    }
    with link, suppress(OSError, ValueError, KeyError):  # it has ended, or is too slow: a hook must not fail
        link.settimeout(PATIENCE)
        link.sendall(finding.hello(engine, hook=list(arguments), input=text, **members))
        with link.makefile("rb") as lines:
            tell(json.loads(lines.readline())["answer"])
    return True
