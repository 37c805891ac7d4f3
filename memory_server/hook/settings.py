"""The settings of a hook: those of the server that it needs, read without pydantic, which takes too long."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server import defaults, where
from memory_server.flags import SWITCHES
from memory_server.project import NONE, Project, project_of
from memory_server.where import Where

PREFIX = "MEMORY_SERVER_"

HERE: Mapping[str, str] = os.environ
"""The environment of this process."""

_TRUE = frozenset(["1", "true", "t", "yes", "y", "on"])
"""Words that switch a setting on, in any case: those of pydantic."""


@dataclass(frozen=True, slots=True)
class HookSettings:
    """`client` is the name under which what the hook keeps is signed. `off` are the events that do nothing."""

    db: Where
    project: str | None = None
    session: str | None = None
    client: str | None = None
    off: frozenset[str] = frozenset()
    read_only: bool = False
    learns: bool = True

    def here(self, folder: Path) -> Project:
        """The project that is named, else that of the folder."""
        if self.project is not None and not self.project.strip():
            return NONE
        return project_of(self.project, folder)


def read(arguments: Sequence[str], environment: Mapping[str, str] = HERE) -> HookSettings:
    """The settings of these flags and variables. Flags and variables that a hook does not need are passed over."""
    flags = dict(flags_of(arguments))

    def value(name: str, *variables: str) -> str | None:
        values = [flags.get(name), *map(environment.get, (PREFIX + name.upper(), *variables))]
        return next(filter(None, values), None)

    def is_on(name: str) -> bool:
        return (value(name) or "").lower() in _TRUE

    db, off = value("db"), value("hooks_off") or ""
    return HookSettings(
        where.of(db) if db else defaults.database(),
        value("project", "CLAUDE_PROJECT_DIR"),
        value("session", "CLAUDE_CODE_SESSION_ID"),
        flags.get("client"),
        frozenset(event.strip() for event in off.split(",")),
        is_on("read_only"),
        not is_on("no_learning"),
    )


def runtime_folder() -> str:
    """The user's folder for sockets, as the environment names it; '' where it does not."""
    return os.environ.get("XDG_RUNTIME_DIR", "")


def flags_of(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`--name value` and `--name=value` as they are; a switch has no value."""
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag.startswith("--"):
            name = flag[2:].replace("-", "_")
            if equals:
                yield name, value
            else:
                yield name, "true" if name in SWITCHES else next(words, "")
