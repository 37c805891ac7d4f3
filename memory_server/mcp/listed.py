"""Every tool as clients see it, without what carries out its calls: read from a file of the package.

The code of the tools makes the same (`Tool.listed`), but to import it takes half as long as the SDK. A test compares
both; `python -m pytest tests/mcp --renew-schemas` writes the file anew.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mcp_types import Tool

from memory_server.errors import Invalid
from memory_server.language.nearest import nearest
from memory_server.settings import Settings

FILE = Path(__file__).with_name("listed.json")
"""The tools by toolset, in the order in which they are listed."""

CORE = "core"
"""The toolset of the few tools that most sessions need. They belong to another toolset too."""

IN_CORE = frozenset(
    ["recall", "smart_resume", "memory_store", "memory_update", "memory_delete", "write_memory"]
)


@cache
def by_toolset() -> dict[str, list[Tool]]:
    """The toolsets under the names that `--toolsets` takes."""
    tools_by_toolset = json.loads(FILE.read_bytes())
    return {
        toolset: [Tool.model_validate(tool) for tool in tools] for toolset, tools in tools_by_toolset.items()
    }


def names() -> list[str]:
    """The names of all tools, also of those that settings switch off."""
    return [tool.name for tools in by_toolset().values() for tool in tools]


def reads_only(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def chosen(settings: Settings) -> list[Tool]:
    """The tools that the settings do not switch off.

    Raises:
        Invalid: a setting names an unknown toolset or tool, or no tool is left.
    """
    tools_by_toolset = by_toolset()
    _refuse_unknown("toolset", settings.toolsets, [CORE, *tools_by_toolset])
    _refuse_unknown("tool", [*settings.tools, *settings.exclude_tools], names())
    left = [
        tool
        for toolset, tools in tools_by_toolset.items()
        for tool in tools
        if (
            not settings.toolsets
            or toolset in settings.toolsets
            or (CORE in settings.toolsets and tool.name in IN_CORE)
        )
        and (not settings.tools or tool.name in settings.tools)
        and tool.name not in settings.exclude_tools
        and (reads_only(tool) or not settings.read_only)
    ]
    if not left:
        raise Invalid(
            "The settings --toolsets, --tools, --exclude-tools and --read-only together leave no tool."
        )
    return left


def _refuse_unknown(kind: str, names: Sequence[str], valid_names: Sequence[str]) -> None:
    for name in names:
        if name not in valid_names:
            raise Invalid(f"No {kind} `{name}`. {nearest(name, valid_names)}")
