"""Reads what a person types for one stored thing: `12`, `m12`, `t7`, `f current.task`, `w name`."""

import re
from dataclasses import dataclass
from typing import Any

import click

from memory_server.domain import change
from memory_server.domain.change import LETTERS, Kind
from memory_server.domain.fact import Scope
from memory_server.domain.memory import MemoryId

_KINDS = {letter: kind for kind, letter in LETTERS.items()}

_NUMBERED = re.compile(r"([mts]?)[ :#]?(\d{1,18})")
_NAMED = re.compile(r"([fw])[ :](.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Handle:
    """One thing: a row by its id, or a fact or a long-term memory by its name. `scope` is a fact's, if it is given."""

    kind: Kind
    id: int = 0
    name: str = ""
    scope: Scope | None = None

    def __str__(self) -> str:
        return change.handle(self.kind, self.id, self.name, self.scope)

    @property
    def memory(self) -> MemoryId:
        """Return the id of a memory.

        Raises:
            BadParameter: it names another thing.
        """
        if self.kind is not Kind.MEMORY:
            raise click.BadParameter(f"{self} is not a memory. Write its id, such as 12.")
        return MemoryId(self.id)


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
        text = text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text
        if numbered := _NUMBERED.fullmatch(text.lower()):
            return Handle(_KINDS[numbered[1] or "m"], id=int(numbered[2]))
        if named := _NAMED.fullmatch(text):
            return _named(_KINDS[named[1]], named[2].strip())
        return self.fail(
            f"{text!r} is not an id. Write 12 or m12 for a memory, t7 for a turn, s3 for a short-term memory, "
            "f:KEY for a fact, w:NAME for a long-term memory.",
            param,
            ctx,
        )


def _named(kind: Kind, name: str) -> Handle:
    scope, slash, key = name.partition("/")
    if kind is Kind.FACT and slash and key and scope in list(Scope):
        return Handle(kind, name=key, scope=Scope(scope))
    return Handle(kind, name=name)
