"""Every tool of the server, by toolset."""

from collections.abc import Mapping, Sequence

from memory_server.app import Services
from memory_server.errors import Invalid
from memory_server.language.nearest import nearest
from memory_server.mcp.tool import Tool
from memory_server.mcp.tools.facts import FactTools
from memory_server.mcp.tools.graph import GraphTools
from memory_server.mcp.tools.long_term import LongTermTools
from memory_server.mcp.tools.memories import MemoryTools
from memory_server.mcp.tools.recall import RecallTools
from memory_server.mcp.tools.short_term import ShortTermTools
from memory_server.mcp.tools.turns import TurnTools
from memory_server.settings import Settings

CORE = "core"
"""The toolset of the few tools that most sessions need. They belong to another toolset too."""

IN_CORE = frozenset(
    ["recall", "smart_resume", "memory_store", "memory_update", "memory_delete", "write_memory"]
)


def toolsets(services: Services) -> dict[str, list[Tool]]:
    """The toolsets under the names that `--toolsets` takes, in the order in which tools are listed."""
    return {
        "recall": RecallTools(services.recall).tools(),
        "memories": MemoryTools(services.memories, services.search).tools(),
        "graph": GraphTools(services.graph).tools(),
        "facts": FactTools(services.facts, services.resume).tools(),
        "conversation": TurnTools(services.turns).tools(),
        "short_term": ShortTermTools(services.short_term).tools(),
        "long_term": LongTermTools(services.long_term).tools(),
    }


def chosen(known: Mapping[str, Sequence[Tool]], settings: Settings) -> list[Tool]:
    """The tools that the settings do not switch off.

    Raises:
        Invalid: a setting names an unknown toolset or tool, or no tool is left.
    """
    names = [tool.name for tools in known.values() for tool in tools]
    _refuse_unknown("toolset", settings.toolsets, [CORE, *known])
    _refuse_unknown("tool", [*settings.tools, *settings.exclude_tools], names)
    left = [
        tool
        for toolset, tools in known.items()
        for tool in tools
        if (
            not settings.toolsets
            or toolset in settings.toolsets
            or (CORE in settings.toolsets and tool.name in IN_CORE)
        )
        and (not settings.tools or tool.name in settings.tools)
        and tool.name not in settings.exclude_tools
        and (tool.reads_only or not settings.read_only)
    ]
    if not left:
        raise Invalid(
            "The settings --toolsets, --tools, --exclude-tools and --read-only together leave no tool."
        )
    return left


def _refuse_unknown(kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise Invalid(f"No {kind} `{name}`. {nearest(name, known)}")
