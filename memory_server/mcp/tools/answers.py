"""What every answer has in common."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from memory_server.domain.forgetting import Forgotten
from memory_server.errors import Invalid, Problem, told
from memory_server.mcp.hints import WORDS


class Answer(BaseModel):
    """An answer of a tool: its fields are the structured content and, as compact JSON, the text.

    `of` reads the fields from the object that a service returned: by their names, or from the part that `part` names.
    """

    model_config = ConfigDict(serialize_by_alias=True, from_attributes=True, populate_by_name=True)

    @classmethod
    def of(cls, found: Any) -> Self:
        return cls.model_validate(found)


def absent(value: object) -> bool:
    """Whether an optional field is left out. Sent as null it would cost tokens."""
    return value is None or value == []


OPTIONAL = Field(exclude_if=absent)
"""A field of an answer that is left out where it is empty."""

OptionalText = Annotated[str | None, OPTIONAL]
OptionalNumber = Annotated[int | None, OPTIONAL]


def to_minutes(moment: object) -> object:
    """A stored moment, `2026-03-14T09:26:53.589Z`, as `2026-03-14 09:26`: still UTC, in fewer tokens."""
    return moment[:16].replace("T", " ") if isinstance(moment, str) else moment


Minutes = BeforeValidator(to_minutes)


def part(of: str, name: str) -> Any:
    """A field that is read from one part of the object that a service returned: `memory`, `fact`."""
    return Field(validation_alias=AliasPath(of, name))


SupersededBy = Annotated[OptionalNumber, part("memory", "superseded_by")]
"""In every answer that shows a memory: the id of the memory that superseded it."""


class MemoryAnswer(Answer):
    """What every answer says of a memory that it shows."""

    id: Annotated[int, part("memory", "id")]
    content: Annotated[str, part("memory", "excerpt")]
    type: Annotated[str, part("memory", "type")]


def degraded(problems: Sequence[Problem]) -> str | None:
    """Why an answer is not complete, in words; None where it is."""
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
"""The same as a field, read from the problems that a service returned."""


def rounded(digits: int) -> BeforeValidator:
    """Rounds a number to so many decimals."""
    return BeforeValidator(lambda value: None if value is None else round(value, digits))


class Deletion(Answer):
    """`undo_until`: it can be restored until then; `purged`: it was erased for good; `note`: why not, or not everywhere."""

    deleted: bool
    undo_until: OptionalText = None
    purged: Annotated[bool | None, OPTIONAL] = None
    note: OptionalText = None

    @classmethod
    def told(cls, forgotten: Forgotten, purge: bool) -> dict[str, Any]:
        """The fields, for answers that have more of them."""
        return {
            "deleted": bool(forgotten.number),
            "undo_until": forgotten.undo_until,
            "purged": True if purge and forgotten.number and not forgotten.refused else None,
            "note": NOT_ERASED if forgotten.refused else also_in(forgotten),
        }


NOT_ERASED = (
    "Not erased, only deleted: somebody else has written it, or a part of it. Who alone has written it can erase it, and "
    "the owner of the memory. Tell the user."
)
"""The note for what was to be erased and is not the person's alone."""


def also_in(forgotten: Forgotten) -> str | None:
    """The note for what was erased and may be in other files still."""
    if not forgotten.elsewhere:
        return None
    return f"These files may still hold it: {', '.join(forgotten.elsewhere)}. Tell the user, who can delete them."


def refuse_both(**wishes: bool) -> None:
    """Raises Invalid where two wishes are given that exclude each other."""
    wanted = [name for name, given in wishes.items() if given]
    if len(wanted) > 1:
        raise Invalid(f"Give either `{'` or `'.join(wanted)}`, not both. Nothing was changed.")


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and the number of characters left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def cut(text: str, limit: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def elsewhere(conversations: Sequence[tuple[str, int]]) -> str | None:
    """The note for a conversation without memories: which conversations have some, and how many."""
    if not conversations:
        return None
    named = ", ".join(f"`{name}` ({number:,})" for name, number in conversations)
    return f"This conversation has none. There are some in: {named}."
