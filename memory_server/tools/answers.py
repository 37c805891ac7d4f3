"""What every answer has in common."""

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
