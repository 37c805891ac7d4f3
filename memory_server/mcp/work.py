"""Carries out the requests of a server.

The first request that needs it makes it: its import takes half as long as that of the SDK, and the handshake and the
list of tools do not need it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult

from memory_server.domain.caller import Caller
from memory_server.language.telling import telling
from memory_server.mcp import meanings, refusals
from memory_server.mcp.asking import Asking
from memory_server.mcp.completions import Completions
from memory_server.mcp.failures import refusal
from memory_server.mcp.forgiving.names import fold
from memory_server.mcp.observing import Observer
from memory_server.mcp.prompts import Prompts
from memory_server.mcp.refusals import ArgumentsRefusedError
from memory_server.mcp.resources import Resources
from memory_server.mcp.tool import CarryOut, Notices, Tool, carry_out_here, no_notices
from memory_server.services.trusting import TrustService

QUERY = 200
"""Characters of a query in a call that finds an id."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offers:
    """The resources, prompts and completions of the server."""

    resources: Resources
    prompts: Prompts
    completions: Completions


@dataclass(frozen=True, slots=True)
class Work:
    """The tools, what is offered besides, and who hears of each call."""

    tools: Mapping[str, Tool]
    offers: Offers
    everything: Sequence[str] = ()
    """The names of all tools, where the settings switch some off."""
    observers: Sequence[Observer] = ()
    admit: Callable[[], None] | None = None
    """Raises MemoryServerError if no call may be carried out now."""
    notices: Notices = no_notices
    carry_out: CarryOut = carry_out_here
    trust: TrustService | None = None
    """What confirms texts from outside; None where no user is asked about them."""

    def asking(self) -> Asking | None:
        """Return what asks the user of one session."""
        return None if self.trust is None else Asking(self.trust)

    def tool(self, name: str) -> Tool | None:
        """Return the tool of this name. One that deletes and replaces nothing is also found as `registerMemory`,
        `mcp__memory__recall` and `store_memory`.

        A client asks its user by the name of the tool: `memory_delete` may need a yes, and `memoryDelete` not.
        """
        if name in self.tools or name in self.everything:
            return self.tools.get(name)
        harmless = [
            tool_name for tool_name, tool in self.tools.items() if not tool.annotations.destructive_hint
        ]
        same = [tool_name for tool_name in harmless if fold(tool_name) == fold(name)]
        near = same[0] if same else meanings.meant_tool(name, self.tools)
        return self.tools[near] if near in harmless else None

    async def call(
        self, tool: Tool, arguments: dict[str, Any], caller: Caller, name: str = ""
    ) -> CallToolResult:
        """Call a tool that was found by this name.

        Raises:
            ToolError: the arguments are wrong; the message says what mends them.
        """
        other_name = bool(name) and not meanings.is_spelled(name, tool.name)
        notes = (f"`{name}` was read as `{tool.name}`.",) if other_name else ()
        try:
            return await tool.call(arguments, caller, self.notices, notes, self.carry_out)
        except ArgumentsRefusedError as error:
            logger.info("%s was refused: %s", tool.name, type(error).__name__)
            likelier = meanings.tool_for(name, self.tools) if other_name else tool.name
            doubt = () if likelier in (None, tool.name) else (f"Or did you mean `{likelier}`?",)
            raise refusal("\n".join((*notes, self._mended(tool, error, arguments), *doubt))) from error

    def why_not(self, name: str, arguments: dict[str, Any]) -> str:
        """Say why there is no such tool here, and which one to call."""
        if name in self.everything:
            return (
                f"`{name}` is switched off: the user started memory-server with settings that leave it out "
                "(--read-only, --tools, --toolsets or --exclude-tools)."
            )
        near = meanings.tool_for(name, self.tools)
        hint = f"Did you mean `{near}`? " if near else ""
        works = self._working(self.tools[near], arguments) if near else ""
        return f"No tool `{name}`. {hint}There are: {', '.join(self.tools)}.{works}"

    def _mended(self, tool: Tool, error: ArgumentsRefusedError, arguments: dict[str, Any]) -> str:
        """The refusal with a call that works, of another tool where that one takes what this one does not know."""
        if tool.annotations.destructive_hint and meanings.TRIALS.intersection(map(fold, error.unknown)):
            return f"{error}\nNothing was changed: `{tool.name}` cannot only show what it would delete."
        suggestion = meanings.elsewhere(tool.name, error.unknown, self.tools)
        hint = f"\nPerhaps you mean `{suggestion}`." if suggestion else ""
        return f"{error}{hint}{self._working(self.tools.get(suggestion or '', tool), arguments)}"

    def _working(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """A line with a call that works; where that would need the id of something, a call that finds it."""
        works = tool.working(arguments)
        if works is not None:
            return f"\n{works}"
        finds = self.tools.get(meanings.finding(tool.name, self.tools) or "")
        words = [value for value in arguments.values() if isinstance(value, str) and len(value.split()) > 1]
        query = telling(words[0], QUERY) if words else "…"
        return f"\nThis call finds the id: {refusals.works(finds.name, {'query': query})}" if finds else ""
