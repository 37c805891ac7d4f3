"""Words a refused call: a line for each argument, with what it takes, and a call that works."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic_core import ErrorDetails

from memory_server.language.nearest import nearest
from memory_server.language.when import LENGTHS
from memory_server.mcp.forgiving.calls import Call
from memory_server.mcp.forgiving.names import suggested
from memory_server.mcp.meanings import value_for

SHOWN = 60
"""Characters of a wrong value that a refusal repeats."""

WHOLE = 200
"""Characters of the name of an unknown argument that a refusal repeats."""

MESSAGE = {"role": "user", "content": "…"}

EXAMPLES: Mapping[str, Any] = {
    "conversation_id": "example",
    "key": "example.key",
    "name": "example",
    "pattern": "example",
    "trigger": "match_keys(messages, ['example'])",
    "when": "tomorrow at 9",
}
"""Values of required parameters in a call that works; the schema says the others. They are in no store: a model may
copy them."""

ONE_OF: Mapping[str, tuple[frozenset[str], Mapping[str, Any]]] = {
    "memory_update": (
        frozenset({"content", "type", "tags", "importance", "project", "metadata"}),
        {"importance": 8},
    ),
    "forget": (frozenset({"refs", "what"}), {"what": "example"}),
    "update_long_term_memory": (
        frozenset({"trigger", "prompt", "updatedContext", "recentMessages"}),
        {"updatedContext": "…"},
    ),
}
"""Arguments of which a tool needs one, though none is required; and one that harms little where a model copies it."""

_BY_KIND = frozenset({
    "int_type", "int_parsing", "int_from_float", "float_type", "float_parsing", "bool_type", "bool_parsing", "enum",
    "literal_error", "greater_than_equal", "less_than_equal", "string_type", "list_type", "dict_type", "model_type",
    "too_short",
})  # fmt: skip
"""Errors that the kind of a parameter explains better than the words of pydantic."""

_RANGES = frozenset({"greater_than_equal", "less_than_equal"})
"""Those of them that only a schema with a range explains."""


class ArgumentsRefusedError(ToolError):
    """A call whose arguments are not what the tool takes."""

    def __init__(self, lines: Sequence[str], unknown: Sequence[str]) -> None:
        """`unknown` has the names of arguments that the tool does not know: another tool may."""
        super().__init__("\n".join(lines))
        self.unknown = unknown


def lines(tool: str, schema: Mapping[str, Any], call: Call, errors: Sequence[ErrorDetails]) -> list[str]:
    """A line for each wrong argument: its name, what is wrong with which value, and what it takes."""
    parameters = list(schema.get("properties", {}))
    refusals = [_line(tool, schema, call, error) for error in errors]
    for name, wrong in call.wrong.items():
        got = f", got {_shown(call.rejected[name])}" if name in call.rejected else ""
        refusals.append(f"{name}: {wrong}{got}{_origin(call, name)}")
    return refusals + [
        f"{name[:WHOLE]}: unknown argument. {_help(name, parameters)}" for name in call.unknown
    ]


def works(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as a refusal shows it."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def example(name: str, schema: Mapping[str, Any]) -> Any:
    """A value that a parameter takes."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    match schema.get("type"):
        case "integer" | "number":
            return schema.get("minimum", 12)
        case "boolean":
            return True
        case "array":
            items = schema.get("items", {})
            return [MESSAGE if items.get("type") == "object" else example(name, items)]
        case "object":
            return {}
    return next(iter(_values(schema)), "…")


def needed(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Examples of the arguments without which a tool cannot be called, or has nothing to do."""
    some, example_argument = ONE_OF.get(tool, (frozenset(), {}))
    required = {name: example(name, schema["properties"][name]) for name in schema.get("required", ())}
    return {**required, **({} if some & arguments.keys() else example_argument)}


def is_id(schema: Mapping[str, Any]) -> bool:
    return "x-handle" in schema


def _line(tool: str, schema: Mapping[str, Any], call: Call, error: ErrorDetails) -> str:
    place = [str(part) for part in error["loc"]]
    name, kind = ".".join(place), _schema_at(schema, place)
    if error["type"] == "missing" and len(place) == 1:
        return f"{name}: missing. `{tool}` needs it{_list(kind)}."
    if error["type"] == "missing":
        return f"{name}: missing."
    if error["type"] in _BY_KIND and kind and (error["type"] not in _RANGES or "maximum" in kind):
        wrong = f"must be {_wanted(kind)}"
    else:
        wrong = error["msg"].removeprefix("Value error, ")
    near = value_for(place[0], error["input"], _values(kind)) if _values(kind) else None
    return f"{name}: {wrong}, got {_shown(error['input'])}{_origin(call, place[0])}" + (
        f". Did you mean `{near}`?" if near else ""
    )


def _origin(call: Call, name: str) -> str:
    """Under which other name a value came."""
    written = call.written.get(name, name)
    return f" in `{written}`" if written != name else ""


def _schema_at(schema: Mapping[str, Any], place: Sequence[str]) -> Mapping[str, Any]:
    """The schema of a parameter, or of a part of one; empty where it has none."""
    for part in place:
        schema = schema.get("items", {}) if part.isdigit() else schema.get("properties", {}).get(part, {})
    return schema


def _wanted(schema: Mapping[str, Any]) -> str:
    values = _values(schema)
    if values:
        return f"one of {', '.join(values)}"
    match schema.get("type"):
        case "integer" if is_id(schema):
            return "an id, such as 12"
        case "integer" if "x-time" in schema:
            return LENGTHS
        case "integer":
            return f"a whole number{_range(schema)}"
        case "number":
            return f"a number{_range(schema)}"
        case "boolean":
            return "true or false"
        case "array":
            return _wanted_list(schema)
        case "object" if "properties" in schema:
            return "a message {role, content}"
        case "object":
            return 'an object, such as {"a": 1}'
    return "one text"


def _wanted_list(schema: Mapping[str, Any]) -> str:
    items = schema.get("items", {})
    if items.get("type") == "object":
        return "a list of messages {role, content}"
    number = f" of {schema['minItems']}-{schema['maxItems']}" if "minItems" in schema else ""
    such = "[12]" if items.get("type") == "integer" else '["a", "b"]'
    return f"a list{number}, such as {such}"


def _list(schema: Mapping[str, Any]) -> str:
    """`: one of a, b` where a parameter takes only some values."""
    return f": one of {', '.join(_values(schema))}" if _values(schema) else ""


def _range(schema: Mapping[str, Any]) -> str:
    return f", {schema['minimum']}-{schema['maximum']}" if "maximum" in schema else ""


def _values(schema: Mapping[str, Any]) -> list[str]:
    values: list[str] = schema.get("enum") or schema.get("x-values") or []
    return values


def _help(name: str, parameters: Sequence[str]) -> str:
    if not parameters:
        return "It needs none."
    near = suggested(name, parameters)
    return (
        f"Did you mean `{near}`? There are: {', '.join(parameters)}." if near else nearest(name, parameters)
    )


def _shown(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 80 else f"{shown[:SHOWN]}… ({len(shown)} characters)"
