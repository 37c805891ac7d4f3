"""An act of an assistant on the user's machine: a command that it runs, a file that it reads or changes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Kind(StrEnum):
    RUNS = "runs"
    READS = "reads"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Act:
    """`tool` and `arguments` are the client's own words. `command` is the line of a shell that is run; `paths` are the
    files that are read or changed, absolute, and `text` is what is taken out of them or put into them."""

    kind: Kind
    tool: str
    command: str = ""
    paths: tuple[Path, ...] = ()
    text: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


PATCH = "apply_patch"
"""The tool of Codex that changes files. Its only argument is called `command` or `input`, and is no command."""

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "filePath", "notebook_path", "absolute_path", "path")
_TEXTS = ("old_string", "new_string", "oldString", "newString", "new_source", "content")
_PARTS = ("edits", "replacements")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$")
_SHELL = re.compile(r"(?:.*/)?(?:ba|z|da)?sh")


def read(tool: str, arguments: Mapping[str, Any], folder: Path) -> Act | None:
    """Read the act of a tool that a client calls in a folder; None where it neither runs a command nor names a file."""
    if tool == PATCH:
        patch = next((text for text in arguments.values() if isinstance(text, str) and "***" in text), "")
        paths = [first or second for first, second in _PATCHED.findall(patch)]
        return Act(Kind.CHANGES, tool, "", _absolute(paths, folder), patch, arguments) if paths else None
    if command := next(filter(None, (_command(arguments.get(name)) for name in _COMMANDS)), ""):
        return Act(Kind.RUNS, tool, command, arguments=arguments)
    parts = [part for name in _PARTS for part in _listed(arguments, name) if isinstance(part, Mapping)]
    paths = [*_paths(arguments), *(path for part in parts for path in _paths(part))]
    paths += [path for path in _listed(arguments, "files") if isinstance(path, str)]
    if not paths:
        return None
    texts = [part.get(name) for part in (arguments, *parts) for name in _TEXTS]
    text = "\n".join(text for text in texts if isinstance(text, str))
    return Act(Kind.CHANGES if text else Kind.READS, tool, "", _absolute(paths, folder), text, arguments)


def _paths(arguments: Mapping[str, Any]) -> list[str]:
    """Return the file that arguments name first."""
    return [path for name in _PATHS if isinstance(path := arguments.get(name), str) and path][:1]


def _listed(arguments: Mapping[str, Any], name: str) -> list[Any]:
    value = arguments.get(name)
    return value if isinstance(value, list) else []


def _command(value: object) -> str:
    """Return a command as one line: of `["bash", "-lc", line]` the line."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ""
    is_shell = len(value) == 3 and _SHELL.fullmatch(value[0]) and value[1] in ("-c", "-lc")
    return (value[2] if is_shell else " ".join(value)).strip()


def _absolute(paths: list[str], folder: Path) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(folder / path for path in paths))


_CODE = re.compile(r"\s*(?:Process )?(?:exited with )?(?:exit )?code:? (-?\d+)", re.IGNORECASE)
_CODES = ("exit_code", "exitCode", "exit", "code", "returncode")


def exit_code(response: object) -> int | None:
    """Return the code with which a command ended, as its client tells it; None where it does not."""
    if isinstance(response, Mapping):
        codes = [response.get(name) for name in _CODES]
        codes += [exit_code(response.get("metadata"))]
        return next((code for code in codes if isinstance(code, int) and not isinstance(code, bool)), None)
    match = _CODE.match(response) if isinstance(response, str) else None
    return int(match[1]) if match else None
