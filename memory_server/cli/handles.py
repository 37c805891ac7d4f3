"""Reads what a person types for one stored thing: `12`, `m12`, `t7`, `f current.task`, `w name`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from memory_server.domain import handles
from memory_server.domain.caller import Caller
from memory_server.domain.change import LETTERS, ChangeAction, ChangeFilter, Kind
from memory_server.domain.handles import Handle
from memory_server.domain.memory import MemoryId
from memory_server.errors import NotFound

if TYPE_CHECKING:
    from memory_server.app import Services


def memory_of(handle: Handle) -> MemoryId:
    """Return the id of a memory.

    Raises:
        BadParameter: it names another thing.
    """
    if handle.kind is not Kind.MEMORY:
        raise click.BadParameter(f"{handle} is not a memory. Write its id, such as 12.")
    return MemoryId(handle.id)


@contextmanager
def knowing_deleted(services: "Services", by: Caller, *items: Handle) -> Iterator[None]:
    """Say of a thing that is not found what restores it, if it is deleted.

    Raises:
        NotFound: one of the things is not there.
    """
    try:
        yield
    except NotFound:
        for item in items:
            last = ChangeFilter(kind=item.kind, item=item.id, undone=True)
            for change in services.changes.select(last, 1, by).changes:
                if change.action is ChangeAction.DELETED:
                    raise NotFound(
                        f"{item} is deleted. `memory-server undo {change.id}` restores it."
                    ) from None
        raise


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
