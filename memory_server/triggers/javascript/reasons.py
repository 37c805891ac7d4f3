"""Says why a trigger has its value: which of its parts hold, and what woke it."""

import re
from collections.abc import Iterator, Sequence

from memory_server.language.text import visible

SHOWN = 60
"""Characters of a part that are shown."""

MOST_CHARACTERS = 500
"""Characters of an explanation."""

MOST_REASONS = 4
"""Parts that are named: a choice, to save tokens."""

_EXCERPTS = re.compile(":? ?\x02[^\x03]*\x03")
"""What was said, between the marks that the worker sets."""


def shown(why: str) -> str:
    """The reasons with their excerpts."""
    return _cut(visible(_joined(why.replace("\x02", "").replace("\x03", ""))))


def kept(why: str) -> str:
    """The reasons without anything that was said."""
    return _cut(visible(_joined(_EXCERPTS.sub("", why).partition("\x02")[0])))


def told(sources: Sequence[str], parts: object, holds: bool) -> str:
    """The answer in words: what was found by the parts that make a trigger true or false, or what these give."""
    if not isinstance(parts, list):
        return ""
    values = [(source, *part) for source, part in zip(sources, parts, strict=False) if _is_part(part)]
    deciding = [value for value in values if value[2] is holds and value[1] != "fails"] or values
    reasons = list(dict.fromkeys(_reasons(deciding)))
    more = len(reasons) - MOST_REASONS
    return "\n".join([*reasons[:MOST_REASONS], *([f"and {more} more"] if more > 0 else [])])


def _is_part(part: object) -> bool:
    match part:
        case [str(), bool(), str()]:
            return True
    return False


def _reasons(values: Sequence[tuple[str, str, bool, str]]) -> Iterator[str]:
    for source, text, _, why in values:
        if why:
            yield from why.split("\n")
        elif source.strip() != text:
            line = " ".join(source.split())
            yield f"{line if len(line) <= SHOWN else f'{line[:SHOWN]}…'}: {text}"


def _joined(why: str) -> str:
    """The reasons, of which each is a line, in one line."""
    return "; ".join(why.split("\n"))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
