"""Small tables that stand in code as text: a line for each row, which a person reads at a glance."""

from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


def words(text: str) -> frozenset[str]:
    """Read words, by blanks."""
    return frozenset(text.split())


def read(table: str, value: Callable[[str], _Value]) -> dict[str, _Value]:
    """Read a table with `programs, by commas: VALUE` in each line; the values of two lines of a program are one."""
    texts: dict[str, str] = {}
    for line in table.strip().splitlines():
        names, _, text = line.strip().partition(":")
        for name in names.split(", "):
            texts[name] = f"{texts[name]}, {text}" if name in texts else text
    return {name: value(text) for name, text in texts.items()}


def groups(text: str) -> tuple[tuple[str, ...], ...]:
    """Read groups of words, by commas."""
    return tuple(tuple(group.split()) for group in text.split(","))


def pairs(text: str) -> dict[str, str]:
    """Read `word=meaning`, by blanks."""
    return dict(pair.split("=") for pair in text.replace(",", " ").split())
