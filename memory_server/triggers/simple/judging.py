"""Evaluates a simple condition, and says why it is true."""

import time

from memory_server.language.text import visible
from memory_server.triggers import FALSE, TRUE, Outcome, Value
from memory_server.triggers.simple.explain import kept, shown, why
from memory_server.triggers.simple.node import Node
from memory_server.triggers.simple.parser import parse
from memory_server.triggers.simple.scene import Scene, TooLong
from memory_server.triggers.simple.values import Undecided, truthy


def judged(trigger: str, scene: Scene, explain: bool) -> Outcome | None:
    """The outcome of a simple condition; None when it must be evaluated as JavaScript."""
    began = time.perf_counter()
    scene.begin()
    try:
        node = parse(trigger)
        if node is None:
            return None
        holds = truthy(node.value(scene))
    except (TooLong, Undecided):
        return None
    if not (holds or explain):
        return Value(holds, FALSE, 0, _since(began))
    reason = _reason(node, scene)
    told = "; ".join((visible(shown(reason)), *dict.fromkeys(scene.notes)))
    return Value(holds, told, 0, _since(began), visible(kept(reason)))


def _reason(node: Node, scene: Scene) -> str:
    notes = scene.notes
    scene.begin()
    try:
        return why(node, scene)
    except (TooLong, Undecided):
        return TRUE
    finally:
        scene.notes = notes


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
