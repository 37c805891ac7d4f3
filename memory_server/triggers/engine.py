"""The engine of triggers in two tiers: simple conditions in Python, all else in the JavaScript worker."""

import re
import time
from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.language.text import visible
from memory_server.triggers import MOST_BYTES, Checked, Failure, FailureKind, Outcome, Skipped, Value, size
from memory_server.triggers.hints import JSON_EXAMPLE, hinted
from memory_server.triggers.javascript.trial import SAMPLE
from memory_server.triggers.simple.advice import warnings
from memory_server.triggers.simple.explain import HOLDS, HOLDS_NOT, why
from memory_server.triggers.simple.json_form import is_json, parse_json
from memory_server.triggers.simple.parser import parse
from memory_server.triggers.simple.scene import Nearness, Scene, TooLong
from memory_server.triggers.simple.tree import Node
from memory_server.triggers.simple.values import Undecided, truthy

BUDGET = 2.0
"""Seconds that the JavaScript of one search may take."""

SIMPLE_BUDGET = 1.0
"""Seconds after which simple conditions are skipped too: a guard, since a thousand of them take a thirtieth of one."""

_NO_CODE = re.compile(
    r"//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\\n\r]|\\.)*'?|\"(?:[^\"\\\n\r]|\\.)*\"?|`(?:[^`\\]|\\.)*`?",
    re.DOTALL,
)
"""What is never closed ends with the source: to try each quotation mark in vain would take quadratic time."""

_SIMILAR = re.compile(r"(?<![\w$.])(?<!function )similar\s*\(")


class JavaScript(Protocol):
    """The worker, as far as it is needed here; `sandbox.Sandbox` is the one."""

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]: ...

    def run(self, sources: Sequence[str], situation: Situation, budget: float) -> list[Outcome]: ...

    def close(self) -> None: ...


class TwoTierEngine:
    """Judges simple conditions by itself and hands everything else to the worker. Safe to call from several threads."""

    def __init__(self, sandbox: JavaScript, nearness: Nearness) -> None:
        self._sandbox = sandbox
        self._nearness = nearness

    def check(self, trigger: str) -> Checked:
        """Its tier, its value on a sample conversation, and what its author should know.

        Raises:
            TriggerRejected: it does not compile, or gives no value.
            Unavailable: it needs JavaScript and there is no worker.
        """
        if size(trigger) > MOST_BYTES:
            raise TriggerRejected(f"The trigger has {size(trigger)} bytes; {MOST_BYTES} are the most.")
        if not trigger.strip():
            raise TriggerRejected("The trigger is empty. For a memory that always counts write `true`.")
        try:
            node = tree_of(trigger)
        except TriggerRejected as refused:
            raise TriggerRejected(f"{refused} For example: {JSON_EXAMPLE}") from refused
        if node is not None:
            return self._check_simple(trigger, node)
        if _SIMILAR.search(_NO_CODE.sub("''", trigger)):
            raise TriggerRejected(
                "similar(messages, 'text', threshold) takes messages, one text and a number, and works only in "
                "simple conditions: alone or joined with match_keys, dates and the like by && || ! and comparisons, "
                "without other JavaScript."
            )
        return self._check_script(trigger)

    def judge(self, triggers: Sequence[str], situation: Situation) -> list[Outcome]:
        """The outcome of each, in their order; simple conditions first, then JavaScript within its budget."""
        scene = Scene(situation, self._nearness)
        ends = time.monotonic() + SIMPLE_BUDGET
        # Of many only those that hold are explained; of one that is tried out, also why it does not.
        explain = len(triggers) == 1
        outcomes = [
            _simple(trigger, scene, explain) if time.monotonic() < ends else Skipped() for trigger in triggers
        ]
        others = [place for place, outcome in enumerate(outcomes) if outcome is None]
        if others:
            found = self._sandbox.run([triggers[place] for place in others], situation, BUDGET)
            for place, outcome in zip(others, found, strict=True):
                outcomes[place] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def close(self) -> None:
        """End the worker."""
        self._sandbox.close()

    def _check_script(self, trigger: str) -> Checked:
        try:
            return Checked(1, *self._sandbox.check(trigger))
        except TriggerRejected as refused:
            raise TriggerRejected(hinted(str(refused), trigger)) from refused

    def _check_simple(self, trigger: str, node: Node) -> Checked:
        scene = Scene(SAMPLE, self._nearness)
        try:
            holds = truthy(node.value(scene))
        except (TooLong, Undecided):
            if is_json(trigger):
                raise TriggerRejected("The condition cannot be decided on a sample conversation.") from None
            return self._check_script(trigger)
        return Checked(0, holds, (*warnings(node), *scene.notes))


def tree_of(trigger: str) -> Node | None:
    """The tree of a simple condition, in either form; None when it is JavaScript.

    Raises:
        TriggerRejected: it is meant as JSON, and something is wrong with it.
    """
    return parse_json(trigger) if is_json(trigger) else parse(trigger)


def _simple(trigger: str, scene: Scene, explain: bool) -> Outcome | None:
    """The outcome of a simple condition; None when only JavaScript can tell."""
    began = time.perf_counter()
    scene.begin()
    try:
        node = tree_of(trigger)
        if node is None:
            return None
        holds = truthy(node.value(scene))
    except TriggerRejected as error:
        return Failure(FailureKind.ERROR, visible(str(error)), 0, _since(began))
    except (TooLong, Undecided) as error:
        if not is_json(trigger):
            return None
        return Failure(FailureKind.TIMEOUT, f"It cannot be decided here: {error}.", 0, _since(began))
    reason = _reason(node, scene) if holds or explain else HOLDS_NOT
    return Value(holds, "; ".join((reason, *dict.fromkeys(scene.notes))), 0, _since(began))


def _reason(node: Node, scene: Scene) -> str:
    notes = scene.notes
    scene.begin()
    try:
        return visible(why(node, scene))
    except (TooLong, Undecided):
        return HOLDS
    finally:
        scene.notes = notes


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
