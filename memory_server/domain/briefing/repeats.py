"""Finds items of a briefing that say what another one says."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from memory_server.domain.briefing.headings import Item, WordedItem
from memory_server.language import query
from memory_server.language.lazy import lazy
from memory_server.language.text import has_han

SAID_TWICE = 0.9
"""An item so much of whose words another one has said is not said again."""

SAME = 0.75
"""Share of the words of a memory that an older one has, and no others, from which on both word one thing."""

_NUMBER = re.compile(r"\d+")

_DENIAL = lazy(
    r"\b(?:not|no|never|nor|without|unless|only|nicht|nie|kein)|n['’]t\b|[不没無无别勿未非只]", re.IGNORECASE
)

_ORDERS = frozenset("must should shall need needs please always 要 请 应 须 必 都".split())
"""Words of an order that change nothing of it."""


class SaidWords:
    """The words of the sentences so far, so that nothing is said twice."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, list[int]] = defaultdict(list)
        self._count = 0

    def repeats(self, sentence: str) -> bool:
        """True if an earlier sentence had these words; if not, they count as said from now on."""
        terms = _terms(sentence)
        shared = Counter(number for term in terms for number in self._numbers.get(term, ()))
        if len(terms) > 1 and shared and max(shared.values()) >= SAID_TWICE * len(terms):
            return True
        for term in terms:
            self._numbers[term].append(self._count)
        self._count += 1
        return False


def worded_once(candidates: Sequence[WordedItem], leading: int) -> tuple[list[WordedItem], int]:
    """Return the candidates with the newest wording in the place of all memories that word one thing, and how many of
    them lead."""
    groups: list[list[WordedItem]] = []
    by_term: defaultdict[str, list[int]] = defaultdict(list)
    leads = 0
    for place, candidate in enumerate(candidates):
        terms = _terms(candidate.forms[-1]) if _may_repeat(candidate.item) else frozenset[str]()
        shared = Counter(number for term in terms for number in by_term.get(term, ()))
        same = next(
            (number for number, _ in shared.most_common(1) if _is_same(groups[number][0], candidate)), None
        )
        if same is not None:
            groups[same].append(candidate)
            continue
        for term in terms:
            by_term[term].append(len(groups))
        groups.append([candidate])
        leads += place < leading
    return [_newest(group) if len(group) > 1 else group[0] for group in groups], leads


@lru_cache(maxsize=2048)
def _terms(form: str) -> frozenset[str]:
    return frozenset(query.parse(form).terms)


def _may_repeat(item: Item) -> bool:
    return item.memory is not None and item.behind is None and not item.closing


def _is_same(left: WordedItem, right: WordedItem) -> bool:
    """True if both word one thing under one heading: the newer one has all words of the older one, and few more."""
    older, newer = sorted((left, right), key=lambda candidate: candidate.item.at)
    words, newer_words = _words(older.forms[-1]), _words(newer.forms[-1])
    return (
        left.item.heading is right.item.heading
        and len(words) > 1
        and words <= newer_words
        and len(words) >= SAME * len(newer_words)
    )


@lru_cache(maxsize=2048)
def _words(form: str) -> frozenset[str]:
    """The words of a text, the characters of Chinese ones, its numbers and what denies."""
    pieces = (part for term in _terms(form) for part in (term if has_han(term) else [term]))
    return frozenset([*pieces, *_NUMBER.findall(form), *_DENIAL.findall(form.casefold())]) - _ORDERS


def _newest(group: Sequence[WordedItem]) -> WordedItem:
    """Return the newest wording, the user's where one is, with the number of all, for which it stands."""
    newest = max(group, key=lambda candidate: (candidate.item.by_user, candidate.item.at))
    forms = tuple(f"{form.rstrip('.。')} (said {len(group)} times)." for form in newest.forms)
    item = replace(newest.item, counted=sum(candidate.item.counted for candidate in group))
    return WordedItem.of(item, group[0].value, forms)
