"""Field types that several tools share. Their descriptions are for models; `schema` adds the ranges."""

import json
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic_core import PydanticKnownError

from memory_server.domain.change import Kind
from memory_server.domain.fact import MAX_DEPTH, depth
from memory_server.domain.handles import read as read_handle
from memory_server.domain.memory import MemoryType
from memory_server.domain.moment import read as read_moment
from memory_server.language.text import clean
from memory_server.language.when import FORMS, Use
from memory_server.project import NAME, named

MAX_CONTENT = 100_000
"""Characters of a memory, as the table says too."""

MAX_ENTRIES = 50
"""Memories that one call stores."""

MAX_METADATA = 10_000
"""Characters of a memory's metadata as JSON: it is sent whole with each memory that is read."""

MAX_PROJECT = 4096
"""Characters of the path of a project's folder, or of the address of its remote. Its name has fewer."""

MAX_QUERY = 500
"""Characters of a query. A longer one is cut to the part that tells most."""

NO_MOMENT = f"is not a date or time: {FORMS}"
"""What a refusal says of a text that is no moment, after the name of the argument."""

TEXT = WithJsonSchema({"type": "string"})
INTEGER = WithJsonSchema({"type": "integer"})
OBJECT = WithJsonSchema({"type": "object"})
"""A schema without the limits, which would cost tokens in each tool; an error says them."""


def not_blank(text: str) -> str:
    text = clean(text)
    if not text:
        raise ValueError("has no visible character")
    return text


def _project(name: str) -> str:
    text = clean(name)
    if len(text) > NAME and named(text).is_given:
        raise PydanticKnownError("string_too_long", {"max_length": NAME})
    return text


def unique(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


def small(most: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The validator of an object that has at most so many characters as JSON."""

    def checked(value: dict[str, Any]) -> dict[str, Any]:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except ValueError:
            raise ValueError("contains a number that JSON cannot represent") from None
        if len(text) > most:
            raise ValueError(f"has more than {most:,} characters of JSON")
        if depth(value) > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        cleaned: dict[str, Any] = each_text(clean, value)
        return cleaned

    return checked


def each_text(change: Callable[[str], str], value: Any) -> Any:
    """A JSON value with each of its texts changed, the names in its objects too."""
    match value:
        case str():
            return change(value)
        case list():
            return [each_text(change, item) for item in value]
        case dict():
            return {change(name): each_text(change, item) for name, item in value.items()}
        case _:
            return value


_Row = Annotated[int, Field(ge=1, le=2**63 - 1, strict=True)]
Id = Annotated[_Row, WithJsonSchema({"type": "integer", "x-handle": "m"})]
TurnId = Annotated[_Row, WithJsonSchema({"type": "integer", "x-handle": "t"})]
Ids = Annotated[list[Id], Field(min_length=1, max_length=20)]
Summarized = Annotated[
    list[Id],
    Field(max_length=100),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "x-handle": "m"},
            "description": "ids it replaces in briefings",
        }
    ),
]
RelatedTo = Annotated[Id | None, Field(alias="relatedTo", description="memory id")]


def _replaced(value: Any) -> Any:
    """The id of a memory, or the handle of a fact or a turn, as it is written in answers."""
    handle = read_handle(value) if isinstance(value, str) else None
    if handle is None or handle.kind not in (Kind.MEMORY, Kind.FACT, Kind.TURN):
        return value
    if handle.kind is Kind.MEMORY:
        return handle.id
    return f"t{handle.id}" if handle.kind is Kind.TURN else f"f {str(handle)[2:]}"


Replaced = Annotated[
    _Row | Annotated[str, Field(pattern=r"^(f .+|t\d+)$")],
    BeforeValidator(_replaced),
    WithJsonSchema({"type": "string", "x-read": "replaced"}),
]
Supersedes = Annotated[Replaced | None, Field(description="id, f KEY, t12")]
_Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT), AfterValidator(not_blank)]
Content = Annotated[_Content, WithJsonSchema({"type": "string", "x-read": "content"})]


def _contents(value: object) -> object:
    if isinstance(value, list) and 1 <= len(value) <= MAX_ENTRIES:
        return [_CONTENT.validate_python(text) for text in value]
    return _CONTENT.validate_python(value)


_CONTENT = TypeAdapter[str](_Content)
Contents = Annotated[
    str | list[str],
    PlainValidator(_contents),
    WithJsonSchema({"type": "string", "x-read": "entries"}),
]
"""One content, or several that are stored one each: the schema shows the usual one."""
Type = Annotated[MemoryType, Field()]
NamedType = Annotated[MemoryType, WithJsonSchema({"type": "string", "x-values": [*map(str, MemoryType)]})]
"""The schema of `memory_store` lists the types; each further list would cost 15 tokens."""
Project = Annotated[
    str,
    Field(max_length=MAX_PROJECT),
    AfterValidator(_project),
    WithJsonSchema({"type": "string", "x-empty": True, "x-read": "project"}),
]
Tag = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(not_blank)]
Tags = Annotated[
    list[Tag],
    Field(max_length=10),
    AfterValidator(unique),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Undo = Annotated[bool, Field()]
Purge = Annotated[bool, Field(description="erase for good")]
Limit = Annotated[int, Field(ge=1, le=50, strict=True)]
Importance = Annotated[
    int,
    Field(ge=1, le=10, strict=True),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10, "x-read": "importance"}),
]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(small(MAX_METADATA))]
_QUERY = WithJsonSchema({"type": "string", "x-cut": MAX_QUERY, "x-read": "question"})
_EMPTY_QUERY = WithJsonSchema({"type": "string", "x-cut": MAX_QUERY, "x-read": "newest"})
QueryText = Annotated[str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(not_blank), _QUERY]
SearchText = Annotated[str, Field(max_length=MAX_QUERY), AfterValidator(clean), _EMPTY_QUERY]
"""A query that may be empty."""


def as_moment(written: object) -> str:
    try:
        return read_moment(written)
    except ValueError:
        raise ValueError(NO_MOMENT) from None


def _of(use: Use, description: str) -> WithJsonSchema:
    """The schema of a moment that may be written in words."""
    return WithJsonSchema({"type": "string", "description": description, "x-time": use.value})


Moment = Annotated[str, BeforeValidator(as_moment), TEXT]
Occurred = Annotated[Moment, _of(Use.HAPPENED, "date; default: now")]
Session = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
Since = Annotated[Moment, _of(Use.SINCE, "date")]
Until = Annotated[Moment, _of(Use.UNTIL, "date")]
AsOf = Annotated[Moment, _of(Use.AT, "edges valid then")]
ValueAt = Annotated[Moment, _of(Use.AT, "value then")]
