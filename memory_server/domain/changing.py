"""Decides whether a clause changes a text in passing: it speaks of the same thing, and has another value of a kind.

Both must share rare words. Where a word marks a change, or the old value is denied, the clause is sure to change the
text; where it only says the same with another value, it may speak of another thing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_server.domain import values
from memory_server.domain.values import StatedValue
from memory_server.language import background, query
from memory_server.language.changes import Clause
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.numbers import in_digits
from memory_server.language.text import fold, has_han

RARE = 3.9
"""Nats of shared words from which on two texts speak of one thing: fewer than one of fifty ordinary texts hold it."""

KNOWN = 0.5
"""Share of the words of a Chinese subject, cut at each character, that a text has where it speaks of the same one."""

_FROM_TO = lazy(r"\bfrom\b.*\bto\b|[从由把将].*[到成为至]")
"""What leads from an old value to a new one."""

_INTO = lazy(r"(?:(?<!\d)\s(?:to|into)\s(?:the\s|an?\s|about\s)?|[到成为至]\s?)$")
"""What stands before a value that something now has."""

_NOT = lazy(
    r"(?:\b(?:not|n['’]t|no longer|instead of|rather than|over .{1,40} from|swapped|dropped|replaced)"
    r"|而不是|不是|不叫|不用|不再用?|不走|不在|别写|别用)"
    r"\s*(?:(?:at|on|in|the|an?|my|our|her|his|their)\s)*(?P<old>[\u4e00-\u9fff]{2,6}|[a-z0-9][\w.:'’-]*)"
)
"""What denies a value."""

_OTHER = closed_list(
    r"\b(?:other|another|else|second|different|last\syear|previous|former|next\sdoor|used\sto)\b"
    r"|^(?:另外?[一个]|别[的人家]|其他|隔壁|去年|明年|以前)"
)
"""What says that another thing is spoken of."""

_OTHERS = closed_list(
    r"\b(?:neighbou?rs?|friends?|mates?|flatmates?|roommates?|cousins?|competitors?)\b|\bnew\s(?:client|customer|patient|student|guest)\b"
    r"|师[兄弟姐妹]|室友|同学|同事|朋友|邻居|对面|别家|同行"
)
"""Somebody else: what a clause says of them changes nothing of a text in which they are not."""

_PRONOUN = closed_list(r"^(?:it|he|she|they|its|hes|shes|(?:it|s?he)['’]s)\b|^[他她它]")

_FINITE = closed_list(
    r"\b(?:is|are|was|were|has|have|had|['’]s|['’]re|gets?|got|goes?|takes?|took|comes?|came|starts?|asks?|costs?|runs?|needs?"
    r"|listens?|lasts?|seats?|made|makes?|gives?|gave)\b|[是有在要叫用卖]"
)
"""The verb behind the subject."""

_ENDING = lazy(r"(?:['’]s|ie[sd]|e[sd]|ing|[sey])$")

_MEASURE = closed_list(
    r"^(?:euros?|dollars?|percent|minutes?|hours?|seconds?|days?|weeks?|months?|years?|times|grams?|words?"
    r"|小\s时|分\s钟|毫\s克|公\s斤)$"
)
"""Units of anything: they say nothing of what is counted."""


@dataclass(frozen=True, slots=True)
class PassingChange:
    """A change of a text by a clause: the old values, none where they cannot be told.

    `is_sure`: the clause says that it changes. `weight`: nats of the words that tell what it speaks of.
    """

    values: tuple[str, ...]
    is_sure: bool
    weight: float


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text with its numbers in digits, its values and its words."""

    plain: str
    folded: str
    values: tuple[StatedValue, ...]
    terms: tuple[str, ...]
    stems: frozenset[str]

    def has(self, term: str) -> bool:
        return _stem(query.uncontracted(term)) in self.stems

    def states(self, value: str) -> bool:
        if has_han(value[-1]):
            return re.search(rf"(?<![0-9a-z]){re.escape(value)}", self.folded) is not None
        return re.search(rf"(?<![0-9a-z]){re.escape(value)}s?(?![0-9a-z])", self.folded) is not None


@lru_cache(maxsize=500)
def read(text: str) -> ReadText:
    plain = in_digits(text)
    terms = [
        part
        for term in query.parse(plain).terms
        for part in dict.fromkeys([term, *re.split(r"[-_/]", term)])
        if len(part) > 1
    ]
    stems = frozenset(_stem(query.uncontracted(term)) for term in terms)
    return ReadText(plain, fold(plain), tuple(values.read(plain)), tuple(terms), stems)


def may_change(clause: Clause) -> bool:
    """True if a clause has a value, or a word that marks a change: others change nothing."""
    return clause.changes or bool(read(clause.text).values)


def changed(clause: Clause, prompt: str, written: str) -> PassingChange | None:
    """Return what a clause of a prompt changes of a text; None where it changes nothing."""
    spoken, text = read(clause.text), read(written)
    stranger = _OTHERS.search(spoken.plain)
    if _OTHER.search(spoken.plain) or (stranger and stranger[0] not in text.plain):
        return None
    fresh = [value for value in spoken.values if not text.states(value.text)]
    weight = _shared(spoken, text)
    if (fresh or clause.changes) and (denied := _denied(spoken, text)):
        is_named = any(value.names and value.text == denied for value in text.values)
        if fresh or weight >= RARE:
            return PassingChange((denied,), weight >= RARE or is_named, weight)
    if clause.ends and (name := _ended(spoken, text)):
        return PassingChange((name,), True, weight)
    pairs = [(new, old) for new in fresh for old in text.values if values.alike(new, old)]
    both = [pair for pair in pairs if spoken.states(pair[1].text)]
    is_step = bool(both) and _FROM_TO.search(spoken.plain) is not None
    if both and (is_step or (clause.changes and weight >= RARE)):
        return PassingChange(_replaced(both), True, weight)
    if pairs:
        return _of_pairs(clause, spoken, text, pairs, weight, prompt)
    if weight >= RARE and (clause.renews or (clause.changes and _shares_several(spoken, text))):
        return PassingChange((), False, weight)
    return None


def _of_pairs(
    clause: Clause,
    spoken: ReadText,
    text: ReadText,
    pairs: Sequence[tuple[StatedValue, StatedValue]],
    weight: float,
    prompt: str,
) -> PassingChange | None:
    """Return the change of a clause that has other values of the kinds that a text has."""
    is_marked = clause.changes or any(_follows_into(value, spoken) for value, _ in pairs)
    if weight >= RARE:
        is_same = is_marked or (
            len({value for value, _ in pairs}) == 1 and _says_it_otherwise(pairs, spoken, text)
        )
        return PassingChange(_replaced(pairs), is_marked, weight) if is_same else None
    is_of_it = is_marked and _PRONOUN.search(spoken.plain) and _shared(read(prompt), text) >= RARE
    if is_of_it and len({value for _, value in pairs}) == 1:
        return PassingChange((pairs[0][1].text,), True, weight)
    return None


def _ended(spoken: ReadText, text: ReadText) -> str | None:
    """Return what a clause says is no more: a name of the text, or what a Chinese clause begins with."""
    named = (value.text for value in text.values if value.names and spoken.states(value.text))
    sizes = range(min(8, len(spoken.plain)), 1, -1) if has_han(spoken.plain[:2]) else ()
    beginnings = (spoken.plain[:size] for size in sizes if spoken.plain[:size] in text.plain)
    return next(named, None) or next(beginnings, None)


def _denied(spoken: ReadText, text: ReadText) -> str | None:
    """Return what a clause says is not so, where the text has it."""
    for match in _NOT.finditer(spoken.folded):
        words = match["old"]
        for size in range(len(words), 1, -1) if has_han(words) else [len(words)]:
            old = words[:size] if has_han(words) or text.states(words) else words.removesuffix("s")
            is_stated = old in text.folded if has_han(old) else text.states(old)
            if is_stated and old not in query.ENGLISH_STOP_WORDS:
                return old
    return None


def _replaced(pairs: Sequence[tuple[StatedValue, StatedValue]]) -> tuple[str, ...]:
    """Return the old values; none where more than one may be meant, unless all are days, which are one value."""
    likely = [(new, old) for new, old in pairs if new.shape == old.shape] or pairs
    olds = tuple(dict.fromkeys(old.text for _, old in likely))
    return olds if len(olds) == 1 or {old.kind for _, old in likely} == {"day"} else ()


def _says_it_otherwise(
    pairs: Sequence[tuple[StatedValue, StatedValue]], spoken: ReadText, text: ReadText
) -> bool:
    """True if the text knows all that is said before the verb of a value; and of a name, has another of its shape."""
    new = pairs[0][0]
    if new.names and not any(new.shape == old.shape for _, old in pairs):
        return False
    before = spoken.plain[: new.start]
    verbs = [verb.start() for verb in _FINITE.finditer(before)]
    if not verbs and not has_han(spoken.plain):
        return False
    terms = [term for term in read(before[: verbs[-1]] if verbs else before).terms if not term.isdigit()]
    shared = sum(map(text.has, terms))
    is_chinese = has_han(spoken.plain)
    return bool(terms) and text.has(terms[0]) and shared >= (KNOWN if is_chinese else 1) * len(terms)


def _follows_into(value: StatedValue, spoken: ReadText) -> bool:
    return _INTO.search(spoken.plain[: value.start]) is not None


def _shared(spoken: ReadText, text: ReadText) -> float:
    """Return the nats of the words that two texts share, but for numbers, days and measures."""
    return sum(map(background.rarity, _shared_terms(spoken, text)))


def _shares_several(spoken: ReadText, text: ReadText) -> bool:
    """True if two texts share more than one word, but for numbers, days and measures."""
    return len({_stem(query.uncontracted(term)) for term in _shared_terms(spoken, text)}) > 1


def _shared_terms(spoken: ReadText, text: ReadText) -> list[str]:
    return [term for term in spoken.terms if text.has(term) and not _is_measure(term)]


def _is_measure(term: str) -> bool:
    return values.is_of_time(term) or _MEASURE.search(term) is not None


@lru_cache(maxsize=2_000)
def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 3 and word.isalpha() else word
