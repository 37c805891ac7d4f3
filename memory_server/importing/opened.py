"""A path that may be imported, and as much of it as tells what it is."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Record
from memory_server.errors import Invalid
from memory_server.sqlite import foreign

HEAD = 65_536
"""Bytes from the start of a file that tell its format."""


@dataclass(frozen=True)
class Opened:
    """A file or a folder. What is read of it is read when it is asked for."""

    path: Path

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def head(self) -> str:
        """The first characters; nothing of a folder."""
        if self.is_folder:
            return ""
        with self.path.open("rb") as file:
            return file.read(HEAD).decode("utf-8-sig", errors="replace")

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """The tables of a SQLite file, each with its columns; none where it is another file."""
        if self.is_folder or not self.head.startswith("SQLite format 3"):
            return {}
        return foreign.tables(self.path)

    @cached_property
    def text(self) -> str:
        """The whole file.

        Raises:
            Invalid: it is not UTF-8.
        """
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise Invalid(
                f"{self.path} is not UTF-8: {error.reason} at byte {error.start}. Nothing was imported."
            ) from error

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first line that is a JSON object; empty where the first line is none."""
        line = next((each for each in self.head.splitlines() if each.strip()), "")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def json(self) -> Any:
        """The file as one JSON value; None where it is none."""
        if self.is_folder or not self.head.lstrip().startswith(("{", "[")):
            return None
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        """The objects of a JSON list."""
        value = self.json if isinstance(self.json, list) else []
        return [each for each in value if isinstance(each, dict)]

    def has(self, **columns: str) -> bool:
        """Whether it is a SQLite file with these tables, each with these columns (names with spaces between them)."""
        return all(
            table in self.tables and set(names.split()) <= set(self.tables[table])
            for table, names in columns.items()
        )


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for `--from`, what program writes it, whether a path has it, and the records of a path."""

    name: str
    title: str
    fits: Callable[[Opened], bool]
    records: Callable[[Opened], Iterator[Record]]
