"""The clients of this machine: which are connected, and with which problems."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress, dropwhile
from pathlib import Path

from memory_server import installation
from memory_server.cli.install import files
from memory_server.cli.install.clients import EVERY, Client, clients
from memory_server.cli.install.launch import lasting_program, this_program
from memory_server.cli.install.parts import InstallPart, JsonHook, OwnFile, ServerEntry


@dataclass(frozen=True, slots=True)
class Status:
    """A client that is on this machine. `words` is the command of its entry; none where it is not connected.

    `present` tells which of its parts are in its files, `problem` what is wrong with them.
    """

    client: Client
    words: tuple[str, ...]
    present: tuple[bool, ...]
    hooks: int
    problem: str | None = None

    def __str__(self) -> str:
        if not self.words:
            return f"{self.client.title}: not connected"
        if not self.hooks:
            return f"{self.client.title}: connected"
        if self.hooks == 1:
            return f"{self.client.title}: connected, 1 hook"
        return f"{self.client.title}: connected, {self.hooks} hooks"


def statuses() -> list[Status]:
    """Look at the clients whose folder is on this machine."""
    return [_status(client) for client in clients().values() if client.home.is_dir()]


def mend() -> Iterator[str]:
    """Let entries whose program is gone, or will be, start this one with the same flags; tells each change."""
    for status in statuses():
        if status.problem is None or not status.words:
            continue
        flags = list(dropwhile(lambda word: not word.startswith("--"), status.words))
        parts = status.client.parts(lasting_program(flags), EVERY)
        for change in files.entered(compress(parts, status.present)):
            if not change.is_none:
                change.write()
                yield f"{change.path} starts this program now"


def _status(client: Client) -> Status:
    parts = client.parts(this_program([]), EVERY)
    words: list[str] = []
    try:
        present = tuple(map(_is_there, parts))
        for part in parts:
            if isinstance(part, ServerEntry) and part.path.exists():
                words = part.words(part.path.read_text(encoding="utf-8"))
    except ValueError as error:
        return Status(client, (), (), 0, f"the settings of {client.title} cannot be read: {error}")
    hooks = sum(isinstance(part, JsonHook | OwnFile) for part in compress(parts, present))
    return Status(client, tuple(words), present, hooks, _problem(client, words))


def _problem(client: Client, words: list[str]) -> str | None:
    program = Path(words[0]) if words else Path()
    if not program.is_absolute():
        return None
    if not program.exists():
        return f"{client.title} starts {program}, which does not exist"
    removed = installation.will_be_removed(program.parent.parent)
    return f"{client.title} starts {program}, which will be removed" if removed else None


def _is_there(part: InstallPart) -> bool:
    if not part.path.exists():
        return False
    text = part.path.read_text(encoding="utf-8")
    return part.taken(text) != text
