"""Reads that do not need each other's answers, so that a database that is far away is waited for once."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")


class Together(Protocol):
    """Takes two to five reads, and gives what each of them gives."""

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
    """The results of the calls, one after the other: for a database that answers at once."""
    return tuple(call() for call in calls)
