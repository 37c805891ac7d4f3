"""Reads what a person types for one stored thing: `12`, `m12`, `t7`, `f current.task`, `w name`."""

import re
from dataclasses import dataclass
from typing import Any

import click

from memory_server.domain import handles
from memory_server.domain.change import LETTERS, Kind
from memory_server.domain.handles import Handle
from memory_server.domain.memory import MemoryId


def memory_of(handle: Handle) -> MemoryId:
    """Return the id of a memory.

    Raises:
        BadParameter: it names another thing.
    """
    if handle.kind is not Kind.MEMORY:
        raise click.BadParameter(f"{handle} is not a memory. Write its id, such as 12.")
    return MemoryId(handle.id)


@dataclass(frozen=True, slots=True)
class Range:
    """All things of a kind from one id to another, such as `m12..m200`."""

    kind: Kind
    first: int
    last: int


_RANGE = re.compile(r"([mts]?)(\d{1,18})\s*(?:\.\.|…)\s*\1?(\d{1,18})")


class HandleType(click.ParamType[Handle]):
    """Reads a handle, with or without its brackets. A number alone is a memory."""

    name = "id"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from memory_server.cli import completing

        return completing.things(ctx, param, incomplete)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Handle:
        if isinstance(value, Handle):
            return value
        text = str(value).strip()
        return handles.read(text) or self.fail(f"{text!r} is not an id. Write {handles.FORMS}.", param, ctx)


class HandlesType(click.ParamType[Handle | Range]):
    """Reads a handle, or a range of them: `m12..m200`."""

    name = "id"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return HandleType().shell_complete(ctx, param, incomplete)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Handle | Range:
        ends = _RANGE.fullmatch(str(value).strip())
        if ends is None:
            return HandleType().convert(value, param, ctx)
        kind = next(kind for kind, letter in LETTERS.items() if letter == (ends[1] or "m"))
        return Range(kind, int(ends[2]), int(ends[3]))
