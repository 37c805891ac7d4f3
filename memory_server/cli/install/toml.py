"""Adds a table to a TOML text, replaces or removes it, and leaves every other character as it is."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.cli.install.jsonc import line_end

_HEADER = re.compile(r"(?m)^[ \t]*\[")
_EMPTY_LINE_AT_END = re.compile(r"(?m)^\r?\n\Z")


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path of names, None where there is none.

    Raises:
        ValueError: it is no TOML.
    """
    value: Any = tomllib.loads(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def put(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """The text with this table at a path; the tables in it are written inline.

    Raises:
        ValueError: it is there in another form than as a table with a header.
    """
    if get(text, path) == table:
        return text
    if get(text, path) is not None:
        text = remove(text, path)
    lines = [f"{name} = {_written(value)}" for name, value in table.items()]
    end = line_end(text)
    gap = ("" if text.endswith("\n") else end) + end if text else ""
    return text + gap + end.join([f"[{'.'.join(path)}]", *lines, ""])


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_written(item)}' for name, item in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and the tables in it, and without the empty line before each.

    Comments that follow a table stay: they are of the next one.

    Raises:
        ValueError: it is no table with a header.
    """
    name = r"[ \t]*\.[ \t]*".join(re.escape(part) for part in path)
    header = re.compile(rf"(?m)^[ \t]*\[[ \t]*{name}[ \t]*(?:\.[^\]\n]*)?\].*$")
    while match := header.search(text):
        following = _HEADER.search(text, match.end())
        lines = text[match.start() : following.start() if following else len(text)].splitlines(keepends=True)
        while lines[-1].strip() == "" or lines[-1].lstrip().startswith("#"):
            lines.pop()
        end = match.start() + len("".join(lines))
        text = _EMPTY_LINE_AT_END.sub("", text[: match.start()]) + text[end:]
    if get(text, path) is not None:
        raise ValueError(f"{'.'.join(path)} is there, but not as a table [{'.'.join(path)}]")
    return text
