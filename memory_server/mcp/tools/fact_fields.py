"""Field types of facts: keys, values, patterns. Their schemas are short; errors say the limits."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema

from memory_server.domain.briefing.context import Part
from memory_server.domain.fact import MAX_DEPTH, Scope, depth
from memory_server.language.text import clean, visible
from memory_server.mcp.tools.fields import INTEGER, TEXT, Tags, each_text, not_blank

MAX_VALUE = 100_000
"""Characters of a value as JSON: more would fill the context of the model that reads it."""

HUNDRED_YEARS = 100 * 365 * 86_400
"""Seconds. The longest ttl, so that an expiry stays a valid date; a fact that shall live longer needs no ttl."""


def _storable(value: Any) -> Any:
    """The value without invisible characters. Refused if JSON, a client or the file cannot represent it."""
    if depth(value) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ValueError("contains a number that JSON cannot represent: store it as text") from None
    if len(text) > MAX_VALUE:
        raise ValueError(f"has {len(text):,} characters of JSON, at most {MAX_VALUE:,} are allowed: split it")
    cleaned = each_text(visible, value)  # a value is exact: only invisible characters are removed
    if _names(cleaned) != _names(value):
        raise ValueError("two names in an object differ in invisible characters only")
    return cleaned


def _names(value: Any) -> int:
    """The number of names in all objects of a value."""
    match value:
        case dict():
            return len(value) + sum(map(_names, value.values()))
        case list():
            return sum(map(_names, value))
        case _:
            return 0


Key = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
AnyJson = Annotated[
    JsonValue,
    WithJsonSchema({"type": ["string", "number", "boolean", "object", "array", "null"]}),
]
Value = Annotated[AnyJson, AfterValidator(_storable)]
Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(not_blank), TEXT]
Ttl = Annotated[
    int,
    Field(ge=1, le=HUNDRED_YEARS, strict=True),
    WithJsonSchema({"type": "integer", "description": "seconds", "x-time": "seconds"}),
]
Version = Annotated[int, Field(ge=0, strict=True), INTEGER]
FactTags = Tags
Parts = Annotated[
    list[Annotated[Part, WithJsonSchema({"type": "string", "x-values": [*map(str, Part)]})]], Field()
]
NamedScope = Annotated[Scope, WithJsonSchema({"type": "string", "x-values": [*map(str, Scope)]})]
"""The schema of `write_memory` lists the scopes; each further list would cost 14 tokens."""
PathOrId = Annotated[str, Field(max_length=4096), AfterValidator(clean), TEXT]
