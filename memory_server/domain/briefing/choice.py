"""Chooses what a briefing says: what matters most, shortened rather than left out, in few tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from memory_server.domain.briefing.headings import TIMELESS, Heading, Item, Shown, WordedItem
from memory_server.domain.briefing.repeats import SaidWords, worded_once
from memory_server.domain.briefing.text import Frame, text
from memory_server.language.frame import quoted
from memory_server.language.tokens import weigh_json

CROWDED = 0.25
"""The second item of a heading counts 1 / (1 + CROWDED) of what it would alone, the third 1 / (1 + 2 x CROWDED): so no
heading takes the room of all others."""

SHARES = (0.5, 0.75, 0.95, 1.0)
"""The share of an item's worth that each of its forms has: its first words, clauses, sentence, sentences."""

HEADROOM = 0.88
"""Share of the token limit that the estimate may fill. The real count is up to 12 % higher and must keep the limit."""

OF_WORK = 0.6
"""Share of the room that the current task, its next steps and what blocks it may take before others get more words."""

SMALLEST = 12.0
LOOKED_AT = 10
"""Tokens of a short item: not many more items are looked at than would fit if all were so short."""

POINTED = 250
"""Tokens of the smallest briefing that says how to read what was left out."""

SIGNED = 70
"""Tokens of the smallest briefing that says who wrote it."""

OF_USER = 1.5
"""What an item of the user counts beside one that an assistant has noted."""

GUESSED = 0.05
"""What an item counts that another one may replace: it is told where there is room for all others."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """`cost` is the estimate for `text` in an answer; `left_out` counts the items that are not shown."""

    text: str
    cost: float
    shown: tuple[Shown, ...]
    left_out: int

    @property
    def items(self) -> list[Item]:
        return [entry.item for entry in self.shown]


def brief(items: Sequence[Item], frame: Frame, room: float) -> Briefing:
    """Choose what matters most, in at most `room` tokens of a JSON text. The same items give the same text.

    First the leading items of each heading get their shortest form. Then the current work is told whole. Then each item
    gets the form that says most for its tokens, until the room is used.
    """
    frame = replace(
        frame,
        pointer=frame.pointer if room >= POINTED else "",
        author=frame.author if room >= SIGNED else None,
    )
    ordered, leading = _ordered(items)
    looked_at = ordered[: LOOKED_AT + int(max(room, 0) / SMALLEST)]
    candidates = [WordedItem.of(item, value, tuple(map(quoted, item.worded()))) for item, value in looked_at]
    candidates, leading = worded_once(candidates, leading)
    lengths = _chosen(candidates, leading, frame, room - weigh_json(text(frame, [], frame.total)))
    shown = tuple(_shown(candidates[number], lengths[number]) for number in sorted(lengths))
    left_out = frame.total - sum(entry.item.counted for entry in shown)
    chosen_text = text(frame, shown, left_out)
    return Briefing(chosen_text, weigh_json(chosen_text), shown, left_out)


def _shown(candidate: WordedItem, length: int) -> Shown:
    is_whole = length == len(candidate.forms) - 1
    return Shown(candidate.item, candidate.forms[length], candidate.costs[length], is_whole)


def _ordered(items: Sequence[Item]) -> tuple[list[tuple[Item, float]], int]:
    """Return the items with their values, those first that lead a heading, the highest value first; and how many
    lead."""
    by_worth = sorted(range(len(items)), key=lambda number: -items[number].worth)
    ranks = {heading: count() for heading in Heading}
    values = {
        number: items[number].heading.urgency
        * items[number].worth
        * (GUESSED if items[number].behind else 1.0)
        * (OF_USER if items[number].by_user else 1.0)
        / (1 + CROWDED * next(ranks[items[number].heading]))
        for number in by_worth
    }
    leading = _leading(items, by_worth)
    trailing = sorted(values.keys() - set(leading), key=lambda number: (-values[number], number))
    leading.sort(key=lambda number: -values[number])
    return [(items[number], values[number]) for number in (*leading, *trailing)], len(leading)


def _leading(items: Sequence[Item], by_worth: Sequence[int]) -> list[int]:
    """The items that each heading must show: the newest that may lead, or the most important one where time does not
    matter; and the closing ones."""
    leading: list[int] = []
    for heading in Heading:
        here = [number for number in by_worth if items[number].heading is heading]
        open_ones = [number for number in here if not items[number].closing]
        certain = [number for number in open_ones if not items[number].behind] or open_ones
        able = [number for number in certain if items[number].leads] or certain
        if able:
            leading.append(able[0] if heading in TIMELESS else max(able, key=lambda number: items[number].at))
        leading += [number for number in here if items[number].closing]
    return leading


def _chosen(candidates: Sequence[WordedItem], leading: int, frame: Frame, room: float) -> dict[int, int]:
    """The chosen lengths by the numbers of the candidates."""
    lengths: dict[int, int] = {}
    headed: set[str] = set()
    sentences, user_sentences = SaidWords(), SaidWords()
    for number, length in _offers(candidates, leading, OF_WORK * room):
        candidate, before = candidates[number], lengths.get(number)
        if before is not None and before >= length:
            continue
        cost = candidate.costs[length] - (0.0 if before is None else candidate.costs[before])
        title = frame.title(candidate.item.heading, candidate.item.by_user)
        if title not in headed:
            cost += weigh_json(f"\n{title}:")
        if cost > room:
            continue
        if before is None:
            form = candidate.forms[min(1, len(candidate.forms) - 1)]
            if candidate.item.by_user and user_sentences.repeats(form):
                continue
            if sentences.repeats(form) and not candidate.item.by_user:
                continue
        room -= cost
        lengths[number] = length
        headed.add(title)
    return lengths


def _offers(candidates: Sequence[WordedItem], leading: int, of_work: float) -> Iterator[tuple[int, int]]:
    """The lengths to try, in order: the shortest of the leading items; the longest of what comes first, in so many
    tokens; then those that say most for their tokens.
    """
    yield from ((number, 0) for number in range(min(leading, len(candidates))))
    for number, candidate in enumerate(candidates):
        fitting = [length for length, cost in enumerate(candidate.costs) if cost <= of_work]
        if candidate.item.first and not candidate.item.behind and fitting:
            of_work -= candidate.costs[fitting[-1]]
            yield number, fitting[-1]
    densities = [
        (-density, number, length)
        for number, candidate in enumerate(candidates)
        for length, density in _densities(candidate)
    ]
    for _, number, length in sorted(densities):
        yield number, length


def _densities(candidate: WordedItem) -> Iterator[tuple[int, float]]:
    """The lengths with the value that each adds to the one before it, per token."""
    last = len(candidate.forms) - 1
    before, share = 0.0, 0.0
    for length, cost in enumerate(candidate.costs):
        now = 1.0 if length == last else SHARES[length]
        yield length, candidate.value * (now - share) / max(cost - before, 0.1)
        before, share = cost, now
