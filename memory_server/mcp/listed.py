"""Every tool as clients see it, without what carries out its calls: read from a file of the package.

The file is made of the code of the tools (`tests/listing.py`), whose import takes half as long as the SDK. A test
compares both; `python -m pytest tests/mcp --renew-schemas` writes the file anew.
"""

from collections.abc import Sequence
from functools import cache

from mcp_types import Tool

from memory_server.errors import Invalid
from memory_server.language.nearest import nearest
from memory_server.mcp.first_answers import ALL, CORE, LISTED, Json, offered, read
from memory_server.settings import Settings


@cache
def by_toolset() -> dict[str, list[Json]]:
    """The toolsets under the names that `--toolsets` takes."""
    tools_by_toolset: dict[str, list[Json]] = read(LISTED)
    return tools_by_toolset


def names() -> list[str]:
    """The names of all tools, also of those that settings switch off."""
    return [tool["name"] for tools in by_toolset().values() for tool in tools]


def reads_only(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def chosen(settings: Settings) -> list[Tool]:
    """The tools that the settings do not switch off.

    Raises:
        Invalid: a setting names an unknown toolset or tool, or no tool is left.
    """
    return _left(settings, settings.toolsets)


def callable_names(settings: Settings) -> set[str]:
    """The names of the tools that can be called: with the toolset `core` also those that it does not list.

    Raises:
        Invalid: a setting names an unknown toolset or tool, or no tool is left.
    """
    return {tool.name for tool in _left(settings, () if CORE in settings.toolsets else settings.toolsets)}


def _left(settings: Settings, toolsets: Sequence[str]) -> list[Tool]:
    tools_by_toolset = by_toolset()
    _refuse_unknown("toolset", settings.toolsets, [CORE, ALL, *tools_by_toolset])
    _refuse_unknown("tool", [*settings.tools, *settings.exclude_tools], names())
    left = offered(tools_by_toolset, toolsets, settings.tools, settings.exclude_tools, settings.read_only)
    if not left:
        raise Invalid(
            "The settings --toolsets, --tools, --exclude-tools and --read-only together leave no tool."
        )
    return [Tool.model_validate(tool) for tool in left]


def _refuse_unknown(kind: str, names: Sequence[str], valid_names: Sequence[str]) -> None:
    for name in names:
        if name not in valid_names:
            raise Invalid(f"No {kind} `{name}`. {nearest(name, valid_names)}")
