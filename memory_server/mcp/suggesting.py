"""Words a call that works instead of a refused one. It has every value that was understood, and says what it lacks."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import ErrorDetails

from memory_server.mcp import refusals
from memory_server.mcp.forgiving.calls import Call
from memory_server.mcp.forgiving.conversation import UnclearError
from memory_server.mcp.forgiving.names import fold, suggested
from memory_server.mcp.forgiving.values import understood
from memory_server.mcp.mending import mended

LETTERS = {"key": "f:", "name": "w:", "turnid": "t", "factkey": "f:"}
"""Names that say of which kind a thing is, and what stands before its ref."""

WHOLE = 200
"""Characters of JSON up to which a call repeats a value. A longer one is named only: a model may copy the call, and
would store half a text."""

CARRIED = frozenset(
    "conversation_id expectedVersion key messages minImportance query recentMessages since".split()
)
"""Parameters that take the value of an unknown argument for which they are suggested: it means the same."""

Errors = Callable[[dict[str, Any]], Sequence[ErrorDetails]]


@dataclass(slots=True)
class Lacking:
    """The arguments that a call leaves out, those that it has in part, and those too long to repeat."""

    without: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)

    def words(self) -> str:
        return (
            _clause(" without ", self.without)
            + _clause(" with a part of ", self.partial)
            + _clause(" with an example for ", self.examples)
            + _clause(" and your ", self.too_long)
        )


def suggestion(tool: str, schema: Mapping[str, Any], reads: bool, call: Call, errors: Errors) -> str | None:
    """Return a line with a call that works.

    None where a tool that writes lacks an id: a model may copy the call, and change the wrong thing.
    """
    properties, required = schema.get("properties", {}), schema.get("required", ())
    lacking = Lacking(without=list(call.doubled.values()))
    meant = {**call.rejected, **call.arguments, **_carried(call, properties, errors, lacking, reads)}
    values = _mended(meant, call, properties, errors(meant), lacking)
    for name in {str(error["loc"][0]) for error in errors(values)} & values.keys():
        lacking.without.append(call.written.get(name, name))
        del values[name]
    if not reads and any(refusals.is_id(properties[name]) and name not in values for name in required):
        return None
    full = {**refusals.needed(tool, schema, values), **values}
    lost = {call.written.get(name, name) for name in full if name not in values}
    lacking.examples = [name for name in lacking.without if name in lost]
    lacking.without = [name for name in lacking.without if name not in lost]
    lacking.too_long = [name for name, value in full.items() if len(_json(value)) > WHOLE]
    shown = {name: value for name, value in full.items() if name not in lacking.too_long}
    return f"This call works{lacking.words()}: {refusals.works(tool, shown)}"


def _carried(
    call: Call, properties: Mapping[str, Any], errors: Errors, lacking: Lacking, reads: bool
) -> dict[str, Any]:
    """Return the values of unknown arguments under the parameters that mean the same; the others are left out."""
    carried: dict[str, Any] = {}
    for name, value in call.unknown.items():
        inside = value if isinstance(value, dict) and value.keys() <= properties.keys() else {}
        near = suggested(name, properties)
        if near in CARRIED and near not in call.arguments:
            inside = {near: value}
        inside = {key: _read(key, item, properties[key], reads) for key, item in inside.items()}
        if not inside and isinstance(value, str) and "refs" in properties and fold(name) in LETTERS:
            inside = {"refs": [f"{LETTERS[fold(name)]}{value}"]}
        is_detail = isinstance(value, str) and not fold(name).startswith(("ttl", "expir", "valid"))
        if not inside and is_detail and {"metadata", "type"} <= properties.keys():
            metadata = {**call.arguments.get("metadata", {}), **carried.get("metadata", {})}
            inside = {"metadata": {**metadata, name: value}}
        if inside and not {error["loc"][0] for error in errors(inside)} & inside.keys():
            carried |= inside
        else:
            lacking.without.append(name[: refusals.WHOLE])
    return carried


def _read(name: str, value: Any, schema: Mapping[str, Any], reads: bool) -> Any:
    try:
        return understood(name, value, schema, [], filters=reads)
    except UnclearError:
        return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _mended(
    meant: Mapping[str, Any],
    call: Call,
    properties: Mapping[str, Any],
    errors: Sequence[ErrorDetails],
    lacking: Lacking,
) -> dict[str, Any]:
    """Return the values that can be used: those that are right, and those of wrong ones that are clear."""
    values: dict[str, Any] = {}
    for name, value in meant.items():
        wrong = [error for error in errors if error["loc"][0] == name]
        partial = False
        if wrong or name in call.rejected:
            value, partial = mended(name, value, properties[name], wrong)
        if value is None:
            lacking.without.append(call.written.get(name, name))
            continue
        values[name] = value
        lacking.partial += [call.written.get(name, name)] if partial else []
    return values


def _clause(words: str, names: Sequence[str]) -> str:
    return f"{words}{', '.join(f'`{name}`' for name in names)}" if names else ""
