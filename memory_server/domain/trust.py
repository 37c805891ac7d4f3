"""The origin of a text: who said it first. The program stamps it; nothing that a model writes can."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

UNKNOWN: Final = "unknown"
"""No hook has seen the session."""

INFERRED: Final = "inferred"
"""Neither the user nor a tool has said it in a session that hooks have seen."""

SEEN: Final = "seen"
"""A tool of the user's machine has said it: a file, a command."""

TOLD: Final = "told"
"""It stands in the words of the user."""

TYPED: Final = "typed"
"""A person has written it at the terminal or on a page."""

WEB: Final = "web"
MCP: Final = "mcp:"
IMPORTED: Final = "imported:"
CONFIRMED: Final = "confirmed: "
"""Before the origin of what a person has confirmed."""

LONGEST: Final = 200
"""Characters of an origin."""

FEW: Final = 4
"""Words of a name or a tag that may say something; of Chinese twice as many characters."""

_WORD: Final = re.compile(r"[\u4e00-\u9fff]{2}|[^\W_\u4e00-\u9fff]+")

_MARKED: Final = re.compile(r"(?: · from |\[)((?:web|mcp:)[^\]·]*)")

_ORDER: Final = (WEB, MCP, UNKNOWN, INFERRED, IMPORTED, SEEN, TOLD, CONFIRMED, TYPED)
"""The first words of origins, the least trusted first."""

Stamp = Callable[[str], str]
"""Gives the origin of a text that is written now."""


def unknown(_: str) -> str:
    """Stamp a text of which nobody knows where it comes from."""
    return UNKNOWN


def typed(_: str) -> str:
    """Stamp the text of a person."""
    return TYPED


def is_person(stamp: Stamp) -> bool:
    """Return True for the stamp of a face in which a person acts: a terminal, or a page."""
    return stamp("") == TYPED


def told(_: str) -> str:
    """Stamp the words of the user."""
    return TOLD


def of_web(host: str) -> str:
    """Return the origin of what a page has said; `host` may be unknown."""
    return f"{WEB} {host}"[:LONGEST] if host else WEB


def of_server(name: str) -> str:
    """Return the origin of what another MCP server has said."""
    return f"{MCP}{name}"[:LONGEST]


def of_format(name: str) -> str:
    """Return the origin of what was imported."""
    return f"{IMPORTED}{name}"[:LONGEST]


def came_in(origin: str) -> bool:
    """True if an import has brought a text: nobody has said it here, and nobody has confirmed it."""
    return origin.startswith(IMPORTED) or waits(origin)


def confirmed(origin: str) -> str:
    """Return the origin of what a person has confirmed."""
    return f"{CONFIRMED}{origin}"[:LONGEST] if waits(origin) else origin


def unproved(origin: str, name: str) -> str:
    """Return the origin of a text whose file, of this format, says this one, where no person imports it: it is trusted
    no more than what another program has written, and what was confirmed there is not confirmed here."""
    return min(origin.removeprefix(CONFIRMED), of_format(name), key=_rank)


def waits(origin: str) -> bool:
    """True if a person must confirm a text before it is said unasked: somebody outside has written it."""
    return origin == WEB or origin.startswith((f"{WEB} ", MCP))


def is_listed(origin: str, hides: bool) -> bool:
    """True if a list has a text of this origin; one that `hides` leaves out what waits to be confirmed."""
    return not (hides and waits(origin))


def is_of_user(origin: str) -> bool:
    """True if the user has said a text, or has confirmed it."""
    return origin in (TOLD, TYPED) or origin.startswith(CONFIRMED)


def least(origins: Iterable[str]) -> str:
    """Return the origin that is trusted least; of no text it is unknown."""
    return min(origins, key=_rank, default=UNKNOWN)


def joined(stamp: str, origins: Iterable[str]) -> str:
    """Return the origin of a text with this stamp that joins or replaces others: the user raises it, nobody else."""
    return stamp if is_of_user(stamp) else least((stamp, *origins))


def of_parts(origins: Sequence[str]) -> str:
    """Return the origin of a text whose parts have these: one from outside, if any is; else the most trusted."""
    return next(filter(waits, origins), None) or max(origins, key=_rank)


def with_names(origin: str, names: Iterable[object], stamp: Stamp) -> str:
    """Return the origin of a text that is shown with names, tags and other values: from outside, if any of these is. Of
    less than FEW words none is looked at, nor an address alone: those stand on any page."""
    if waits(origin):
        return origin
    stamps = (stamp(name) for name in _texts(names) if len(_WORD.findall(name)) >= FEW)
    return next(filter(waits, stamps), origin)


def of_equal(left: str, right: str) -> str:
    """Return the origin of what two people have in the same words: the user's, where one of them is."""
    either = (left, right)
    return max(either, key=_rank) if any(map(is_of_user, either)) else least(sorted(either))


def mark(origin: str) -> str:
    """Return what stands behind a handle: ` · from web evil.example`; '' where nothing has to be said."""
    return f" · from {origin}" if waits(origin) else ""


def before(origin: str, text: str) -> str:
    """Return a text behind its origin, where it waits to be confirmed: `[web evil.example] …`."""
    return f"[{origin}] {text}" if waits(origin) else text


def marked(line: str) -> str | None:
    """Return the origin from outside with which a line of ours is marked: by `mark`, or before it, as on a terminal."""
    origin = _MARKED.search(line)
    return origin[1].strip() if origin and waits(origin[1].strip()) else None


def told_origin(origin: str) -> str | None:
    """Return the origin as an answer names it; None where it is usual."""
    return None if origin in (UNKNOWN, TOLD, TYPED) else origin


def outside(origin: str) -> str | None:
    """Return the origin as a list names it: only that of what waits; the others would cost tokens."""
    return origin if waits(origin) else None


def _texts(values: Iterable[object]) -> Iterator[str]:
    """Yield the texts in values of JSON, those of all depths and with the names of fields."""
    for value in values:
        match value:
            case str():
                if " " in value or "://" not in value:
                    yield value
            case Mapping():
                yield from _texts([*value, *value.values()])
            case list() | tuple():
                yield from _texts(value)


def _rank(origin: str) -> int:
    return next(
        (place for place, word in enumerate(_ORDER) if origin.startswith(word)), _ORDER.index(UNKNOWN)
    )
