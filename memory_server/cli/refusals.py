"""Words, in the language of the person, for what was not taken over and for what hooks could not do."""

import re

from memory_server.cli.terminal import colon, filled, is_chinese, translated
from memory_server.language.catalogue import word

_PLACES = (
    "line {at} of session {session}",
    "message {at} of session {session}",
    "row {at} of {file}",
    "point {at} of {file}",
    "{file}, item {at}",
    "line {at}",
    "row {at}",
    "item {at}",
)
"""How a source names a part of it by a number."""

_NOUNS = (
    "memory file", "journal entry", "conversation", "observation", "relation", "session", "summary", "memory", "prompt",
    "block", "digest", "question", "project", "space", "turn", "fact", "edge", "file", "link", "use", "short_term",
    "long_term",
)  # fmt: skip
"""The same by a name."""

_FAILED = " failed: "
"""What stands before the reason in a line of the log of hooks."""


def refused(where: str, why: str) -> str:
    """Return where a part of a source is, and why it was not taken over."""
    return f"{_place(where)}{colon()}{translated(why)}" if is_chinese() else f"{where}: {why}"


def failure(line: str) -> str:
    """Return a line of the log of hooks, with its reason in the language of the person."""
    head, _, reason = line.partition(_FAILED)
    if not reason or not is_chinese():
        return line
    name, _, message = reason.partition(": ")
    reason = f"{name}{colon()}{translated(message)}" if name.isidentifier() else translated(reason)
    return f"{head} {translated('failed')}{colon()}{reason}"


def _place(where: str) -> str:
    for english in _PLACES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(english))
        if match := re.fullmatch(pattern, where, re.DOTALL):
            return filled(english, **match.groupdict())
    noun = next((noun for noun in _NOUNS if where.startswith(f"{noun} ")), "")
    return f"{word(noun)} {where.removeprefix(noun).strip()}" if noun else where
