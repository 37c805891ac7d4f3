"""Field types of what was said: messages, conversations, the weights of roles."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from memory_server.domain.message import Message
from memory_server.language.text import clean
from memory_server.mcp.tools.fields import Moment, not_blank

MAX_MESSAGES = 500
MAX_TEXT = 200_000
"""Characters of all messages of a call."""

Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(not_blank)]


def _text(content: object) -> object:
    """A message that only calls a tool has no content."""
    return "" if content is None else content


class GivenMessage(BaseModel):
    """A message as a client sends it."""

    role: Annotated[Name, AfterValidator(str.lower)]
    content: Annotated[str, BeforeValidator(_text), AfterValidator(clean)]
    name: Name | None = None
    timestamp: Moment | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_parts(cls, given: object) -> object:
        if not isinstance(given, dict):
            raise ValueError("must be {role, content}")
        unknown = [part for part in given if part not in cls.model_fields]
        if unknown:
            raise ValueError(
                f"has the unknown part `{unknown[0]}`: a message has {', '.join(cls.model_fields)}"
            )
        return given


def _together(given: list[GivenMessage]) -> list[GivenMessage]:
    length = sum(len(each.content) for each in given)
    if length > MAX_TEXT:
        raise ValueError(f"hold {length:,} characters, at most {MAX_TEXT:,} fit: send the latest only")
    return given


def said(given: list[GivenMessage]) -> list[Message]:
    """The messages as the domain has them."""
    return [Message(each.role, each.content, each.name, each.timestamp) for each in given]


def _weights(given: dict[str, float]) -> dict[str, float]:
    return {role.strip().lower(): weight for role, weight in given.items()}


Messages = Annotated[
    list[GivenMessage],
    Field(max_length=MAX_MESSAGES),
    AfterValidator(_together),
    WithJsonSchema(
        {"type": "array", "items": {"type": "object"}, "description": "{role, content, timestamp?}"}
    ),
]
RecentMessages = Annotated[Messages, Field(alias="recentMessages")]
Conversation = Annotated[
    str, Field(min_length=1, max_length=200), AfterValidator(not_blank), WithJsonSchema({"type": "string"})
]
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
RoleWeights = Annotated[
    Annotated[
        dict[str, Weight],
        Field(max_length=50),
        AfterValidator(_weights),
        WithJsonSchema({"type": "object"}),
    ]
    | None,
    Field(alias="roleWeights"),
]
