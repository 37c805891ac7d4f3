"""Tells a kept turn that answers from an echo: one that only repeats a question, or orders, and adds nothing."""

from collections.abc import Iterable

from memory_server.domain.learning import words
from memory_server.language import asking, sentences


def by_user(turn: str) -> str:
    """Return the words of the user in the text of a kept turn: up to where the assistant begins."""
    return turn.partition("\nassistant: ")[0].removeprefix("user: ") if turn.startswith("user: ") else ""


def is_echo(turn: str, question: str) -> bool:
    """True if the text of a kept turn shares words with a question and does not answer it.

    What the user asks or orders is no answer, and a reply that has no further word adds nothing. A reply to an order
    reports on work: it answers only if it has half of the words that the turn shares with the question.
    """
    user = by_user(turn)
    reply = turn.removeprefix(f"user: {user}").removeprefix("\n").removeprefix("assistant: ")
    prompts = sentences.split(user)
    orders = list(filter(asking.orders, prompts))
    requested = _words([*orders, *filter(asking.asks, prompts)])
    statements = [prompt for prompt in prompts if not asking.orders(prompt) and not asking.asks(prompt)]
    stated = _words([*statements, *filter(asking.states, sentences.split(reply))])
    if stated <= requested:
        return True
    repeated = words(question) & (stated | requested)
    return bool(orders) and not statements and 2 * len(repeated & stated) < len(repeated)


def may_replace(text: str, turn: str, question: str) -> bool:
    """True if a text may say anew what the text of a kept turn says of a question.

    It has half of the words of the question that the turn has, or none of them: it is in another language.
    """
    question_words = words(question)
    shared = question_words & words(text)
    return not shared or 2 * len(shared) >= len(question_words & words(turn))


def _words(texts: Iterable[str]) -> frozenset[str]:
    return words("\n".join(texts))
