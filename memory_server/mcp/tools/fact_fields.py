"""Field types of facts: what a key, a value, a pattern and a moment may be. Schemas stay short; errors say the limits."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema

from memory_server.domain.fact import MAX_DEPTH, depth
from memory_server.language.text import clean, visible
from memory_server.mcp.tools.fields import Tag, each_text, not_blank, unique

MAX_VALUE = 100_000
"""Characters of a value as JSON."""

HUNDRED_YEARS = 100 * 365 * 86_400


def _storable(value: Any) -> Any:
    """The value without invisible characters; refused where JSON, a client or the file could not hold it."""
    if depth(value) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ValueError("holds a number that JSON cannot: store it as a text") from None
    if len(text) > MAX_VALUE:
        raise ValueError(f"holds {len(text):,} characters of JSON, at most {MAX_VALUE:,} fit: split it")
    kept = each_text(visible, value)  # a value is exact: nothing but what is invisible is taken out
    if _names(kept) != _names(value):
        raise ValueError("two names in an object differ in invisible characters only")
    return kept


def _names(value: Any) -> int:
    """How many names the objects in a value have."""
    match value:
        case dict():
            return len(value) + sum(map(_names, value.values()))
        case list():
            return sum(map(_names, value))
        case _:
            return 0


Key = Annotated[
    str,
    Field(min_length=1, max_length=200),
    AfterValidator(not_blank),
    WithJsonSchema({"type": "string"}),
]
AnyJson = Annotated[
    JsonValue,
    WithJsonSchema({"type": ["string", "number", "boolean", "object", "array", "null"]}),
]
Value = Annotated[AnyJson, AfterValidator(_storable)]
Pattern = Annotated[
    str, Field(min_length=1, max_length=500), AfterValidator(not_blank), WithJsonSchema({"type": "string"})
]
Ttl = Annotated[int, Field(ge=1, le=HUNDRED_YEARS, strict=True), WithJsonSchema({"type": "integer"})]
Version = Annotated[int, Field(ge=0, strict=True), WithJsonSchema({"type": "integer"})]
FactTags = Annotated[
    list[Tag],
    Field(max_length=10),
    AfterValidator(unique),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Place = Annotated[str, Field(max_length=4096), AfterValidator(clean), WithJsonSchema({"type": "string"})]
