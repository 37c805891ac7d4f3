"""The toolset `recall`: one question to everything that is stored."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from memory_server.answers.answer import Answer, field, made, rounded
from memory_server.domain.caller import Caller
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.recall import USUAL, Found, Recallable
from memory_server.domain.recall import AnswerText as Answered
from memory_server.language.tokens import weigh
from memory_server.mcp.tool import READS, Tool
from memory_server.mcp.tools.answers import DEGRADED
from memory_server.mcp.tools.fields import Project, SearchText, Since, Until
from memory_server.mcp.tools.message_fields import Messages, as_messages
from memory_server.services import projects
from memory_server.services.recall import Recalled, RecallService, RecallWish
from memory_server.services.recent import RecentService

NOTHING = "Nothing is stored here."

FRAME = 60
"""Tokens of an answer besides the list of the newest: the names of its fields, and the note."""

MaxTokens = Annotated[int, Field(ge=100, le=8_000, strict=True)]


def _note(recalled: Recalled) -> str | None:
    """Offer to replace what the files contradict."""
    offer = (
        "If what a file says now is right: `memory_store` it with `supersedes`."
        if recalled.is_outdated
        else None
    )
    return " ".join(filter(None, [recalled.note, offer])) or None


ITEM = Answer(Found, "ref kind", field("score", rounded), "why?")
RECALLED = Answer(
    Recalled,
    "answer=answer.text",
    field("items?", ITEM),
    field("answer.left_out", usual={}),
    made("note?", _note),
    DEGRADED,
)


@dataclass(frozen=True, slots=True)
class RecallTools:
    """One question, one answer."""

    recalls: RecallService
    recents: RecentService

    def tools(self) -> list[Tool]:
        return [Tool(self.recall, READS, "Recall", evaluates=True, always=True)]

    def _newest(self, max_tokens: int, project: str | None, caller: Caller) -> Recalled:
        if project is not None and project != EVERYWHERE:
            caller = replace(caller, project=projects.asked(project, caller))
        recent = self.recents.recent(max_tokens - FRAME, caller)
        text = "\n".join(recent.lines)
        answer = Answered(text, (), round(weigh(text)), {})
        note = f"The newest of {recent.project or 'what is about the user'}." if text else NOTHING
        return Recalled(answer, (), note, recent.degraded)

    def recall(
        self,
        query: SearchText,
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
        if not (query or kinds or since or until):
            return self._newest(max_tokens, project, caller)
        wish = RecallWish(frozenset(kinds or Recallable), project, since, until)
        return self.recalls.recall(
            query, as_messages(messages or []), max_tokens, wish, caller, explain=explain
        )
