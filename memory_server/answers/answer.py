"""An answer names the fields that a reader gets of an object. Its schema follows from the types of the object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache
from typing import Any

Lines = Mapping[type, "Answer"]
"""The answer for each type of object, where a field does not name one."""

EMPTY: tuple[object, ...] = (None, [])
"""The values of an optional field that are left out: to send them would cost tokens."""

_AS_THEY_ARE = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an answer.

    `steps` lead to the value in the object, and `tell` says it in the words of the answer. `left_out` are the values
    with which the whole field is left out.
    """

    name: str
    steps: tuple[str, ...]
    tell: "Answer | Callable[[Any], Any] | None" = None
    left_out: tuple[object, ...] = ()
    description: str = ""

    def read(self, value: Any) -> Any:
        for step in self.steps:
            value = None if value is None else getattr(value, step)
        return value


def field(
    text: str,
    tell: "Answer | Callable[[Any], Any] | None" = None,
    *,
    usual: object = None,
    description: str = "",
) -> Field:
    """A field that is read from the object: `memory.id`; `at=changed_at` gives it another name.

    With `?` behind its name it is left out where it is empty, with `usual` where it has this value. A path through
    None leads to None.
    """
    name, _, path = text.replace("?", "").rpartition("=")
    steps = tuple(path.split("."))
    left_out = (*(EMPTY if "?" in text else ()), *(() if usual is None else (usual,)))
    return Field(name or steps[-1], steps, tell, left_out, description)


def made(text: str, make: Callable[[Any], Any]) -> Field:
    """A field that a function makes of the whole object; `?` makes it optional."""
    return Field(text.rstrip("?"), (), make, EMPTY if text.endswith("?") else ())


class Answer:
    """The fields that a reader gets of an object of the type `source`, in this order.

    A text names several plain fields: `Answer(Fact, "key scope=home.scope expires_at?")`.
    """

    def __init__(self, source: type, *parts: "str | Field") -> None:
        self.source = source
        self.fields = [
            named
            for part in parts
            for named in ([part] if isinstance(part, Field) else map(field, part.split()))
        ]

    def of(self, value: object, lines: Lines = {}) -> dict[str, Any]:  # noqa: B006 - never changed
        """The answer for one object, as JSON."""
        answer: dict[str, Any] = {}
        for field in self.fields:
            content = _told(field.read(value), field.tell, lines)
            if content not in field.left_out:
                answer[field.name] = content
        return answer


@cache
def whole(source: type) -> Answer:
    """All fields of a dataclass. Those that are None by default are optional."""
    return Answer(
        source, *(f"{part.name}?" if part.default is None else part.name for part in fields(source))
    )


def plain(value: object, lines: Lines = {}) -> Any:  # noqa: B006 - never changed
    """A value as JSON: an object by its answer among `lines`, or whole."""
    if type(value) in _AS_THEY_ARE:
        return value
    match value:
        case Enum():
            return value.value
        case list() | tuple():
            return [plain(item, lines) for item in value]
        case Mapping():
            return {plain(name): plain(item, lines) for name, item in value.items()}
    kind: type = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return (lines.get(kind) or whole(kind)).of(value, lines)
    return value


def _told(value: object, tell: "Answer | Callable[[Any], Any] | None", lines: Lines) -> Any:
    if value is None or tell is None:
        return plain(value, lines)
    if not isinstance(tell, Answer):
        return plain(tell(value), lines)
    if isinstance(value, list | tuple):
        return [tell.of(item, lines) for item in value]
    return tell.of(value, lines)


def rounded(number: float) -> float:
    """A number with two decimals: more would cost tokens and say nothing."""
    return round(number, 2)
