"""The sight that a rule has of an act before it happens: the tool, the file, and all commands that a line runs."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

from memory_server.domain.act import Act, Kind
from memory_server.language import commands

LONGEST: Final = 2_000
"""Characters of a text among the arguments that a rule sees."""

_WRITES: Final = re.compile(r"write|edit|patch|replace|create|delete|remove|move|rename", re.IGNORECASE)
_FILE_ACT: Final = re.compile(r"(Write|Edit|MultiEdit|NotebookEdit|Read)\s+(\S+)")


def of_text(text: str) -> Act:
    """Return the act that an example describes: `Write src/app.py` is of a file, everything else is a command."""
    match = _FILE_ACT.fullmatch(text.strip())
    if match is None:
        return Act(Kind.RUNS, "Bash", text)
    tool, path = match.groups()
    return Act(Kind.READS if tool == "Read" else Kind.CHANGES, tool, paths=(Path(path),))


def line_of(act: Act) -> str:
    """Return an act in a line: its command, or its tool and its files."""
    return act.command or f"{act.tool} {' '.join(path.as_posix() for path in act.paths)}"


def data(act: Act, folder: PurePath | None, branch: str | None) -> dict[str, Any]:
    """Return what a trigger sees of an act in a folder with this branch checked out."""
    line = commands.read(act.command, branch)
    files = [_placed(path.as_posix(), folder) for path in act.paths]
    writes = act.kind is Kind.CHANGES or _WRITES.search(act.tool) is not None
    return {
        "tool": act.tool,
        "path": files[0] if files else "",
        "command": act.command[:LONGEST],
        "args": _cut(act.arguments),
        "commands": [asdict(command) for command in line.commands],
        "code": line.code,
        "hidden": line.hidden,
        "reads": _all_placed("reads", line, folder) + ([] if writes else files),
        "writes": _all_placed("writes", line, folder) + (files if writes else []),
    }


def _all_placed(what: str, line: commands.LineReading, folder: PurePath | None) -> list[str]:
    return [_placed(path, folder) for command in line.commands for path in getattr(command, what)]


def _placed(path: str, folder: PurePath | None) -> str:
    """Return a path as seen from a folder, where it lies in it."""
    if not path:
        return ""
    plain = PurePosixPath(path.replace("\\", "/"))
    if folder is not None and plain.is_relative_to(folder.as_posix()):
        return str(plain.relative_to(folder.as_posix()))
    return str(plain)


def _cut(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[:LONGEST] if isinstance(value, str) else value for name, value in arguments.items()}
