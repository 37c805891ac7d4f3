"""Reads a call as it was meant: the names and the values together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from memory_server.mcp.forgiving.conversation import UnclearError
from memory_server.mcp.forgiving.names import ENVELOPES, fold, is_idle, parameter
from memory_server.mcp.forgiving.shapes import shaped
from memory_server.mcp.forgiving.together import arrange
from memory_server.mcp.forgiving.values import ABSENT, understood


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was understood.

    `written` has the name under which each argument was sent, `unknown` the arguments that no parameter fits, `wrong`
    the problem of an unclear argument, `rejected` its value, `doubled` the name of a second value, and `notes` the
    differences from what was written.
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    rejected: dict[str, Any] = field(default_factory=dict)
    doubled: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def understand(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any], *, reads: bool) -> Call:
    """Return the arguments under the names and in the types of the schema, as far as each can mean only one thing."""
    call = Call()
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = frozenset(schema.get("required", ()))
    unwrapped = _unwrapped(tool, properties, required, arguments, call.notes)
    sent = shaped(properties, unwrapped, call.notes)
    names = frozenset(map(fold, properties))
    for written, value in sorted(sent.items(), key=lambda item: fold(item[0]) not in names):
        name = parameter(tool, written, properties)
        if name is not None:
            kind = {**properties[name], "x-optional": name not in required}
            _take(call, name, written, value, kind, reads=reads)
        elif not is_idle(written, value, reads=reads, needs_none=not required):
            call.unknown[written] = value
        elif value is not None:
            call.notes.append(f"`{written}` was ignored: `{tool}` has no such parameter.")
    if not call.wrong:
        arrange(properties, required, call.arguments, call.unknown, call.notes)
        call.written.update((name, name) for name in call.arguments.keys() - call.written.keys())
    return call


def _unwrapped(
    tool: str,
    properties: Mapping[str, Any],
    required: frozenset[str],
    arguments: Mapping[str, Any],
    notes: list[str],
) -> Mapping[str, Any]:
    """Return the arguments that a client sent inside one object: under a usual name, or with all required ones."""
    if len(arguments) != 1:
        return arguments
    ((name, value),) = arguments.items()
    if fold(name) in map(fold, properties):
        return arguments
    if isinstance(value, str):
        try:
            value = from_json(value)
        except ValueError:
            return arguments
    if isinstance(value, list) and len(value) == 1 and parameter(tool, name, properties) is None:
        (value,) = value
    if not isinstance(value, dict):
        return arguments
    inside = {parameter(tool, key, properties) for key in value}
    if fold(name) not in ENVELOPES and not (required and required <= inside):
        return arguments
    notes.append(f"The arguments were taken out of `{name}`.")
    return value


def _take(call: Call, name: str, written: str, value: Any, kind: Mapping[str, Any], *, reads: bool) -> None:
    notes: list[str] = []
    try:
        meant = understood(name, value, kind, notes, filters=reads)
    except UnclearError as error:
        call.wrong[name], call.rejected[name], call.written[name] = str(error), value, written
        return
    if meant is ABSENT:
        call.notes.extend(notes)
    elif name not in call.arguments and name not in call.wrong:
        call.arguments[name], call.written[name] = meant, written
        if fold(written) != fold(name):
            call.notes.append(f"`{written}` was read as `{name}`.")
        call.notes.extend(notes)
    elif isinstance(meant, list) and isinstance(call.arguments.get(name), list) and _adds_up(kind):
        call.arguments[name] += [item for item in meant if item not in call.arguments[name]]
        call.notes.append(f"`{written}` was added to `{name}`.")
    elif call.arguments.get(name) != meant:
        first, second = call.written[name], written
        call.doubled[name] = written
        call.wrong[name] = f"is given twice, as `{first}` and as `{second}`, with two values: give one"


def _adds_up(kind: Mapping[str, Any]) -> bool:
    """True for a list whose order says nothing: ids and tags, but not messages."""
    return kind.get("type") == "array" and "role" not in kind.get("items", {}).get("properties", ())
