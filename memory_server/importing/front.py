"""The header of a Markdown file: fields between two lines of dashes."""

import json
import re

FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([ \t]*)([\w-]+)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
_BLOCKS = ("|", "|-", ">", ">-")
"""Marks of a text whose lines follow."""


def fields(front: str) -> dict[str, str]:
    """Return the fields of a header; a list below its name becomes one line. A field inside another one counts as well,
    unless the header has one of its name.
    """
    fields: dict[str, str] = {}
    name = ""
    for line in front.splitlines():
        goes_on = line[:1].isspace() and _is_open(fields.get(name, ""))
        field = None if goes_on else _FIELD.match(line)
        if field:
            name = field[2].lower()
            if not field[1] or name not in fields:
                fields[name] = (field[3] or "").strip()
        elif name and not goes_on and line.strip().startswith("- "):
            fields[name] = ", ".join(filter(None, (fields[name], _plain(line.strip()[2:]))))
        elif name and line[:1].isspace():
            before = "" if fields[name] in _BLOCKS else fields[name]
            fields[name] = f"{before} {line.strip()}".strip()
    return {name: _plain(value) for name, value in fields.items()}


def _is_open(value: str) -> bool:
    """Return True for a quoted text whose end is on a later line."""
    return value.startswith(("'", '"')) and not (_SINGLE.fullmatch(value) or _DOUBLE.fullmatch(value))


def _plain(value: str) -> str:
    """Return a text without its quotes."""
    if single := _SINGLE.fullmatch(value):
        return single[1].replace("''", "'")
    if not _DOUBLE.fullmatch(value):
        return value
    try:
        return str(json.loads(value))
    except ValueError:  # YAML has more escapes
        return value[1:-1]


def split(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a file, none where it has no header, and its body."""
    front = FRONT.match(text)
    return (fields(front[1]), text[front.end() :]) if front else ({}, text)
