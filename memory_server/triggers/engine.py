"""The trigger engine: JavaScript in a worker, what it asks of the server, and why a trigger is true."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memory_server.call import deadline
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import (
    MOST_BYTES,
    Checked,
    Failure,
    FailureKind,
    Outcome,
    Value,
    mistakes,
    size,
)
from memory_server.triggers.hints import hinted
from memory_server.triggers.javascript import reasons
from memory_server.triggers.javascript.parts import calls_of, parts_of
from memory_server.triggers.javascript.replies import Evaluation, Nearnesses
from memory_server.triggers.javascript.sandbox import NoEngine, Sandbox
from memory_server.triggers.javascript.trial import SAMPLE
from memory_server.triggers.mistakes import no_day

BUDGET = 2.0
"""Seconds that all triggers of one search may take together; the remaining ones are skipped. A choice: the caller waits
for the answer."""

MEANING_SECONDS = 1.0
"""Seconds in which an endpoint may embed the texts of `similar`."""

MOST_ROUNDS = 16
"""How many times a trigger may ask how similar texts are; each time it asks for eight at most."""

MOST_EXPLAINED = 10
"""Triggers of one search whose parts are evaluated, to say why they are true: each takes 0.3 ms. The others tell
what match_keys found."""

EXPLAINING = 0.3
"""Seconds for that."""

NO_EMBEDDER = "similar() is false because there is no embedder"

Nearness = Callable[[str, str], float | None]
"""The similarity (cosine) of a message and a wanted text; None without an embedder."""


@dataclass(slots=True)
class _Meaning:
    """The questions about the meaning of one situation's messages, with their answers."""

    situation: Situation
    nearness: Nearness
    answers: dict[str, float | None] = field(default_factory=dict)
    asks: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The asks of each trigger, by its place in the search."""

    def answer(self, place: int, asks: Sequence[str]) -> None:
        self.asks[place] = (*self.asks.get(place, ()), *asks)
        for ask in asks:
            if ask not in self.answers:
                self.answers[ask] = self._nearest(*json.loads(ask))

    def of(self, place: int) -> Nearnesses:
        return {ask: self.answers[ask] for ask in self.asks.get(place, ())}

    def note(self, place: int) -> str:
        return NO_EMBEDDER if None in self.of(place).values() else ""

    def _nearest(self, text: str, *compared: int | str) -> float | None:
        contents = [
            place if isinstance(place, str) else self.situation.messages[place].content for place in compared
        ]
        nearnesses = [self.nearness(content, text) for content in contents]
        return max((near for near in nearnesses if near is not None), default=None)


class Engine:
    """Evaluates triggers in a worker: see `triggers.TriggerEngine`."""

    def __init__(self, sandbox: Sandbox, nearness: Nearness) -> None:
        self._sandbox = sandbox
        self._nearness = nearness

    def check(self, trigger: str) -> Checked:
        if size(trigger) > MOST_BYTES:
            raise TriggerRejected(f"The trigger has {size(trigger)} bytes; the maximum is {MOST_BYTES}.")
        if not trigger.strip():
            raise TriggerRejected(
                "The trigger is empty. For a memory that every search returns, write `true`."
            )
        warnings = mistakes.warnings(trigger)
        try:
            holds, of_runs = self._sandbox.check(trigger)
        except TriggerRejected as refused:
            raise TriggerRejected(hinted(str(refused), trigger)) from refused
        except NoEngine as error:
            return Checked(False, (*warnings, f"It was not checked and cannot wake here: {error}."))
        notes: tuple[str, ...] = ()
        if calls_of(trigger, "similar"):
            (outcome,), meaning = self._judged([trigger], SAMPLE, 0)
            holds = isinstance(outcome, Value) and outcome.holds
            notes = tuple(filter(None, [meaning.note(0)]))
        texts = self._on_no_day(trigger)
        return Checked(holds, tuple(dict.fromkeys((*warnings, *of_runs, *texts, *notes))))

    def judge(self, triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        """The outcome of each, in the same order; the true ones are explained, and one that is judged alone."""
        begin = time.monotonic()
        try:
            return self._explained(triggers, situation, doubtful)
        finally:
            self._sandbox.effort.add(evaluated=len(triggers), seconds=time.monotonic() - begin)

    def _explained(self, triggers: Sequence[str], situation: Situation, doubtful: int) -> list[Outcome]:
        outcomes, meaning = self._judged(triggers, situation, doubtful)
        values = [
            (place, outcome)
            for place, outcome in enumerate(outcomes)
            if isinstance(outcome, Value) and (outcome.holds or len(triggers) == 1)
        ][:MOST_EXPLAINED]
        if not values:
            return outcomes
        explained = self._sandbox.explain(
            [(triggers[place], value.holds, meaning.of(place)) for place, value in values],
            situation,
            deadline.left(EXPLAINING),
        )
        for (place, value), text in zip(values, explained, strict=True):
            outcomes[place] = _explained(value, text, meaning.note(place))
        return outcomes

    def similarity(self, trigger: str, situation: Situation) -> float | None:
        calls = calls_of(trigger, "similar")
        if not calls:
            return None
        _, meaning = self._judged(calls[:1], situation, 0)
        return next(iter(meaning.answers.values()), None)

    def parts(self, trigger: str) -> list[tuple[str, str]]:
        parts = parts_of(trigger)
        return list(zip(parts.sources, map(str.strip, parts.scripts()), strict=True))

    def close(self) -> None:
        self._sandbox.close()

    def _judged(
        self, triggers: Sequence[str], situation: Situation, doubtful: int
    ) -> tuple[list[Outcome], _Meaning]:
        """The outcomes without explanations. What asks for meanings runs again with the answers."""
        meaning = _Meaning(situation, self._nearness)
        if not triggers:
            return [], meaning
        ends = time.monotonic() + deadline.left(BUDGET)
        outcomes = self._sandbox.run(triggers, situation, ends - time.monotonic(), doubtful)
        answered_by = time.monotonic() + MEANING_SECONDS
        for _ in range(MOST_ROUNDS):
            asking = {
                place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Evaluation)
            }
            if not asking:
                break
            with deadline.within(max(0.0, answered_by - time.monotonic())):
                for place, ask in asking.items():
                    meaning.answer(place, ask.asks)
            again = self._sandbox.run(
                [triggers[place] for place in asking],
                situation,
                max(0.0, ends - time.monotonic()),
                0,
                [meaning.of(place) for place in asking],
            )
            for place, outcome in zip(asking, again, strict=True):
                outcomes[place] = outcome
        return [_settled(outcome) for outcome in outcomes], meaning

    def _on_no_day(self, trigger: str) -> list[str]:
        """Warnings of texts that a date never has."""
        compared, constants = no_day.comparisons(trigger)
        scripts = [comparison.script(constants) for comparison in compared]
        outcomes = self._sandbox.run(scripts, SAMPLE, BUDGET) if scripts else []
        warnings = [
            comparison.warning(outcome.message)
            for comparison, outcome in zip(compared, outcomes, strict=True)
            if isinstance(outcome, Failure)
        ]
        return [warning for warning in warnings if warning]


def _settled(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Evaluation):
        many = "it asks for the similarity of too many texts"
        return Failure(FailureKind.ERROR, many, outcome.milliseconds)
    return outcome


def _explained(value: Value, text: str, note: str) -> Value:
    """A value with its reasons, in which marks stand around what was said."""
    if text:
        value = replace(value, why=reasons.shown(text), kept=reasons.kept(text))
    return replace(value, why="; ".join(filter(None, [value.why, note])))
