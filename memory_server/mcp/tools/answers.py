"""What every answer has in common."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory_server.domain.forgetting import Forgotten
from memory_server.errors import Problem, told
from memory_server.mcp.hints import WORDS


class Answer(BaseModel):
    """An answer of a tool: its fields are the structured content and, as compact JSON, the text.

    `of` reads the fields from an object of a service: by their names, or by the path that `at` gives.
    """

    model_config = ConfigDict(serialize_by_alias=True, from_attributes=True, populate_by_name=True)

    @classmethod
    def of(cls, found: Any) -> Self:
        return cls.model_validate(found)


def absent(value: object) -> bool:
    """Optional parts of an answer are left out rather than sent as null: they would cost tokens."""
    return value is None or value == []


OPTIONAL = Field(exclude_if=absent)
"""A part of an answer that is left out where there is nothing to say."""

Text = Annotated[str | None, OPTIONAL]
Number = Annotated[int | None, OPTIONAL]

SupersededBy = Number
"""In every answer that shows a memory: the id of what took its place."""


def degraded(problems: Sequence[Problem]) -> str | None:
    """Why an answer is less than it could be."""
    return told(problems, WORDS)


def _worded(found: object) -> object:
    match found:
        case Problem():
            return degraded([found])
        case tuple():
            return degraded(found)
        case _:
            return found


Degraded = Annotated[str | None, BeforeValidator(_worded), OPTIONAL]
"""The same as a field, made of a service's problems."""


def rounded(digits: int) -> BeforeValidator:
    """A number with so many decimals."""
    return BeforeValidator(lambda value: None if value is None else round(value, digits))


class Deletion(Answer):
    """`undo_until`: it can be restored until then; `purged`: it was erased for good."""

    deleted: bool
    undo_until: Text = None
    purged: Annotated[bool | None, OPTIONAL] = None

    @classmethod
    def told(cls, forgotten: Forgotten, purge: bool) -> dict[str, Any]:
        """The fields, for answers that have more of them."""
        return {
            "deleted": bool(forgotten.number),
            "undo_until": forgotten.undo_until,
            "purged": True if purge and forgotten.number else None,
        }


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and how much is left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def elsewhere(conversations: Sequence[tuple[str, int]]) -> str | None:
    """Where a conversation has nothing: which have, and how much."""
    if not conversations:
        return None
    named = ", ".join(f"`{name}` ({number:,})" for name, number in conversations)
    return f"This conversation has none. There are some in: {named}."
