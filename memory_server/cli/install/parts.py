"""The entries that an installation makes in a file, and takes out again: text in, text out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memory_server.cli.install import jsonc, toml
from memory_server.cli.install.launch import FEW, is_our_server, is_ours
from memory_server.errors import Conflict
from memory_server.flags import PREFIX

NAME = "memory"
"""The name of the server in every client."""


class InstallPart(Protocol):
    """One entry of a file."""

    @property
    def path(self) -> Path: ...

    def put(self, text: str) -> str:
        """The text with the entry; unchanged where it is there already."""
        ...

    def taken(self, text: str) -> str:
        """The text without the entry; unchanged where it is not there."""
        ...


class FileFormat(Protocol):
    """JSON or TOML: reads and changes one entry of a text, and no other character."""

    def get(self, text: str, path: Sequence[str], /) -> Any: ...
    def put(self, text: str, path: Sequence[str], value: Mapping[str, Any], /) -> str: ...
    def remove(self, text: str, path: Sequence[str], /) -> str: ...


def _format(path: Path) -> FileFormat:
    return toml if path.suffix == ".toml" else jsonc


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """The server as an object in JSON or a table in TOML. What the user adds to it, such as `env`, stays."""

    path: Path
    where: tuple[str, ...]
    value: Mapping[str, Any]

    def put(self, text: str) -> str:
        form = _format(self.path)
        present = form.get(text, self.where)
        if present is not None and not _words(present):
            raise Conflict(
                f"{self.path} has another server of the name `{NAME}`: {json.dumps(present)[:200]}. Rename or remove "
                "that entry, then try again."
            )
        value = self.value if f"{PREFIX}TOOLSETS" not in self.variables(text) else _without_few(self.value)
        return form.put(text, self.where, {**(present or {}), **value})

    def taken(self, text: str) -> str:
        return _format(self.path).remove(text, self.where) if self.words(text) else text

    def words(self, text: str) -> list[str]:
        """Return the command that stands in the text, where it is ours."""
        return _words(_format(self.path).get(text, self.where))

    def variables(self, text: str) -> dict[str, str]:
        """Return the environment variables of the entry: `env`, which opencode calls `environment`."""
        entry = _format(self.path).get(text, self.where) or {}
        return {**entry.get("env", {}), **entry.get("environment", {})}


@dataclass(frozen=True, slots=True)
class JsonHook:
    """Items of the list of an event; each value has the command somewhere in it."""

    path: Path
    event: str
    values: Sequence[Mapping[str, Any]]

    def put(self, text: str) -> str:
        if [item for _, item in self._ours(text)] == list(self.values):
            return text
        text = self.taken(text)
        for value in self.values:
            text = jsonc.append(text, self._list, value)
        return text

    def taken(self, text: str) -> str:
        for number, _ in reversed(self._ours(text)):
            text = jsonc.remove(text, self._list, number)
        return text

    @property
    def _list(self) -> tuple[str, str]:
        return "hooks", self.event

    def _ours(self, text: str) -> list[tuple[int, Any]]:
        items = jsonc.get(text, self._list)
        return [
            (number, item) for number, item in enumerate(items or []) if any(map(is_ours, _commands(item)))
        ]


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member that the file must have beside the entries; it stays when they are taken out, unless it is alone."""

    path: Path
    name: str
    value: Any

    def put(self, text: str) -> str:
        return jsonc.put(text, [self.name], self.value) if jsonc.get(text, [self.name]) is None else text

    def taken(self, text: str) -> str:
        alone = jsonc.parse(text) == {self.name: self.value}
        return jsonc.remove(text, [self.name]) if alone else text


@dataclass(frozen=True, slots=True)
class JsonItems:
    """Texts in a list of the file. Where they are put beside others, those stay."""

    path: Path
    where: tuple[str, ...]
    items: tuple[str, ...]

    def put(self, text: str) -> str:
        for item in self.items:
            if item not in (jsonc.get(text, self.where) or []):
                text = jsonc.append(text, self.where, item)
        return text

    def taken(self, text: str) -> str:
        present = jsonc.get(text, self.where)
        for number in reversed(range(len(present) if isinstance(present, list) else 0)):
            if present[number] in self.items:
                text = jsonc.remove(text, self.where, number)
        return text


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is all ours."""

    path: Path
    content: str
    ours: Callable[[str], bool]

    def put(self, text: str) -> str:
        if text and not self.ours(text):
            raise Conflict(f"{self.path} exists and is not from memory-server. Move it away, then try again.")
        return self.content

    def taken(self, text: str) -> str:
        return "" if self.ours(text) else text


def _commands(item: Any) -> list[str]:
    """The command lines in an entry of hooks, which some clients put into a list of their own."""
    if not isinstance(item, dict):
        return []
    command, inner = item.get("command"), item.get("hooks")
    commands = [command] if isinstance(command, str) else []
    parts = inner if isinstance(inner, list) else []
    return commands + [line for part in parts for line in _commands(part)]


def _without_few(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry whose environment chooses the tools: the flag would beat it."""
    return {
        name: item[: -len(FEW)] if isinstance(item, list) and tuple(item[-len(FEW) :]) == FEW else item
        for name, item in value.items()
    }


def _words(server: Any) -> list[str]:
    """Return the command of an entry, where it serves this memory."""
    if not isinstance(server, dict):
        return []
    command = server.get("command")
    values = command if isinstance(command, list) else [command, *(server.get("args") or [])]
    words = [value for value in values if isinstance(value, str)]
    return words if is_our_server(words) else []


def hooks(path: Path, entries: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[JsonHook]:
    """The hooks of a file, by the client's names of the events."""
    return [JsonHook(path, event, values) for event, values in entries.items()]
