"""Makes JSON schemas short, because an assistant pays for each token of them."""

from typing import Any

_NOISE = ("title", "default", "additionalProperties")
"""Keywords that are removed: they do not help a model. A default that does help is added again."""

_PRIVATE = (
    *("x-handle", "x-cut", "x-values", "x-empty", "x-time", "x-read"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default"),
)
"""Keywords for the reading of a call; no client sees them. Those of ours say of a parameter: that it is an id, and of
what; how many characters of a query are kept; which values it takes where no `enum` is listed; that "" is a value; what
its moment is for, or that it is a length of time; how a value in words is read."""

_UNSAID: tuple[object, ...] = (None, [], False)
"""Defaults that a model expects, or need not know. To say them costs tokens in most tools."""

_LIMITS = (
    ("minimum", "maximum", "{}-{}"),
    ("minLength", "maxLength", "{}-{} chars"),
    ("minItems", "maxItems", "{}-{} items"),
)
"""The two keywords of a range, and its words in a description."""


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object without titles, references, null alternatives and null defaults.

    The description repeats ranges and defaults, because not every client shows a model these keywords.
    """
    definitions = schema.get("$defs", {})
    return _compact(
        {key: value for key, value in schema.items() if key not in ("$defs", "description")}, definitions
    )


def public(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as clients see it. Ranges and defaults are in the description alone: said twice they cost tokens, and
    a client could refuse what is understood."""
    shown = {key: value for key, value in schema.items() if key not in _PRIVATE}
    if "properties" in shown:
        shown["properties"] = {name: public(value) for name, value in shown["properties"].items()}
    if "items" in shown:
        shown["items"] = public(shown["items"])
    return shown


def with_note(answer: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer that may have a note."""
    note = {"note": {"type": ["string", "null"]}}
    return {**answer, "properties": {**answer.get("properties", {}), **note}}


def _compact(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _resolved(schema, definitions)
    short = {key: value for key, value in schema.items() if key not in _NOISE}
    default = schema.get("default")
    if default not in _UNSAID:
        short["default"] = default
    if "properties" in short:
        short["properties"] = {
            name: _compact(value, definitions) for name, value in short["properties"].items()
        }
    if isinstance(short.get("items"), dict):
        short["items"] = _without_description(_compact(short["items"], definitions))
    description = ", ".join(
        part for part in (short.get("description"), _limits(short), _default(default)) if part
    )
    if description and short.get("type") != "object":
        short["description"] = description
    return short


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference names, or that is the only alternative to null; else the schema itself."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        return {
            **_without_description(target),
            **{key: value for key, value in schema.items() if key != "$ref"},
        }
    alternatives = [alternative for alternative in schema.get("anyOf", ()) if alternative != {"type": "null"}]
    if len(alternatives) == 1:
        outer = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolved(alternatives[0], definitions), **outer}
    return schema


def _without_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _limits(schema: dict[str, Any]) -> str:
    """`1-10`, or `at most 20 items`: the range as words."""
    for low, high, both in _LIMITS:
        if low in schema and high in schema:
            return both.format(schema[low], schema[high]) + _each(schema)
        if high in schema:
            return "at most " + both.partition("-")[2].format(schema[high]) + _each(schema)
    return ""


def _each(schema: dict[str, Any]) -> str:
    """` of 1-50 chars`: the range of the items of a list."""
    limits = _limits(schema.get("items", {}))
    return f" of {limits}" if limits else ""


def _default(default: object) -> str:
    return "" if default in _UNSAID else f"default {default}"
