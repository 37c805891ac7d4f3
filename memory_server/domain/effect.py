"""The effect of a rule before an act that it holds, and the examples on which it is tried."""

from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """The effects of rules, the mildest first."""

    SAY = "say"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """`holds` are acts that a rule must hold, `passes` others that it must let pass."""

    effect: Effect
    holds: tuple[str, ...]
    passes: tuple[str, ...]
