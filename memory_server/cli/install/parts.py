"""What an installation enters in a file, and how it is taken out again: text in, text out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memory_server.cli.install import jsonc, toml
from memory_server.cli.install.launch import is_our_server, is_ours
from memory_server.errors import Conflict

NAME = "memory"
"""The name of the server in every client."""


class Part(Protocol):
    """One entry of a file."""

    @property
    def path(self) -> Path: ...

    def put(self, text: str) -> str:
        """The text with the entry; unchanged where it is there already."""
        ...

    def taken(self, text: str) -> str:
        """The text without the entry; unchanged where it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class JsonServer:
    """The server as a member of an object of a JSON file. What the user adds to it, such as `env`, stays."""

    path: Path
    where: tuple[str, ...]
    value: Mapping[str, Any]

    def put(self, text: str) -> str:
        present = jsonc.get(text, self.where)
        _refuse_other(present, self.path)
        return jsonc.put(text, self.where, {**(present or {}), **self.value})

    def taken(self, text: str) -> str:
        there = jsonc.get(text, self.where)
        return jsonc.remove(text, self.where) if there is not None and _is_ours(there) else text

    def words(self, text: str) -> list[str]:
        """The command that stands in the text, where it is ours."""
        return _words(jsonc.get(text, self.where))


@dataclass(frozen=True, slots=True)
class TomlServer:
    """The server as a table of a TOML file. What the user adds to it, such as `env`, stays."""

    path: Path
    where: tuple[str, ...]
    value: Mapping[str, Any]

    def put(self, text: str) -> str:
        present = toml.get(text, self.where)
        _refuse_other(present, self.path)
        return toml.put(text, self.where, {**(present or {}), **self.value})

    def taken(self, text: str) -> str:
        there = toml.get(text, self.where)
        return toml.remove(text, self.where) if there is not None and _is_ours(there) else text

    def words(self, text: str) -> list[str]:
        """The command that stands in the text, where it is ours."""
        return _words(toml.get(text, self.where))


@dataclass(frozen=True, slots=True)
class JsonHook:
    """A hook: an item of the list of its event. `where` leads to the lists, `value` has the command somewhere in it."""

    path: Path
    where: tuple[str, ...]
    event: str
    value: Mapping[str, Any]

    def put(self, text: str) -> str:
        own = self._own(text)
        if [item for _, item in own] == [self.value]:
            return text
        return jsonc.append(self.taken(text), (*self.where, self.event), self.value)

    def taken(self, text: str) -> str:
        for number, _ in reversed(self._own(text)):
            text = jsonc.remove(text, (*self.where, self.event), number)
        return text

    def _own(self, text: str) -> list[tuple[int, Any]]:
        items = jsonc.get(text, (*self.where, self.event))
        return [
            (number, item) for number, item in enumerate(items or []) if any(map(is_ours, _commands(item)))
        ]


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member that the file must have beside the entries; it stays when they are taken out, unless it is alone."""

    path: Path
    where: tuple[str, ...]
    value: Any

    def put(self, text: str) -> str:
        return jsonc.put(text, self.where, self.value) if jsonc.get(text, self.where) is None else text

    def taken(self, text: str) -> str:
        alone = jsonc.parse(text) == {self.where[0]: self.value}
        return jsonc.remove(text, self.where) if alone else text


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is all ours."""

    path: Path
    content: str
    ours: Callable[[str], bool]

    def put(self, text: str) -> str:
        if text and not self.ours(text):
            raise Conflict(f"{self.path} is there and is not of memory-server. Move it away, then try again.")
        return self.content

    def taken(self, text: str) -> str:
        return "" if self.ours(text) else text


def _commands(item: Any) -> list[str]:
    """The command lines in an entry of hooks, which some clients put into a list of their own."""
    if not isinstance(item, dict):
        return []
    inner = item.get("hooks")
    own = [each for name, each in item.items() if name in ("command", "bash") and isinstance(each, str)]
    return (
        own + [each for part in inner if isinstance(inner, list) for each in _commands(part)]
        if inner
        else own
    )


def _is_ours(server: Any) -> bool:
    return bool(_words(server))


def _words(server: Any) -> list[str]:
    """The command of an entry, where it serves this memory."""
    if not isinstance(server, dict):
        return []
    command = server.get("command")
    words = command if isinstance(command, list) else [command, *(server.get("args") or [])]
    found = [word for word in words if isinstance(word, str)]
    return found if is_our_server(found) else []


def _refuse_other(there: Any, path: Path) -> None:
    if there is not None and not _is_ours(there):
        raise Conflict(
            f"{path} has another server of the name `{NAME}`: {json.dumps(there)[:200]}. Rename or remove that entry, "
            "then try again."
        )


def hooks(path: Path, where: Sequence[str], entries: Mapping[str, Mapping[str, Any]]) -> list[JsonHook]:
    """The hooks of a file, by the client's names of the events."""
    return [JsonHook(path, tuple(where), event, value) for event, value in entries.items()]
