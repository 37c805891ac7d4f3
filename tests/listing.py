"""Every tool as clients see it, made of its code: `memory_server/mcp/listed.json` has what is made here, and a server
lists what it reads there."""

import inspect
from typing import Any

from mcp_types import Tool as ListedTool

from memory_server.mcp.schema import compact
from memory_server.mcp.tool import Tool
from tests.answers.schema import schema_of

PRIVATE = (
    *("x-handle", "x-cut", "x-values", "x-empty", "x-time", "x-read"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default"),
)
"""Keywords for the reading of a call; no client sees them. Those of ours say of a parameter: that it is an id, and of
what; how many characters of a query are kept; which values it takes where no `enum` is listed; that "" is a value; what
its moment is for, or that it is a length of time; how a value in words is read."""

UNSAID: tuple[object, ...] = (None, [], False)
"""Defaults that a model expects, or need not know. To say them costs tokens in most tools."""

LIMITS = (
    ("minimum", "maximum", "{}-{}"),
    ("minLength", "maxLength", "{}-{} chars"),
    ("minItems", "maxItems", "{}-{} items"),
)
"""The two keywords of a range, and its words in a description."""


def listed(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=inspect.getdoc(tool.fn),
        input_schema=public(tool.schema),
        output_schema=_with_note(compact(schema_of(tool.answer))),
        annotations=tool.annotations,
        _meta=_meta(tool),
    )


def public(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as clients see it. Ranges and defaults are in the description alone, because not every client shows a
    model these keywords; said twice they cost tokens, and a client could refuse what is understood."""
    shown = {key: value for key, value in schema.items() if key not in PRIVATE}
    words = (schema.get("description"), _limits(schema), _default(schema.get("default")))
    if schema.get("type") != "object" and (description := ", ".join(filter(None, words))):
        shown["description"] = description
    if "properties" in shown:
        shown["properties"] = {name: public(value) for name, value in shown["properties"].items()}
    if "items" in shown:
        items = public(shown["items"])
        shown["items"] = {key: value for key, value in items.items() if key != "description"}
    return shown


def _limits(schema: dict[str, Any]) -> str:
    """`1-10`, or `at most 20 items`: the range as words."""
    for low, high, both in LIMITS:
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
    return "" if default in UNSAID else f"default {default}"


def _with_note(answer: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer that may have a note."""
    note = {"note": {"type": ["string", "null"]}}
    return {**answer, "properties": {**answer.get("properties", {}), **note}}


def _meta(tool: Tool) -> dict[str, Any] | None:
    if tool.is_always_loaded:
        return {"anthropic/alwaysLoad": True}
    return {"anthropic/searchHint": tool.search_hint} if tool.search_hint else None
