"""Runs reads that do not need each other's answers, so that a distant database is waited for once."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")


class Together(Protocol):
    """Takes two to five reads, and returns their results in the same order."""

    @overload
    def __call__(self, a: Callable[[], A], b: Callable[[], B], /) -> tuple[A, B]: ...

    @overload
    def __call__(self, a: Callable[[], A], b: Callable[[], B], c: Callable[[], C], /) -> tuple[A, B, C]: ...

    @overload
    def __call__(
        self, a: Callable[[], A], b: Callable[[], B], c: Callable[[], C], d: Callable[[], D], /
    ) -> tuple[A, B, C, D]: ...

    @overload
    def __call__(
        self,
        a: Callable[[], A],
        b: Callable[[], B],
        c: Callable[[], C],
        d: Callable[[], D],
        e: Callable[[], E],
        /,
    ) -> tuple[A, B, C, D, E]: ...


def in_turn(*calls: Callable[[], Any]) -> Any:
    """Run the calls one after the other and return their results: for a database that answers at once."""
    return tuple(call() for call in calls)
