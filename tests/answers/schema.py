"""The JSON schema of an answer: its types are those of the object that it is read from."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from inspect import isclass
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from memory_server.answers.answer import Answer, Field, Lines, whole

Schema = dict[str, Any]

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_ANY = ["string", "number", "boolean", "object", "array", "null"]


def schema_of(answer: Answer, lines: Lines = {}) -> Schema:  # noqa: B006 - never changed
    """The schema of an answer; a field that may be left out is not required."""
    properties = {field.name: _of_field(answer.source, field, lines) for field in answer.fields}
    required = [field.name for field in answer.fields if not field.left_out]
    return {"properties": properties, **({"required": required} if required else {}), "type": "object"}


def _of_field(source: type, field: Field, lines: Lines) -> Schema:
    hint = _hint(source, field.steps)
    tell = field.tell
    if isinstance(tell, Answer):
        schema = _of_type(hint, {**lines, _innermost(hint): tell})
    elif tell is None:
        schema = _of_type(hint, lines)
    elif isclass(tell):
        schema = {**({"enum": [*map(str, tell)]} if issubclass(tell, Enum) else {}), "type": "string"}
        schema = _or_null(schema) if _allows_none(hint) else schema
    else:
        schema = _of_type(get_type_hints(tell)["return"], lines)
        schema = _or_null(schema) if field.steps and _allows_none(hint) else schema
    if None in field.left_out and schema["type"] not in ("array", "object"):
        schema = _or_null(schema)
    return {**schema, **({"description": field.description} if field.description else {})}


def _hint(source: Any, steps: Sequence[str]) -> Any:
    """The type at the end of a path of attributes; or None, where the path may lead through None."""
    may_end = False
    for name in steps:
        may_end |= _allows_none(source)
        source = _hints(_innermost(source))[name]
    return source | None if may_end else source


@cache
def _hints(source: type) -> dict[str, Any]:
    """The types of the fields and the properties of a class."""
    getters = {name: value.fget for name, value in vars(source).items() if isinstance(value, property)}
    return get_type_hints(source) | {name: get_type_hints(get)["return"] for name, get in getters.items()}


def _allows_none(hint: Any) -> bool:
    return NoneType in get_args(hint)


def _innermost(hint: Any) -> Any:
    """The type of the object, of a list of objects, or of an object that may be None."""
    while get_origin(hint) is not None:
        hint = next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _of_type(hint: Any, lines: Lines) -> Schema:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _of_union(parts, lines)
    if isinstance(hint, NewType):
        return _of_type(hint.__supertype__, lines)
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if hint is Any:
        return {"type": _ANY}
    if origin in (list, tuple, Sequence):
        return {"items": _of_type(parts[0], lines), "type": "array"}
    if origin in (dict, Mapping):
        values = {} if parts[1] is Any else {"additionalProperties": _of_type(parts[1], lines)}
        return {**values, "type": "object"}
    if hint in lines or is_dataclass(hint):
        return schema_of(lines.get(hint) or whole(hint), lines)
    if issubclass(hint, Enum):
        return {"type": "string"}
    raise TypeError(f"{hint} has no JSON schema")


def _of_union(parts: tuple[Any, ...], lines: Lines) -> Schema:
    schemas = [_of_type(part, lines) for part in parts if part is not NoneType]
    if len(schemas) > 1 and all(schema.keys() == {"type"} for schema in schemas):
        schemas = [{"type": [schema["type"] for schema in schemas]}]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return _or_null(schema) if NoneType in parts else schema


def _or_null(schema: Schema) -> Schema:
    return schema if "null" in schema["type"] else {**schema, "type": [schema["type"], "null"]}
