"""The settings of a hook: those of the server that it needs, read without pydantic, which takes too long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server import defaults, where
from memory_server.flags import PREFIX, of_hook
from memory_server.project import NONE, Project, project_of
from memory_server.where import Where

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


def read(arguments: Sequence[str], environment: Mapping[str, str]) -> HookSettings:
    """The settings of these flags and variables. Flags and variables that a hook does not need are passed over."""
    flags = dict(of_hook(arguments))

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
