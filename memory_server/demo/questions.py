"""Asks the questions of a log and counts which found their answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from memory_server.demo import show
from memory_server.demo.client import Server
from memory_server.demo.log import Question

LANGUAGES = {"en": "English", "zh": "Chinese"}
DIRECTIONS = [("en", "en"), ("zh", "zh"), ("zh", "en"), ("en", "zh")]
FIRST = 5
"""An answer counts as found among so many results."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the rank at which its answer was found (None: not among the first), the time in ms."""

    question: Question
    rank: int | None
    took: float


async def ask_all(server: Server, questions: Sequence[Question]) -> list[Asked]:
    """Ask, direction by direction, and show each best answer."""
    directions = dict.fromkeys([*DIRECTIONS, *((each.lang, each.about) for each in questions)])
    asked = []
    for lang, about in directions:
        chosen = [each for each in questions if (each.lang, each.about) == (lang, about)]
        if chosen:
            show.say()
            show.say(f"{_named(lang, about)}:")
        for question in chosen:
            facts, took = await server.search(question.ask, question.project, FIRST)
            rank = _rank(question, facts["results"])
            _show(question, facts, rank, took)
            asked.append(Asked(question, rank, took))
    return asked


def summary(asked: Sequence[Asked], store_ms: Sequence[float]) -> None:
    """The table at the end."""
    show.say(f"{'questions':<36} {'asked':>6} {'found first':>12} {f'in first {FIRST}':>12} {'p50':>9}")
    judged = [each for each in asked if each.question.expect]
    for lang, about in dict.fromkeys((each.question.lang, each.question.about) for each in judged):
        _row(_named(lang, about), [each for each in judged if _direction(each) == (lang, about)])
    if judged:
        _row("all", judged)
    show.say()
    if store_ms:
        show.say(f"storing a memory: p50 {median(store_ms):.1f} ms")
    if asked:
        show.say(f"answering a question: p50 {median(each.took for each in asked):.1f} ms")


def found_share(asked: Sequence[Asked]) -> float:
    """The share of the questions with an expected answer that found it among the first; 1 if there are none."""
    judged = [each for each in asked if each.question.expect]
    return sum(each.rank is not None for each in judged) / len(judged) if judged else 1.0


def _named(lang: str, about: str) -> str:
    if (lang, about) == ("?", "?"):
        return "other questions"
    return f"{LANGUAGES.get(lang, lang)} question, {LANGUAGES.get(about, about)} memory"


def _direction(asked: Asked) -> tuple[str, str]:
    return asked.question.lang, asked.question.about


def _rank(question: Question, results: Sequence[dict[str, Any]]) -> int | None:
    for rank, result in enumerate(results, start=1):
        if any(text in result["content"] for text in question.expect):
            return rank
    return None


def _show(question: Question, facts: dict[str, Any], rank: int | None, took: float) -> None:
    where = f" [{question.project}]" if question.project else ""
    show.say()
    show.one_line("Q  ", question.ask + where)
    if not facts["results"]:
        show.say("A  nothing found")
    else:
        best = facts["results"][0]
        why = best["why"]
        show.one_line("A  ", best["content"])
        show.say(
            f"   score {best['score']:.2f}, from words {why['words']:.2f}, meaning {why['meaning']:.2f}, "
            f"decay {why['decay']:.1f}; {took:.0f} ms; {_verdict(question, rank)}"
        )
    if question.expect and rank != 1:
        show.one_line("   expected: ", _expected(question, facts["results"], rank))
    if facts.get("degraded"):
        show.one_line("   ", facts["degraded"])


def _expected(question: Question, results: Sequence[dict[str, Any]], rank: int | None) -> str:
    return str(results[rank - 1]["content"]) if rank else f"… {question.expect[0]} …"


def _verdict(question: Question, rank: int | None) -> str:
    if not question.expect:
        return "nothing was expected"
    if rank is None:
        return "MISSED"
    return "as expected" if rank == 1 else f"the expected answer is number {rank}"


def _row(name: str, asked: Sequence[Asked]) -> None:
    first = sum(each.rank == 1 for each in asked)
    among = sum(each.rank is not None for each in asked)
    took = median(each.took for each in asked)
    show.say(f"{name:<36} {len(asked):>6} {first:>12} {among:>12} {took:>6.1f} ms")
