"""The states that a database may have, and the change that a command makes."""

from collections.abc import Callable
from dataclasses import dataclass

from torture.ledger import GONE, Item, Seen, State

Book = dict[str, frozenset[State]]
"""Of each word the states that it may have."""

Change = Callable[[Book], Book]


@dataclass(slots=True)
class Step:
    """A command, and what it makes of a book. `whole`: it does all or nothing. `after` looks at what it has made."""

    arguments: list[str]
    change: Change = lambda book: book
    whole: bool = True
    after: Callable[[], None] = lambda: None


def becomes(items: list[Item], state: State | None = None) -> Change:
    """Gives these items a state; None is their text."""
    return lambda book: {**book, **{item.word: frozenset({state or item.version}) for item in items}}


def differences(book: Book, stored: Seen) -> list[str]:
    """Says what a database holds that the book does not allow, and what it lacks, a line each."""
    wrong = [
        f"{word} is {stored.get(word, (GONE, 0))[0]}, not {' or '.join(sorted(states))}"
        for word, states in book.items()
        if stored.get(word, (GONE, 0))[0] not in states
    ]
    return [*wrong, *(f"{word} was never written" for word in stored if word not in book)]
