"""The header of a Markdown file: fields between two lines of dashes."""

import re

FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([ \t]*)([\w-]+)[ \t]*:[ \t]*(.*)$")


def fields(front: str) -> dict[str, str]:
    """Return the fields of a header; a list below its name becomes one line. A field inside another one counts as well,
    unless the header has one of its name.
    """
    fields: dict[str, str] = {}
    name = ""
    for line in front.splitlines():
        field = _FIELD.match(line)
        if field:
            name = field[2].lower()
            if not field[1] or name not in fields:
                fields[name] = field[3].strip().strip("\"'")
        elif name and line.strip().startswith("- "):
            fields[name] = ", ".join(filter(None, (fields[name], line.strip()[2:].strip("\"'"))))
    return fields


def split(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a file, none where it has no header, and its body."""
    front = FRONT.match(text)
    return (fields(front[1]), text[front.end() :]) if front else ({}, text)
