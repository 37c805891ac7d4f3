"""Adds a table to a TOML text, replaces or removes it, and leaves every other character as it is."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"(?m)^[ \t]*\[")


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path of names, None where there is none.

    Raises:
        ValueError: it is no TOML.
    """
    found: Any = tomllib.loads(text)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def put(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """The text with this table of strings and lists of strings at a path.

    Raises:
        ValueError: it is there in another form than as a table with a header.
    """
    if get(text, path) == table:
        return text
    if get(text, path) is not None:
        text = remove(text, path)
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
    before = text.rstrip("\n")
    return "\n".join([*([before, ""] if before else []), f"[{'.'.join(path)}]", *lines, ""])


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and without the tables in it.

    Raises:
        ValueError: it is no table with a header.
    """
    name = r"[ \t]*\.[ \t]*".join(re.escape(each) for each in path)
    header = re.compile(rf"(?m)^[ \t]*\[[ \t]*{name}[ \t]*(?:\.[^\]\n]*)?\].*$")
    kept = text
    while found := header.search(kept):
        following = _HEADER.search(kept, found.end())
        end = following.start() if following else len(kept)
        kept = kept[: found.start()].rstrip("\n") + "\n\n" + kept[end:]
        kept = kept.rstrip("\n") + "\n" if following is None else kept
    kept = kept.lstrip("\n")
    if get(kept, path) is not None:
        raise ValueError(f"{'.'.join(path)} is there, but not as a table [{'.'.join(path)}]")
    return kept
