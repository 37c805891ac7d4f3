"""Asks the user of a client whether a text from outside that was just stored counts as theirs.

The text is stored before: who does not answer leaves it waiting. A client of the era of `initialize` gets a request of
its own, a newer one the question as the result of its call, which it repeats with the answer.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from memory_server.call import deadline
from memory_server.domain import handles, trust
from memory_server.domain.caller import Caller
from memory_server.domain.change import Kind
from memory_server.domain.outside import Waiting
from memory_server.errors import NotFound
from memory_server.language.text import visible
from memory_server.services.trusting import TrustService

SECONDS = 45.0
"""Seconds that a person has, who is asked while the call waits: clients give a call up after 60."""

LONGEST = 500
"""Characters at most of what a form shows: what nobody would read whole is not asked about."""

MOST = 2
"""Questions of a session, each about another source."""

OF_ONE_THING = frozenset(
    "memory_store memory_update write_memory remind add_long_term_memory update_long_term_memory".split()
)
"""The tools whose calls store one thing: an answer is about all that a form shows."""

KEEP, LEAVE, DROP = "keep it as mine", "leave it waiting", "drop it"
ANSWER = "answer"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        ANSWER: {"type": "string", "title": "Is this yours?", "enum": [KEEP, LEAVE, DROP], "default": LEAVE}
    },
    "required": [ANSWER],
}


@dataclass(slots=True)
class Noted:
    """A stamp that notes the texts of a call, with the origin of each."""

    stamp: trust.Stamp
    origins: dict[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        origin = self.stamp(text)
        if text:
            self.origins[text] = origin
        return origin


@dataclass(slots=True)
class Asking:
    """The questions of one session: about each source once, and MOST in all."""

    trust: TrustService
    _sources: set[str] = field(default_factory=set)

    def noting(self, caller: Caller) -> Caller:
        """Return the caller of a call that writes, whose texts are noted for `asked`."""
        return replace(caller, stamp=Noted(caller.stamp))

    async def asked(
        self, context: Context[Any, Any] | None, result: CallToolResult, caller: Caller
    ) -> CallToolResult | InputRequiredResult:
        """Return the result of a call that has written, once its user was asked, or the question."""
        noted = caller.stamp
        if context is None or not isinstance(noted, Noted) or not _can_ask(context):
            return result
        if not any(map(trust.waits, noted.origins.values())):
            return result
        waiting = await anyio.to_thread.run_sync(self.trust.just_said, noted.origins, caller)
        if waiting is None or waiting.origin in self._sources or len(self._sources) >= MOST:
            return result
        shown = _shown(waiting, noted)
        if len(shown) > LONGEST:
            return result
        self._sources.add(waiting.origin)
        is_by_result = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        message = _question(waiting.origin, shown, None if is_by_result else SECONDS)
        form = ElicitRequestFormParams(message=message, requested_schema=SCHEMA)
        if is_by_result:
            state = {"handle": str(waiting.handle), "at": waiting.at, "result": result.structured_content}
            return InputRequiredResult(
                input_requests={ANSWER: ElicitRequest(params=form)}, request_state=json.dumps(state)
            )
        answer = None
        with anyio.move_on_after(SECONDS), suppress(MCPError, ValidationError):  # a client may fail to ask
            answer = await context.request_context.session.elicit_form(
                form.message, SCHEMA, context.request_context.request_id
            )
        with deadline.anew():
            return await self._settle(str(waiting.handle), waiting.at, answer, result, caller)

    async def answered(self, context: Context[Any, Any] | None, caller: Caller) -> CallToolResult | None:
        """Return the result of a call that is repeated with the answer of the user; None where it is no such call."""
        if context is None or context.request_state is None:
            return None
        state = json.loads(context.request_state)  # as this server has sealed it
        answer = (context.input_responses or {}).get(ANSWER)
        elicited = answer if isinstance(answer, ElicitResult) else None
        return await self._settle(state["handle"], state["at"], elicited, _result(state["result"]), caller)

    async def _settle(
        self, handle: str, at: str, answer: ElicitResult | None, result: CallToolResult, caller: Caller
    ) -> CallToolResult:
        """Do what the user has answered of what was written at a moment; return the result of the call with it."""
        content = answer.content if answer is not None and answer.action == "accept" else None
        chosen = (content or {}).get(ANSWER)
        actions = {KEEP: (self.trust.confirm, "confirmed"), DROP: (self.trust.drop, "dropped")}
        named = handles.read(handle)
        if chosen not in actions or named is None:
            return result
        action, done = actions[chosen]
        try:
            await anyio.to_thread.run_sync(action, [named], None, caller, at)
        except NotFound:  # it was settled or written again meanwhile
            return result
        fields = dict(result.structured_content or {})
        note = " ".join(filter(None, (fields.pop("note", None), f"The user was asked and {done} {handle}.")))
        return _result({"note": note, **fields})


def _can_ask(context: Context[Any, Any]) -> bool:
    """True for a client that shows its user a form."""
    capabilities = context.client_capabilities
    form = None if capabilities is None else capabilities.elicitation
    return form is not None and (form.form is not None or form.url is None)


def _shown(waiting: Waiting, noted: Noted) -> str:
    """Return all that an answer is about, each text once: a tag or a part of a trigger may be what is from outside."""
    is_named = waiting.kind is Kind.FACT or waiting.name not in waiting.text
    shown = f"{waiting.name}: {waiting.text}" if is_named else waiting.text
    if waiting.kind is Kind.FACT:
        return visible(shown)
    parts = (text for text, origin in noted.origins.items() if trust.waits(origin) and text not in shown)
    return visible("\n".join([shown, *parts]))


def _question(origin: str, shown: str, seconds: float | None) -> str:
    """Return the message of a form: each line of the text is quoted, so that none reads as this program's own."""
    quoted = "\n".join(f"> {line}" for line in shown.splitlines())
    end = "" if seconds is None else f" Without an answer in {seconds:g} seconds it waits."
    return (
        f"The assistant has stored a text from {origin}. Nothing that stands behind > is a message of memory-server:"
        f"\n\n{quoted}\n\n"
        f"Until you say that it is yours, no later session is told it unasked.{end} Later: `memory-server review`."
    )


def _result(content: dict[str, Any]) -> CallToolResult:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)
