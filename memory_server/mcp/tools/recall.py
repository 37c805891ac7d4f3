"""The toolset `recall`: one question to everything that is stored."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from memory_server.answers.answer import Answer, field, rounded
from memory_server.domain.caller import Caller
from memory_server.domain.recall import USUAL, Found, Recallable
from memory_server.mcp.tool import READS, Tool
from memory_server.mcp.tools.answers import DEGRADED
from memory_server.mcp.tools.fields import Project, QueryText, Since, Until
from memory_server.mcp.tools.message_fields import Messages, as_messages
from memory_server.services.recall import Recalled, RecallService, RecallWish

MaxTokens = Annotated[int, Field(ge=100, le=8_000, strict=True)]


ITEM = Answer(Found, "ref kind", field("score", rounded), "why?")
RECALLED = Answer(
    Recalled,
    "answer=answer.text",
    field("items?", ITEM),
    field("answer.left_out", usual={}),
    "note?",
    DEGRADED,
)


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
        max_tokens: MaxTokens = USUAL,
        project: Annotated[Project | None, Field(description="'*' = all equally")] = None,
        kinds: list[Recallable] | None = None,
        since: Since | None = None,
        until: Until | None = None,
        explain: bool = False,
        *,
        caller: Caller,
    ) -> Annotated[Recalled, RECALLED]:
        """Ask everything stored one question. Answers in sentences, best first, with date and ref: [m42] memory, [f key] fact, [t7] turn, [s3] short-term memory, [w name] prompt due."""
        wish = RecallWish(frozenset(kinds or Recallable), project, since, until)
        return self.recalls.recall(
            query, as_messages(messages or []), max_tokens, wish, caller, explain=explain
        )
