"""Finds in a kept turn what may answer a question: an echo, which only asks or orders, says nothing of it."""

from collections.abc import Iterable

from memory_server.domain.learning import words
from memory_server.language import asking, sentences

BRIEF = 6
"""Most further words of a reply that answers without naming what was asked: a longer one reports on work."""


def by_user(turn: str) -> str:
    """Return the words of the user in the text of a kept turn: up to where the assistant begins."""
    return turn.partition("\nassistant: ")[0].removeprefix("user: ") if turn.startswith("user: ") else ""


def said_of(turn: str, question: str) -> str:
    """Return what the text of a kept turn says of a question; '' where it only repeats it, or says nothing.

    These are the sentences that neither ask nor order and have half of the words that the turn shares with the
    question. Else it is the whole turn, where that is brief and its reply does not report on an order.
    """
    user = by_user(turn)
    reply = turn.removeprefix(f"user: {user}").removeprefix("\n").removeprefix("assistant: ")
    prompts = sentences.split(user)
    orders = list(filter(asking.orders, prompts))
    requested = _words([*orders, *filter(asking.asks, prompts)])
    by_person = [prompt for prompt in prompts if not asking.orders(prompt) and not asking.asks(prompt)]
    statements = [*by_person, *filter(asking.states, sentences.split(reply))]
    new = _words(statements) - requested
    if not new:
        return ""
    shared = words(question) & words(turn)
    telling = [sentence for sentence in statements if words(sentence) & shared] if shared else statements
    if 2 * len(_words(telling) & shared) >= len(shared):
        return " ".join(telling)
    reports = bool(orders) and not by_person
    return turn if not reports and len(new) <= BRIEF else ""


def covers(text: str, question: str) -> bool:
    """True if a text has half of the words of a question."""
    question_words = words(question)
    return 2 * len(question_words & words(text)) >= len(question_words)


def may_replace(text: str, statement: str, question: str) -> bool:
    """True if a text may say anew what a statement says of a question.

    It has half of the words of the question that the statement has, or none of them: it is in another language.
    """
    question_words = words(question)
    shared = question_words & words(text)
    return not shared or 2 * len(shared) >= len(question_words & words(statement))


def _words(texts: Iterable[str]) -> frozenset[str]:
    return words("\n".join(texts))
