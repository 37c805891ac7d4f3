"""The toolset `recall`: one question to everything that is stored."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from memory_server.domain.caller import Caller
from memory_server.domain.recall import Recallable
from memory_server.mcp.tool import READS, Tool
from memory_server.mcp.tools.answers import Answer, Degraded, OptionalText, part, rounded
from memory_server.mcp.tools.fields import Project, QueryText, Since
from memory_server.mcp.tools.message_fields import Messages, as_messages
from memory_server.services.recall import RecallService, RecallWish

MaxTokens = Annotated[int, Field(ge=100, le=8_000, strict=True)]


class RecalledItem(Answer):
    ref: str
    kind: str
    score: Annotated[float, rounded(2)]
    why: OptionalText = None


class Recollection(Answer):
    answer: Annotated[str, part("answer", "text")]
    items: Annotated[list[RecalledItem], part("answer", "items")]
    tokens: Annotated[int, part("answer", "tokens")]
    left_out: Annotated[dict[str, int], part("answer", "left_out")]
    note: OptionalText = None
    degraded: Degraded = None


@dataclass(frozen=True, slots=True)
class RecallTools:
    """One question, one answer."""

    recalls: RecallService

    def tools(self) -> list[Tool]:
        return [Tool(self.recall, READS, evaluates=True, always=True)]

    def recall(
        self,
        query: QueryText,
        messages: Messages | None = None,
        max_tokens: MaxTokens = 800,
        project: Annotated[
            Project | None, Field(description="default: this one first; '*' = all equally")
        ] = None,
        kinds: list[Recallable] | None = None,
        since: Since | None = None,
        until: Since | None = None,
        *,
        caller: Caller,
    ) -> Recollection:
        """Ask everything that is stored one question. Answers in sentences, best first, each with date and handle: [m42] memory, [f key] fact, [t7] turn, [s3] short-term memory, [w name] prompt whose trigger holds for `messages`."""
        wish = RecallWish(frozenset(kinds or Recallable), project, since, until)
        found = self.recalls.recall(query, as_messages(messages or []), max_tokens, wish, caller)
        return Recollection.of(found)
