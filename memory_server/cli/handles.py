"""Reads what a person types for one stored thing: `12`, `m12`, `t7`, `f current.task`, `w name`."""

from typing import Any

import click

from memory_server.domain import handles
from memory_server.domain.change import Kind
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
