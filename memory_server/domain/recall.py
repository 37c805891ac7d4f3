"""The answer of a recall: what was found in all stores, a line each, within a limit of tokens."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memory_server.domain import ranking, relevance, trust
from memory_server.ground import Anchor
from memory_server.language import background, query, sentences
from memory_server.language import question as questions
from memory_server.language.frame import quoted
from memory_server.language.text import SPACELESS, fold, has_han
from memory_server.language.tokens import weigh, weigh_json


class Recallable(StrEnum):
    """The kinds of what a recall finds."""

    MEMORY = "memory"
    FACT = "fact"
    TURN = "turn"
    SHORT_TERM = "short_term"
    WOKEN = "woken"


LEAST, OF_BEST, OF_SUM = 0.05, 0.35, 0.1
"""Probability below which a text without a telling word of the question is no part of an answer; the same as a share of
the best text's, and where the question asks for a sum, to which many texts belong."""

WITH_WORD, WITH_WORD_OF_BEST = 0.03, 0.1
"""The same for a text with a telling word of the question. Of several questions, or where it asks for a sum, the best
does not matter: the text may be another half of the answer."""

OF_SEVERAL, OF_TALK = 0.2, 0.01
"""Probability that is enough where a question asks for several things, or is several questions; the same where people
talk: there a list lies in many lines, of which each is unlikely."""

USUAL = 800
"""Tokens of an answer unless a client names another limit. Of more, such a question gets all that fits."""

HALF, WITH_HALF = 0.45, 0.015
"""Share of the weight of the telling words with which a text is about what the question is about; the same for it."""

OF_WORD = 3
"""Lines of an answer that have a telling word of the question, from which on it is no reason for another line."""

TELLING = 0.02
"""Share of ordinary texts from which on a word is too common to tell what a text is about."""

HEADROOM = 0.97
"""Share of the token limit that the estimate may fill: of 600 random questions one took 3 % more than estimated."""

FRAME = 30
"""Tokens of an answer besides its lines and items: the names of its fields, the counts of what was left out."""

PER_LINE = 3
"""Tokens of a line that its weight lacks: a day and a handle are rarer in texts than they are here."""

PER_ITEM = 14
"""Tokens of an item besides its handle: its kind and its score."""

SHORT = 30
"""Tokens of a text that is named only because it is near."""

LONG = 60
"""Tokens. Of a longer text the answer has the sentences that fit the question best."""

OF_PROMPTS = 0.25
"""Share of the token limit that prompts whose trigger holds may take. Where nothing else is told, one may take all."""

SAME = 0.9
"""Share of the terms of a text that another one has, from which on both say the same."""

SESSION = 8
"""Characters of a session's id that a line names."""

_NUMBER = re.compile(r"\d+")
_WORD_START = rf"(?<![^\W{SPACELESS}])"
_ASKED = re.compile("[?？]")


@dataclass(frozen=True, slots=True)
class Found:
    """A text that may answer. `ref` is its handle, as `m42`; `said` what it says, `was` what it supersedes said.

    `day` is when it was (YYYY-MM-DD), `project` its project where that is another one than the caller's.
    `changed_at` is when a memory or a fact was written last, `session` that of a transcript in which it was said,
    `origin` who said it first; `by_user`: it is marked as the user's word. `anchors` are what it speaks of in the
    working tree, `remark` says what has changed there since. `replaces` are the handles of older texts that it probably
    replaces, `newer` is that of what probably replaces it; those that contradict it are `contradicts`.
    """

    kind: Recallable
    ref: str
    said: str
    day: str | None
    score: float
    project: str | None = None
    was: str | None = None
    why: str | None = None
    id: int = 0
    changed_at: str | None = None
    session: str | None = None
    origin: str = trust.UNKNOWN
    by_user: bool = False
    anchors: tuple[Anchor, ...] = ()
    remark: str | None = None
    replaces: tuple[str, ...] = ()
    newer: str | None = None
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerText:
    """`tokens` is the estimate for the whole; `left_out` counts by kind what is likely too but did not fit."""

    text: str
    items: tuple[Found, ...]
    tokens: int
    left_out: dict[str, int]


@dataclass(slots=True)
class _Page:
    """The lines so far and what they cost; with `explain` each has an item beside it."""

    room: float
    explain: bool
    lines: list[str] = field(default_factory=list)
    items: list[Found] = field(default_factory=list)
    cost: float = 0.0

    def take(self, item: Found, lines: Sequence[str], room: float | None = None) -> bool:
        """Add the first of these lines that fits; false where none does."""
        extra = weigh(item.ref) + PER_ITEM + weigh_json(item.why or "") if self.explain else 0.0
        extra += PER_LINE
        for line in lines:
            cost = weigh_json(f"{line}\n") + extra
            if self.cost + cost <= (self.room if room is None else room):
                self.lines.append(line)
                self.items.append(item)
                self.cost += cost
                return True
        return False


def compose(
    question: str,
    woken: Sequence[Found],
    hits: Sequence[Found],
    max_tokens: int,
    of_prompts: float = OF_PROMPTS,
    *,
    explain: bool = False,
) -> AnswerText:
    """The prompts that are due and then the best hits, each in whole sentences; `explain`: the items are sent too."""
    room = HEADROOM * max_tokens - FRAME
    page = _Page(room, explain)
    left_out: Counter[str] = Counter()
    for prompt in woken:
        alone = not hits and not page.items
        if not page.take(prompt, [line(prompt, prompt.said)], room if alone else of_prompts * room):
            left_out[prompt.kind] += 1
    terms = query.parse(question).terms
    page_words: list[frozenset[str]] = []
    likely = with_newer(_likely(question, hits, max_tokens), hits)
    refs = {hit.ref for hit in likely}
    newer = {old: hit.ref for hit in likely for old in hit.replaces if old in refs}
    for hit in likely:
        hit = _marked(hit, newer, {item.ref for item in page.items})
        words = _words(hit.said)
        if any(_same(words, above) for above in page_words):
            continue
        quotation = excerpt(hit.said, terms, LONG)
        text = f"{quotation} ({hit.remark})" if hit.remark else quotation
        lines = [line(hit, text)]
        if hit.was:
            lines.insert(0, line(hit, f"{text} (was: {excerpt(hit.was, terms, LONG / 2)})"))
        if page.take(hit, lines):
            page_words.append(words)
        else:
            left_out[hit.kind] += 1
    text = "\n".join(page.lines)
    return AnswerText(text, tuple(page.items), round(page.cost + FRAME), dict(left_out))


def _marked(hit: Found, newer: Mapping[str, str], on_page: Collection[str]) -> Found:
    """Return a hit that names the other one of its pair, unless that is told already and has the mark."""
    replaces = tuple(ref for ref in hit.replaces if ref in newer and ref not in on_page)
    new = newer.get(hit.ref)
    return replace(hit, replaces=replaces, newer=None if new in on_page else new)


def with_newer(chosen: Sequence[Found], hits: Sequence[Found]) -> list[Found]:
    """Return the chosen hits. What probably replaces one stands right before it, chosen or not, and counts as at least
    as likely."""
    by_ref = {hit.ref: hit for hit in (*hits, *chosen)}
    newer = {old: hit.ref for hit in reversed(hits) for old in hit.replaces if old in by_ref}
    order = ranking.with_newer([hit.ref for hit in chosen], newer, newer)
    for ref in reversed(order):  # of a line of several the oldest first
        if ref in newer:
            old, new = by_ref[ref], by_ref[newer[ref]]
            by_ref[new.ref] = replace(new, score=max(new.score, old.score))
    return [by_ref[ref] for ref in order]


def _likely(question: str, hits: Sequence[Found], max_tokens: int) -> list[Found]:
    """The hits that may belong to the answer: as likely as the best, with a word of the question, or one of several."""
    if not hits:
        return []
    best = hits[0].score
    terms = [term for term in query.parse(question).terms if background.share(term) < TELLING]
    rarities = {query.stem(term): background.rarity(term) for term in terms}
    parsed = questions.read(question)
    of_best = OF_SUM if parsed.adds_up else OF_BEST
    is_several = parsed.parts or parsed.adds_up or len(_ASKED.findall(question)) > 1
    of_best_with_word = 0.0 if is_several else WITH_WORD_OF_BEST
    enough = _enough_of_several(hits, max_tokens) if is_several or parsed.lists else 1.0
    likely: list[Found] = []
    texts_with: Counter[str] = Counter()
    for hit in hits:
        folded = fold(f"{hit.ref} {hit.said}")
        words = [stem for stem in rarities if _begins_word(stem, folded)]
        least = max(LEAST, of_best * best)
        if any(texts_with[word] < OF_WORD for word in words):
            least = min(least, max(WITH_WORD, of_best_with_word * best))
            if sum(rarities[word] for word in words) >= HALF * sum(rarities.values()):
                least = WITH_HALF
        if hit.score >= min(least, enough):
            likely.append(hit)
            texts_with.update(words)
    return likely


def _enough_of_several(hits: Sequence[Found], max_tokens: int) -> float:
    """The probability that is enough for a text where several things are asked for."""
    if max_tokens > USUAL:
        return 0.0
    return OF_TALK if relevance.is_talk([fold(hit.said) for hit in hits]) else OF_SEVERAL


def _begins_word(stem: str, folded: str) -> bool:
    """True if a word of the text begins with the stem, or if the text has it where no spaces part words."""
    if stem not in folded:  # most texts: a search by a pattern takes ten times as long
        return False
    return has_han(stem) or re.search(_WORD_START + re.escape(stem), folded) is not None


def excerpt(text: str, terms: Sequence[str], most: float) -> str:
    """The text on one line; of a longer one the whole sentences that have most of the terms, with … for the others.

    The best sentence is always whole, even if it alone exceeds `most` tokens.
    """
    pieces = sentences.split(text)
    if len(pieces) < 2 or weigh(text) <= most:
        return sentences.joined(pieces) if pieces else ""
    values = [_value(fold(piece), terms) for piece in pieces]
    first = last = max(range(len(pieces)), key=lambda place: values[place])
    cost = weigh(pieces[first])
    while True:
        neighbours = [place for place in (last + 1, first - 1) if 0 <= place < len(pieces)]
        fitting = [place for place in neighbours if cost + weigh(pieces[place]) <= most]
        if not fitting:
            break
        place = max(fitting, key=lambda place: values[place])
        cost += weigh(pieces[place])
        first, last = min(first, place), max(last, place)
    chosen = sentences.joined(pieces[first : last + 1])
    return f"{'… ' if first else ''}{chosen}{' …' if last < len(pieces) - 1 else ''}"


def _value(folded: str, terms: Sequence[str]) -> float:
    """The worth of a sentence: its terms of the question, a rare one counts more. A stem is enough."""
    return sum(1 - background.share(term) for term in terms if query.stem(term) in folded)


def line(item: Found, text: str) -> str:
    """A line of an answer: the day, the text, the project where it is another one, the handle, and who said it where
    that is nobody whom the user knows."""
    said = ", said" if item.kind is Recallable.SHORT_TERM else ""
    session = f", session {item.session[:SESSION]}" if item.session else ""
    day = f"{item.day}{said}{session}: " if item.day else ""
    project = f" (project {item.project})" if item.project else ""
    marks = ["from the user"] if item.by_user else []
    marks += [
        f"{verb} {', '.join(refs)}"
        for verb, refs in (("may replace", item.replaces), ("contradicts", item.contradicts))
        if refs
    ]
    marks += [f"{item.newer} may replace it"] if item.newer else []
    name = quoted(f"{item.ref}]")[:-1]
    return f"{day}{quoted(text)}{project} [{' · '.join([f'{name}{trust.mark(item.origin)}', *marks])}]"


def in_short(item: Found) -> str:
    """The beginning of a text with its handle, without its day and marks."""
    plain = Found(item.kind, item.ref, item.said, None, item.score, item.project, origin=item.origin)
    return line(plain, sentences.shortened(item.said, SHORT))


def _words(text: str) -> frozenset[str]:
    return frozenset([*query.parse(text).terms, *_NUMBER.findall(text)])


def _same(words: frozenset[str], above: frozenset[str]) -> bool:
    """True if `words` add nothing to `above`."""
    return bool(words) and len(words & above) >= SAME * len(words) and _numbers(words) <= _numbers(above)


def _numbers(words: frozenset[str]) -> set[str]:
    return {word for word in words if word.isdigit()}
