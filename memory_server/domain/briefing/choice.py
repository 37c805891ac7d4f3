"""Chooses what a briefing says: what matters most, shortened rather than left out, in few tokens."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache
from itertools import count

from memory_server.domain.fact import Fact
from memory_server.domain.memory import MemoryId
from memory_server.language import query
from memory_server.language.frame import quoted
from memory_server.language.lazy import lazy
from memory_server.language.text import has_han
from memory_server.language.tokens import weigh_json

_NUMBER = re.compile(r"\d+")

_DENIAL = lazy(
    r"\b(?:not|no|never|nor|without|unless|only|nicht|nie|kein)|n['’]t\b|[不没無无别勿未非只]", re.IGNORECASE
)

_ORDERS = frozenset("must should shall need needs please always 要 请 应 须 必 都".split())
"""Words of an order that change nothing of it."""


class Heading(IntEnum):
    """The headings in their order: blockers and current work first."""

    BLOCKED = 0
    TASK = 1
    UNDER_WAY = 2
    OLDER = 3
    DUE = 4
    LAST_SESSION = 5
    DECIDED = 6
    FOUND_OUT = 7
    SHARED = 8
    CONVENTIONS = 9
    EVERYWHERE = 10
    OTHER = 11
    ASKED = 12


TITLES = {
    Heading.BLOCKED: "Blocked",
    Heading.TASK: "Current task",
    Heading.UNDER_WAY: "Under way",
    Heading.OLDER: "Older, perhaps done",
    Heading.DUE: "Due now",
    Heading.LAST_SESSION: "Last session",
    Heading.DECIDED: "Decided",
    Heading.FOUND_OUT: "Found out",
    Heading.SHARED: "Shared",
    Heading.CONVENTIONS: "Conventions",
    Heading.EVERYWHERE: "In all projects",
    Heading.OTHER: "Also known",
    Heading.ASKED: "Open questions",
}

URGENCY = {
    Heading.BLOCKED: 12.0,
    Heading.TASK: 12.0,
    Heading.UNDER_WAY: 6.0,
    Heading.OLDER: 6.0,
    Heading.DUE: 12.0,
    Heading.LAST_SESSION: 4.0,
    Heading.DECIDED: 6.0,
    Heading.FOUND_OUT: 4.0,
    Heading.SHARED: 4.0,
    Heading.CONVENTIONS: 4.0,
    Heading.EVERYWHERE: 4.0,
    Heading.OTHER: 1.5,
    Heading.ASKED: 1.0,
}
"""How much an item under a heading counts beside one of the same age and importance under another one."""

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

LONGEST_NAME = 20
"""Tokens of the line with the project's name. A longer line becomes "This project.": a briefing may have only 50."""

POINTED = 250
"""Tokens of the smallest briefing that says how to read what was left out."""

SIGNED = 70
"""Tokens of the smallest briefing that says who wrote it."""

FROM_USER = "From the user"
"""The title of what the user has said or confirmed."""

STATEMENTS = frozenset(
    [Heading.DECIDED, Heading.FOUND_OUT, Heading.CONVENTIONS, Heading.EVERYWHERE, Heading.OTHER]
)
"""Headings whose items stand together under `FROM_USER` where the user has said them; the others keep their titles."""

OF_USER = 1.5
"""What an item of the user counts beside one that an assistant has noted."""

TIMELESS = frozenset([Heading.CONVENTIONS, Heading.EVERYWHERE])
"""Headings that say first what is most important, not what is newest. An age is not told there."""

GUESSED = 0.05
"""What an item counts that another one may replace: it is told where there is room for all others."""

SAID_TWICE = 0.9
"""An item so much of whose words another one has said is not said again."""


SAME = 0.75
"""Share of the words of a memory that an older one has, and no others, from which on both word one thing."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to say. `worth`: importance x recency; `at` is the moment of it.

    `worded` gives up to four lengths of it, the shortest first: that takes time, and not all items are looked at.
    `leads`: it may be what its heading says at least. `first`: it is told whole before others get more words.
    `opening`: said before all others of its heading, `closing`: after them. `fact` and `memory`: what it says.
    `counted`: the number of facts and memories for which it stands. `behind`: the handle of what may replace it.
    `by_user`: the user has said or confirmed it.
    """

    heading: Heading
    worded: Callable[[], tuple[str, ...]]
    worth: float
    at: str
    leads: bool = True
    fact: Fact | None = None
    first: bool = False
    opening: bool = False
    closing: bool = False
    counted: int = 1
    memory: MemoryId | None = None
    behind: str | None = None
    by_user: bool = False

    @property
    def handle(self) -> str:
        """The name in answers of what it says; '' where it has none."""
        if self.memory is not None:
            return f"m{self.memory}"
        return f"f {self.fact.key}" if self.fact else ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An item that is looked at: what it counts in its place, its lengths, and the tokens of each."""

    item: Item
    value: float
    forms: tuple[str, ...]
    costs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The text around the items.

    `total` counts the facts and memories that could be said, `pointer` says how to read them, `author` wrote what names
    nobody else, and `titles` replaces titles.
    """

    project: str
    total: int
    pointer: str
    author: str | None = None
    titles: dict[Heading, str] = field(default_factory=dict)

    def opening(self) -> str:
        """The line that names the project."""
        named = f"Project {self.project}." if self.project else "No project."
        return named if weigh_json(named) <= LONGEST_NAME else "This project."

    def title(self, item: Item) -> str:
        if item.by_user and item.heading in STATEMENTS:
            return FROM_USER
        title = self.titles.get(item.heading, TITLES[item.heading])
        return f"{title}, from the user" if item.by_user else title

    def noted(self) -> str:
        """Say of all that does not come from the user whose word it is."""
        if not self.pointer:
            return f"By {self.author} unless named:" if self.author else "By assistants:"
        by = f" by {self.author} unless named" if self.author else ""
        return f"Noted{by}, perhaps not the user's word:"


@dataclass(frozen=True, slots=True)
class Briefing:
    """`cost` is the estimate for `text` in an answer; `said` are the items in it, `left_out` counts the others.

    `whole` are those of the items that are not shortened, `told` the wording of each of `said` with its tokens.
    """

    text: str
    cost: float
    said: tuple[Item, ...]
    left_out: int
    whole: tuple[Item, ...] = ()
    told: tuple[tuple[str, float], ...] = ()


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
    leading, trailing = _ordered(items)
    looked_at = [*leading, *trailing][: LOOKED_AT + int(max(room, 0) / SMALLEST)]
    candidates = [_candidate(items[number], value) for number, value in looked_at]
    candidates, leads = _worded_once(candidates, len(leading))
    lengths = _chosen(candidates, leads, frame, room - weigh_json(_text(frame, [], frame.total)))
    chosen = [
        (candidate, lengths[number]) for number, candidate in enumerate(candidates) if number in lengths
    ]
    left = frame.total - sum(candidate.item.counted for candidate, _ in chosen)
    text = _text(frame, chosen, left)
    whole = tuple(candidate.item for candidate, length in chosen if length == len(candidate.forms) - 1)
    wordings = tuple((candidate.forms[length], candidate.costs[length]) for candidate, length in chosen)
    return Briefing(
        text, weigh_json(text), tuple(candidate.item for candidate, _ in chosen), left, whole, wordings
    )


def _ordered(items: Sequence[Item]) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """The numbers and values of the items: those that lead a heading, and the others; the highest value first."""
    by_worth = sorted(range(len(items)), key=lambda number: -items[number].worth)
    ranks = {heading: count() for heading in Heading}
    values = {
        number: URGENCY[items[number].heading]
        * items[number].worth
        * (GUESSED if items[number].behind else 1.0)
        * (OF_USER if items[number].by_user else 1.0)
        / (1 + CROWDED * next(ranks[items[number].heading]))
        for number in by_worth
    }
    leading = _leading(items, by_worth)
    trailing = sorted(values.keys() - set(leading), key=lambda number: (-values[number], number))
    leading.sort(key=lambda number: -values[number])
    return [(number, values[number]) for number in leading], [(number, values[number]) for number in trailing]


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


def _candidate(item: Item, value: float) -> _Candidate:
    forms = tuple(map(quoted, item.worded()))
    return _Candidate(item, value, forms, _costs(forms))


@lru_cache(maxsize=2048)
def _costs(forms: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(weigh_json(f" {form}") for form in forms)


@lru_cache(maxsize=2048)
def _terms(form: str) -> frozenset[str]:
    return frozenset(query.parse(form).terms)


def _worded_once(candidates: Sequence[_Candidate], leading: int) -> tuple[list[_Candidate], int]:
    """Return the candidates with the newest wording in the place of all memories that word one thing, and how many of
    them lead."""
    groups: list[list[_Candidate]] = []
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


def _may_repeat(item: Item) -> bool:
    return item.memory is not None and item.behind is None and not item.closing


def _is_same(left: _Candidate, right: _Candidate) -> bool:
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


def _newest(group: Sequence[_Candidate]) -> _Candidate:
    """Return the newest wording, the user's where one is, with the number of all, for which it stands."""
    newest = max(group, key=lambda candidate: (candidate.item.by_user, candidate.item.at))
    forms = tuple(f"{form.rstrip('.。')} (said {len(group)} times)." for form in newest.forms)
    item = replace(newest.item, counted=sum(candidate.item.counted for candidate in group))
    return _Candidate(item, group[0].value, forms, _costs(forms))


def _chosen(candidates: Sequence[_Candidate], leading: int, frame: Frame, room: float) -> dict[int, int]:
    """The chosen lengths by the numbers of the candidates."""
    lengths: dict[int, int] = {}
    headed: set[str] = set()
    heard, heard_from_user = _Heard(), _Heard()
    for number, length in _offers(candidates, leading, OF_WORK * room):
        candidate, before = candidates[number], lengths.get(number)
        if before is not None and before >= length:
            continue
        cost = candidate.costs[length] - (0.0 if before is None else candidate.costs[before])
        title = frame.title(candidate.item)
        if title not in headed:
            cost += weigh_json(f"\n{title}:")
        if cost > room:
            continue
        if before is None:
            form = candidate.forms[min(1, len(candidate.forms) - 1)]
            if candidate.item.by_user and heard_from_user.tells(form):
                continue
            if heard.tells(form) and not candidate.item.by_user:
                continue
        room -= cost
        lengths[number] = length
        headed.add(title)
    return lengths


def _offers(candidates: Sequence[_Candidate], leading: int, of_work: float) -> Iterator[tuple[int, int]]:
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


def _densities(candidate: _Candidate) -> Iterator[tuple[int, float]]:
    """The lengths with the value that each adds to the one before it, per token."""
    last = len(candidate.forms) - 1
    before, share = 0.0, 0.0
    for length, cost in enumerate(candidate.costs):
        now = 1.0 if length == last else SHARES[length]
        yield length, candidate.value * (now - share) / max(cost - before, 0.1)
        before, share = cost, now


class _Heard:
    """The words of what was said, so that nothing is said twice."""

    def __init__(self) -> None:
        self._by_term: defaultdict[str, list[int]] = defaultdict(list)
        self._count = count()

    def tells(self, form: str) -> bool:
        """True if an earlier sentence had these words; if not, they count as said from now on."""
        terms = _terms(form)
        shared = Counter(number for term in terms for number in self._by_term.get(term, ()))
        if len(terms) > 1 and shared and max(shared.values()) >= SAID_TWICE * len(terms):
            return True
        number = next(self._count)
        for term in terms:
            self._by_term[term].append(number)
        return False


def _in_order(chosen: Sequence[tuple[_Candidate, int]]) -> list[tuple[_Candidate, int]]:
    """Return what a heading says in order: what may be replaced right behind what may replace it."""
    places = {candidate.item.handle: place for place, (candidate, _) in enumerate(chosen)}

    def key(numbered: tuple[int, tuple[_Candidate, int]]) -> tuple[int, int, bool]:
        place, item = numbered[0], numbered[1][0].item
        return item.closing - item.opening, places.get(item.behind or "", place), item.behind is not None

    return [pair for _, pair in sorted(enumerate(chosen), key=key)]


def _text(frame: Frame, chosen: Sequence[tuple[_Candidate, int]], left: int) -> str:
    lines = [frame.opening()]
    from_user = _lines(frame, [pair for pair in chosen if pair[0].item.by_user])
    noted = _lines(frame, [pair for pair in chosen if not pair[0].item.by_user])
    if from_user:
        lines += [*from_user, *([frame.noted()] if noted else ())]
    elif noted or left:
        lines = [f"{frame.opening()} {frame.noted()}"]
    lines += noted
    if not chosen and not left:
        lines.append("Nothing is stored for it yet.")
    if left:
        lines.append(f"+{left} more" + (f": {frame.pointer}" if frame.pointer else ""))
    return "\n".join(lines)


def _lines(frame: Frame, chosen: Sequence[tuple[_Candidate, int]]) -> list[str]:
    """Return a line for each title, in the order of the headings; the user's statements come first."""
    by_title: defaultdict[str, list[tuple[_Candidate, int]]] = defaultdict(list)
    for pair in sorted(chosen, key=lambda pair: pair[0].item.heading):
        by_title[frame.title(pair[0].item)].append(pair)
    return [
        " ".join([f"{title}:", *(candidate.forms[length] for candidate, length in _in_order(pairs))])
        for title, pairs in sorted(by_title.items(), key=lambda line: line[0] != FROM_USER)
    ]
