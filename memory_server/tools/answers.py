"""What every answer has in common."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """An answer of a tool: its fields are the structured content and, as compact JSON, the text."""

    model_config = ConfigDict(serialize_by_alias=True)


def absent(value: object) -> bool:
    """Optional parts of an answer are left out rather than sent as null: they would cost tokens."""
    return value is None or value == []


SupersededBy = Annotated[int | None, Field(exclude_if=absent)]
"""In every answer that shows a memory: the id of what took its place."""


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
