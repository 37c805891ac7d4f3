"""Rules in plain words of English and Chinese: what a sentence forbids as a condition on acts, with examples."""

import re
from dataclasses import dataclass
from typing import Final

from memory_server.domain import chinese_rules, english_rules, stated
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.stated import Unread

NAME: Final = 60
"""Characters of a rule's name, which is the begin of its text."""

LONGEST: Final = 300
"""Characters of a sentence that is read."""


@dataclass(frozen=True, slots=True)
class PlainRule:
    """A rule that a sentence states."""

    name: str
    reason: str
    trigger: str
    draft: RuleDraft


def read(text: str) -> PlainRule | None:
    """Read a sentence; None where it states no rule, or more than is understood."""
    try:
        return _read(text)
    except Unread:
        return None


def not_understood(text: str) -> str:
    """Return the words for which a sentence states no rule; '' where it forbids nothing."""
    try:
        _read(text)
    except Unread as error:
        return error.words
    return ""


def of_words(text: str) -> PlainRule | None:
    """Return the first rule that one of the first 20 sentences of a text states."""
    for sentence in re.split(r"(?<=[.!])\s+|(?<=[。！])\s*|\n", text)[:20]:
        if (rule := read(sentence)) is not None:
            return rule
    return None


def _read(text: str) -> PlainRule:
    sentence = " ".join(text.split())
    if not sentence or len(sentence) > LONGEST or sentence.endswith(("?", "？")):
        raise Unread
    is_chinese = chinese_rules.is_chinese(sentence)
    rule = chinese_rules.read(sentence) if is_chinese else english_rules.read(sentence)
    trigger, holds, passes = stated.condition(rule.acts)
    draft = RuleDraft(Effect.ASK if rule.asks else Effect.DENY, holds, passes)
    return PlainRule(sentence.rstrip(".!。！")[:NAME].strip(), sentence, trigger, draft)
