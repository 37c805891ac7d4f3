"""The trigger engine has two tiers: Python evaluates simple conditions, the JavaScript worker everything else."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from memory_server.call import deadline
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import MOST_BYTES, Checked, Failure, Outcome, Skipped, Value, mistakes, size
from memory_server.triggers.hints import hinted
from memory_server.triggers.javascript.parts import parts_of
from memory_server.triggers.javascript.trial import SAMPLE, UNLESS_EMPTY
from memory_server.triggers.mistakes import no_day
from memory_server.triggers.simple.advice import warnings
from memory_server.triggers.simple.judging import judged
from memory_server.triggers.simple.node import Node, walk
from memory_server.triggers.simple.parser import parse
from memory_server.triggers.simple.scene import Nearness, Scene, TooLong
from memory_server.triggers.simple.tree import Similar
from memory_server.triggers.simple.values import Undecided, truthy

BUDGET = 2.0
"""Seconds that all JavaScript of one search may take together; the remaining triggers are skipped. A choice:
the caller waits for the answer."""

SIMPLE_BUDGET = 1.0
"""Seconds of processor time after which one search skips its remaining simple conditions. Normally never reached: a
thousand simple conditions take about 0.03 s. It is also the time that they may wait together."""

MOST_EXPLAINED = 10
"""Triggers in JavaScript of one search whose parts are evaluated, to say why they are true: each takes 1 ms."""

EXPLAINING = 0.3
"""Seconds for that."""

_NO_CODE = re.compile(
    r"//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\\n\r]|\\.)*'?|\"(?:[^\"\\\n\r]|\\.)*\"?|`(?:[^`\\]|\\.)*`?",
    re.DOTALL,
)
"""Comments and string literals. One that is never closed extends to the end of the source: otherwise the search would
retry at every quotation mark, which takes quadratic time."""

_SIMILAR = re.compile(r"(?<![\w$.])(?<!function )similar\s*\(")
"""A call of the function `similar`, not of a method and not its definition."""


class JavaScript(Protocol):
    """What the engine needs of the worker; `sandbox.Sandbox` implements it."""

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]: ...

    def explain(
        self, sources: Sequence[tuple[int, str]], situation: Situation, budget: float
    ) -> list[str]: ...

    def run(
        self, sources: Sequence[str], situation: Situation, budget: float, doubtful: int
    ) -> list[Outcome]: ...

    def close(self) -> None: ...


class TwoTierEngine:
    """Evaluates simple conditions itself and passes other triggers to the worker. Safe to call from several threads."""

    def __init__(self, sandbox: JavaScript, nearness: Nearness) -> None:
        self._sandbox = sandbox
        self._nearness = nearness

    def check(self, trigger: str) -> Checked:
        """Compile and evaluate a trigger: its tier, its value on a sample conversation, and warnings for its author.

        Raises:
            TriggerRejected: it does not compile, or returns no value.
            Unavailable: it needs JavaScript and the worker cannot run.
        """
        if size(trigger) > MOST_BYTES:
            raise TriggerRejected(f"The trigger has {size(trigger)} bytes; the maximum is {MOST_BYTES}.")
        if not trigger.strip():
            raise TriggerRejected(
                "The trigger is empty. For a memory that every search returns, write `true`."
            )
        found = mistakes.warnings(trigger)
        checked = self._checked(trigger)
        texts = self._on_no_day(trigger)
        return replace(checked, warnings=tuple(dict.fromkeys((*checked.warnings, *found, *texts))))

    def judge(self, triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        """The outcome of each, in the same order. Simple conditions run first, then JavaScript within its budget."""
        scene = Scene(situation, self._nearness)
        ends = time.thread_time() + deadline.left(SIMPLE_BUDGET)
        # A single trigger is being tested, so a false one is explained too; of many, only the true ones are.
        explain = len(triggers) == 1
        with deadline.within(SIMPLE_BUDGET):  # an endpoint may embed the texts of `similar`
            outcomes = [
                judged(trigger, scene, explain) if time.thread_time() < ends else Skipped()
                for trigger in triggers
            ]
        others = [index for index, outcome in enumerate(outcomes) if outcome is None]
        if others:
            last = sum(index >= len(triggers) - doubtful for index in others)
            budget = deadline.left(BUDGET)
            found = self._sandbox.run([triggers[index] for index in others], situation, budget, last)
            explained = self._explained(list(zip(others, found, strict=True)), triggers, situation, explain)
            for index, outcome in zip(others, found, strict=True):
                outcomes[index] = explained.get(index, outcome)
        return [outcome for outcome in outcomes if outcome is not None]

    def similarity(self, trigger: str, situation: Situation) -> float | None:
        """The highest similarity of a recent message to the text of the trigger's first `similar`."""
        node = parse(trigger)
        found = [] if node is None else [each for each in walk(node) if isinstance(each, Similar)]
        return Scene(situation, self._nearness).nearness(found[0].text) if found else None

    def parts(self, trigger: str) -> list[tuple[str, str]]:
        """The parts of a trigger between its outermost `&&` and `||`: each as written, and as a trigger of its own."""
        found = parts_of(trigger)
        return list(zip(found.sources, map(str.strip, found.scripts()), strict=True))

    def _explained(
        self,
        found: Sequence[tuple[int, Outcome]],
        triggers: Sequence[str],
        situation: Situation,
        explain: bool,
    ) -> dict[int, Outcome]:
        """The values of JavaScript with those of its parts, for the first that are true; for a single one always."""
        values = {
            place: (index, outcome)
            for place, (index, outcome) in enumerate(found)
            if isinstance(outcome, Value) and (outcome.holds or explain)
        }
        asked = dict(list(values.items())[:MOST_EXPLAINED])
        if not asked:
            return {}
        sources = [(place, triggers[index]) for place, (index, _) in asked.items()]
        texts = self._sandbox.explain(sources, situation, deadline.left(EXPLAINING))
        return {
            index: replace(outcome, why=text)
            for (index, outcome), text in zip(asked.values(), texts, strict=True)
            if text
        }

    def close(self) -> None:
        """End the worker."""
        self._sandbox.close()

    def _on_no_day(self, trigger: str) -> list[str]:
        """Warnings of texts that a date never has."""
        compared, constants = no_day.comparisons(trigger)
        scripts = [comparison.script(constants) for comparison in compared]
        outcomes = self._sandbox.run(scripts, SAMPLE, BUDGET, 0) if scripts else []
        told = [
            comparison.warning(outcome.message)
            for comparison, outcome in zip(compared, outcomes, strict=True)
            if isinstance(outcome, Failure)
        ]
        return [warning for warning in told if warning]

    def _checked(self, trigger: str) -> Checked:
        node = parse(trigger)
        if node is not None:
            return self._check_simple(trigger, node)
        if _SIMILAR.search(_NO_CODE.sub("''", trigger)):
            raise TriggerRejected(
                "similar(messages, 'text', threshold) takes messages, one string literal and a number. It works only "
                "in simple conditions: alone, or combined by && || ! and comparisons with match_keys, dates and the "
                "like, without other JavaScript."
            )
        return self._check_script(trigger)

    def _check_script(self, trigger: str) -> Checked:
        try:
            return Checked(1, *self._sandbox.check(trigger))
        except TriggerRejected as refused:
            raise TriggerRejected(hinted(str(refused), trigger)) from refused

    def _check_simple(self, trigger: str, node: Node) -> Checked:
        scene = Scene(SAMPLE, self._nearness)
        try:
            with deadline.within(SIMPLE_BUDGET):
                holds = truthy(node.value(scene))
        except (TooLong, Undecided):
            return self._check_script(trigger)
        return Checked(0, holds, (*warnings(node), *self._when_empty(node), *scene.notes))

    def _when_empty(self, node: Node) -> list[str]:
        """A warning if the condition asks for a message where there may be none."""
        scene = Scene(replace(SAMPLE, messages=()), self._nearness)
        try:
            node.value(scene)
        except TooLong:
            return []
        except Undecided:
            return [f"It fails when there are no messages. {UNLESS_EMPTY}"]
        return []
