"""The settings of a hook, of the flags and the variables of its own process: an engine has those of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server import defaults, where
from memory_server.flags import OF_A_CLIENT, hooks_named, is_on, of_hook, value_of
from memory_server.project import NONE, Project, project_of
from memory_server.where import Where


@dataclass(frozen=True, slots=True)
class HookSettings:
    """`client` is the name under which what the hook keeps is signed. `off` are the events that do nothing. `zone` is
    the time zone that the settings or the environment name."""

    db: Where
    project: str | None = None
    session: str | None = None
    client: str | None = None
    off: frozenset[str] = frozenset()
    read_only: bool = False
    learns: bool = True
    zone: str | None = None

    def here(self, folder: Path) -> Project:
        """Return the project that is named, else that of the folder."""
        if self.project is not None and not self.project.strip():
            return NONE
        return project_of(self.project, folder)


def read(arguments: Sequence[str], environment: Mapping[str, str]) -> HookSettings:
    """Read the settings. Flags and variables that a hook does not need are passed over."""
    flags = dict(of_hook(arguments))

    def value(name: str) -> str | None:
        return value_of(name, flags, environment) or environment.get(OF_A_CLIENT.get(name, "")) or None

    db, off = value("db"), value("hooks_off") or ""
    return HookSettings(
        where.of(db) if db else defaults.database(),
        value("project"),
        value("session"),
        flags.get("client"),
        frozenset(hooks_named(off.split(","))),
        is_on("read_only", flags, environment),
        not is_on("no_learning", flags, environment),
        value("time_zone") or environment.get("TZ"),
    )
