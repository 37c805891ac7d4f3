"""Rules: long-term memories whose trigger reads an act before it happens: they say something, ask, or deny it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory_server.domain.effect import Effect
from memory_server.domain.long_term import LongTermId

MOST_SAID: Final = 300
"""Characters of a reason that are said."""

MOST_LOGGED: Final = 300
"""Characters of an act that the log keeps."""

_READS_ACT: Final = re.compile(r"(?<![\w.$'\"])act\b(?!['\"])")
_CALL: Final = re.compile(
    r"(runs|touches|reads)\(\s*act\s*,\s*((?:'[^']*'|\"[^\"]*\")(?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))*)\s*\)"
)
_TEXT: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_IN_WORDS: Final = {
    "runs": "a command that runs {}",
    "touches": "an act that writes, moves or deletes {}",
    "reads": "an act that reads {}",
}


_ORDER: Final = tuple(Effect)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its memory. `reason` is what is said. Until it is confirmed, it only says."""

    id: LongTermId
    name: str
    reason: str
    trigger: str
    effect: Effect
    holds: tuple[str, ...]
    passes: tuple[str, ...]
    confirmed_at: str | None
    off: bool
    origin: str

    @property
    def present(self) -> Effect:
        """The effect that it has now."""
        return self.effect if self.confirmed_at else Effect.SAY

    @property
    def state(self) -> str:
        """`off`, `on`, or `unconfirmed`."""
        if self.off:
            return "off"
        return "on" if self.confirmed_at else "unconfirmed"


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """The acts that a rule held: their number, the last moment, and the number of those that ran all the same."""

    hits: int = 0
    overruled: int = 0
    last: str | None = None


@dataclass(frozen=True, slots=True)
class RuleHit:
    """An act that a rule held."""

    at: str
    name: str
    effect: Effect
    act: str
    client: str | None
    session: str | None
    overruled_at: str | None


@dataclass(frozen=True, slots=True)
class HeldAct:
    """A rule that holds an act, and why: what of the act it found. `doubted`: only the run would show it.

    `failed` says why the rule could not be judged.
    """

    rule: Rule
    why: str
    doubted: bool = False
    failed: str = ""

    @property
    def effect(self) -> Effect:
        """The effect on this act: in doubt a person is asked, and nothing is denied."""
        in_doubt = self.doubted or self.failed
        return min(self.rule.present, Effect.ASK, key=_ORDER.index) if in_doubt else self.rule.present


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer of the rules to an act; None: they say nothing."""

    effect: Effect | None = None
    text: str = ""


def reads_act(trigger: str) -> bool:
    """Return True for a trigger that looks at an act."""
    return _READS_ACT.search(trigger) is not None


def ruling(holding: Sequence[HeldAct]) -> Ruling:
    """Return the strongest effect of the rules that hold an act, with the reasons of all of them."""
    spoken = [item for item in holding if not (item.failed and item.effect is Effect.SAY)]
    if not spoken:
        return Ruling()
    strongest = max((item.effect for item in spoken), key=_ORDER.index)
    return Ruling(strongest, "\n".join(map(_line, spoken)))


def _line(hit: HeldAct) -> str:
    """Say which rule holds an act, by what of it, and the reason, unless the name is all of it."""
    rule = hit.rule
    if hit.why and not hit.failed and rule.reason == rule.name:
        if rule.confirmed_at:
            return f"Rule `{rule.name}` ({hit.why})"
        return f"Rule `{rule.name}` (not confirmed by the user, {hit.why})"
    reason = " ".join(rule.reason.split())
    reason = reason if len(reason) <= MOST_SAID else f"{reason[: MOST_SAID - 1]}…"
    if hit.failed:
        return f"The rule `{rule.name}` could not be judged ({hit.failed}): {reason}"
    if rule.confirmed_at:
        return f"Rule `{rule.name}` ({hit.why}): {reason}" if hit.why else f"Rule `{rule.name}`: {reason}"
    if hit.why:
        return f"Rule `{rule.name}` (not confirmed by the user, {hit.why}): {reason}"
    return f"Rule `{rule.name}` (not confirmed by the user): {reason}"


def in_words(parts: Sequence[str]) -> str:
    """Word a trigger, of the parts between its outermost `||`: `a command that runs git push main`; else as it is."""
    return ", or ".join(map(_part_in_words, parts))


def _part_in_words(part: str) -> str:
    match = _CALL.fullmatch(part.strip())
    if match is None:
        return f"an act for which {part.strip()}"
    texts = [f"`{single or double}`" for single, double in _TEXT.findall(match.group(2))]
    return _IN_WORDS[match.group(1)].format(" or ".join(texts))
