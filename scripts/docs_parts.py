"""The generated parts of docs/, each told by the running code. `scripts/docs` calls them from cog markers."""

import os
import re
from collections.abc import Sequence
from typing import Any

from memory_server.cli.help_page import HelpContext
from memory_server.cli.program import HELP, NAME, program
from memory_server.mcp.first_answers import Json
from memory_server.mcp.listed import by_toolset
from memory_server.settings import Settings

WIDTH = 100

_DEFAULT = re.compile(r"(?:, |^)default ([^ ,:]+)$")
"""How a description says a default."""


def tool_reference() -> str:
    """Every tool by toolset: description, effect, parameters as the schema gives them, and the answer's fields."""
    return "\n\n".join(
        f"## `{name}`\n\n" + "\n\n".join(map(_tool, tools)) for name, tools in by_toolset().items()
    )


def settings_table() -> str:
    """Each setting: flag, environment variable, default, meaning."""
    rows = [(_flag(name), _variables(name), _default(name), _meaning(name)) for name in Settings.model_fields]
    return _table(("flag", "environment", "default", "meaning"), rows)


def command_help() -> str:
    """`memory-server --help`, as wide as WIDTH whatever the terminal."""
    os.environ |= {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    context = HelpContext(
        program, info_name=NAME, terminal_width=WIDTH - 2, **HELP
    )  # click leaves two columns free
    return f"```console\n$ memory-server --help\n{context.get_help().rstrip()}\n```"


def _tool(tool: Json) -> str:
    parameters = tool["inputSchema"]
    required = parameters.get("required", [])
    rows = [
        (
            f"`{name}`",
            _kind(schema),
            "required" if name in required else _shown_default(schema),
            _note(schema),
        )
        for name, schema in parameters.get("properties", {}).items()
    ]
    answer = ", ".join(f"`{name}`" for name in tool["outputSchema"].get("properties", {}))
    parts = [
        f"### `{tool['name']}`",
        f"{tool['description']} *({_effect(tool['annotations'])})*",
        _table(("parameter", "type", "default", "notes"), rows),
        f"Answers {answer}." if answer else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _effect(annotations: Json) -> str:
    if annotations["readOnlyHint"]:
        return "reads"
    return "changes or deletes" if annotations["destructiveHint"] else "adds"


def _kind(schema: dict[str, Any]) -> str:
    """`integer`, `array of string`, or the values of a closed set."""
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kinds = schema.get("type", "any JSON")
    kind = kinds if isinstance(kinds, str) else ", ".join(kinds)
    return f"{kind} of {_kind(schema['items'])}" if "items" in schema else kind


def _shown_default(schema: dict[str, Any]) -> str:
    default = _DEFAULT.search(str(schema.get("description", "")))
    return f"`{default[1]}`" if default else ""


def _note(schema: dict[str, Any]) -> str:
    """The description, without the default that has a column of its own; ranges are part of it."""
    return _DEFAULT.sub("", str(schema.get("description", "")))


def _flag(name: str) -> str:
    flag = "--" + name.replace("_", "-")
    return f"`{flag}`" if Settings.model_fields[name].annotation is bool else f"`{flag} {name.upper()}`"


def _variables(name: str) -> str:
    aliases = getattr(Settings.model_fields[name].validation_alias, "choices", None)
    names = aliases or [f"{Settings.model_config['env_prefix']}{name.upper()}"]
    return "<br>".join(f"`{each}`" for each in names)


def _default(name: str) -> str:
    default = Settings.model_fields[name].default
    return "off" if default is False else f"`{default}`" if isinstance(default, str | int | float) else ""


def _meaning(name: str) -> str:
    return str(Settings.model_fields[name].description)


def _table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    lines = [titles, tuple("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
