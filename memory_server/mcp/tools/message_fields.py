"""Field types of messages, conversations and the weights of roles."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from memory_server.domain.message import Message
from memory_server.domain.moment import read as read_moment
from memory_server.language.text import clean
from memory_server.mcp.tools.fields import OBJECT, TEXT, not_blank

MAX_MESSAGES = 500
"""Messages of a call: more is a mistake, because only the latest ones matter."""

MAX_TEXT = 200_000
"""Characters of all messages of a call. The time for their keywords grows with them."""

Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(not_blank)]


def _text(content: object) -> object:
    """The content; empty where it is null, because a message that only calls a tool has none."""
    return "" if content is None else content


class GivenMessage(BaseModel):
    """A message, after it was understood."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[Name, AfterValidator(str.lower)]
    content: Annotated[str, BeforeValidator(_text), AfterValidator(clean)]
    name: Name | None = None
    timestamp: Annotated[str, BeforeValidator(read_moment)] | None = None


def _together(messages: list[GivenMessage]) -> list[GivenMessage]:
    length = sum(len(message.content) for message in messages)
    if length > MAX_TEXT:
        raise ValueError(
            f"have {length:,} characters, at most {MAX_TEXT:,} are allowed: send only the latest"
        )
    return messages


def as_messages(messages: list[GivenMessage]) -> list[Message]:
    """The messages in the form of the domain."""
    return [Message(message.role, message.content, message.name, message.timestamp) for message in messages]


def _weights(weights: dict[str, float]) -> dict[str, float]:
    return {role.strip().lower(): weight for role, weight in weights.items()}


def _shown(*parts: str) -> WithJsonSchema:
    """The schema of messages with these parts."""
    typed = {part: {"type": "string"} for part in parts}
    return WithJsonSchema({"type": "array", "items": {"type": "object", "properties": typed}})


Messages = Annotated[
    list[GivenMessage], Field(max_length=MAX_MESSAGES), AfterValidator(_together), _shown("role", "content")
]
DatedMessages = Annotated[Messages, _shown("role", "content", "timestamp")]
RecentMessages = Annotated[Messages, Field(alias="recentMessages")]
Conversation = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
RoleWeights = Annotated[
    Annotated[dict[str, Weight], Field(max_length=50), AfterValidator(_weights), OBJECT] | None,
    Field(alias="roleWeights"),
]
