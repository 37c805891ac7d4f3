"""Groups observations and turns for a digest, and writes it: by rule, without a model."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from memory_server.domain.memory import DIGEST, MemoryDraft, MemoryType
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.scoring import age_in_days, decayed
from memory_server.language import query, sentences
from memory_server.language.text import has_han

OLD = 30
"""Days. Younger notes are not digested."""

FADED = 1.0
"""Notes with a lower decayed score are digested: an observation of importance 5 after 33 days, of 7 after 39, where no
search has found it."""

IMPORTANT = 8
"""Importance from which on a note is never digested."""

LEAST = 5
"""Least number of notes in a digest."""

MOST = 60
"""Largest number of notes in a digest: of a longer session the oldest are taken."""

SENTENCES = 8
"""Sentences of a digest at most; a quarter of all of them where that is less, but at least three."""

SENTENCE = 60
"""Tokens of a sentence."""

ALIKE = 0.6
"""Share of its words that a sentence has in common with one in the digest, from which on it adds nothing."""

SUBJECT = 0.5
LEAST_WORDS = 2
"""The share of words, and the number of them, that two notes of one subject have in common at least."""

LOOKED_AT = 5_000
"""Notes that are compared for their subject at a time, the oldest: about a second."""

NAMED = 12
"""Names and numbers at most that are listed from the sentences left out."""

_NAME = re.compile(
    r"(?<![\w.])(?:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+|[A-Za-z][\w.-]*[\d_./-][\w./-]*\w|(?<=[a-z,;] )[A-Z][\w'’-]+)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}月\d{1,2}[日号]",
    re.ASCII,
)
"""A name: two words with capitals, one inside a sentence, a file, a version; or a date."""


class Kind(StrEnum):
    MEMORY = "memory"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Note:
    """An observation or a turn. A turn counts as an observation of importance 5 that no search has found."""

    kind: Kind
    id: int
    text: str
    at: str
    project: str
    session: str | None
    tags: tuple[str, ...] = ()
    importance: int = 5
    access_count: int = 0
    person: str | None = None

    @property
    def place(self) -> tuple[str, str | None]:
        """Project and person of its digest: notes of one person are digested for that person alone."""
        return self.project, self.person

    def faded(self, now: str) -> bool:
        age = age_in_days(self.at, now)
        score = decayed(self.importance, MemoryType.OBSERVATION, age, self.access_count)
        return age > OLD and self.importance < IMPORTANT and score < FADED


def before(now: str) -> str:
    """The moment before which a note must have occurred to be digested."""
    return timestamp(parse(now) - timedelta(days=OLD))


def groups(notes: Sequence[Note], now: str) -> list[list[Note]]:
    """Groups of faded notes: those of one session, then those of one subject. The oldest first in each."""
    faded = sorted(
        (note for note in notes if note.faded(now)), key=lambda note: (note.at, note.kind, note.id)
    )
    by_session: defaultdict[tuple[tuple[str, str | None], str], list[Note]] = defaultdict(list)
    for note in faded:
        if note.session:
            by_session[note.place, note.session].append(note)
    together = [group[:MOST] for group in by_session.values() if len(group) >= LEAST]
    grouped = {(note.kind, note.id) for group in together for note in group}
    alone = [note for note in faded if (note.kind, note.id) not in grouped]
    return together + [group[:MOST] for group in _by_subject(alone) if len(group) >= LEAST]


def _by_subject(notes: Sequence[Note]) -> list[list[Note]]:
    """Groups of notes of a project that share half of their words with the first note of their group."""
    subject_groups: list[list[Note]] = []
    firsts: list[frozenset[str]] = []
    by_term: defaultdict[tuple[tuple[str, str | None], str], list[int]] = defaultdict(list)
    for note in notes[:LOOKED_AT]:
        terms, place = _terms(note.text), note.place
        shared = Counter(number for term in terms for number in by_term[place, term])
        near = [
            number
            for number, count in shared.most_common()
            if count >= max(LEAST_WORDS, SUBJECT * max(len(terms), len(firsts[number])))
        ]
        if near:
            subject_groups[near[0]].append(note)
            continue
        for term in terms:
            by_term[place, term].append(len(subject_groups))
        subject_groups.append([note])
        firsts.append(terms)
    return subject_groups


def digest(group: Sequence[Note]) -> MemoryDraft:
    """The most central sentences in their order, then their source and the names in the sentences left out."""
    every = [(note, sentence) for note in group for sentence in sentences.split(note.text)]
    chosen = _central([sentence for _, sentence in every])
    summary = [sentences.ended(sentences.shortened(every[number][1], SENTENCE)) for number in sorted(chosen)]
    left = [sentence for number, (_, sentence) in enumerate(every) if number not in chosen]
    names = [name for name in _names(left) if not any(name in sentence for sentence in summary)][:NAMED]
    source = f"(Digest of {_counted(group)}, {_days(group)}{'; also: ' + ', '.join(names) if names else ''}.)"
    return MemoryDraft(
        ("" if has_han(summary[0]) else " ").join(summary) + f" {source}",
        MemoryType.LEARNING,
        group[0].project or None,
        tuple(dict.fromkeys([DIGEST, *_shared_tags(group)])),
        max(note.importance for note in group),
        occurred_at=group[-1].at,
        person=group[0].person,
    )


def _central(every: Sequence[str]) -> set[int]:
    """The numbers of the sentences that share most words with the others, none of which repeats another one."""
    terms = list(map(_terms, every))
    common = Counter(term for sentence_terms in terms for term in sentence_terms)
    ranks = {
        number: sum(common[term] - 1 for term in sentence_terms) / (1 + len(sentence_terms))
        for number, sentence_terms in enumerate(terms)
    }
    chosen: set[int] = set()
    for number in sorted(ranks, key=lambda number: (-ranks[number], number)):
        if len(chosen) >= min(SENTENCES, max(3, len(every) // 4)):
            break
        if terms[number] and not any(_alike(terms[number], terms[chosen_number]) for chosen_number in chosen):
            chosen.add(number)
    return chosen or {0}


def _terms(text: str) -> frozenset[str]:
    return frozenset(query.parse(text).terms)


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    return len(left & right) >= ALIKE * min(len(left), len(right))


def _names(left: Sequence[str]) -> list[str]:
    """The names and dates in sentences, those first that are named most often."""
    counts = Counter(name.strip(".,") for sentence in left for name in _NAME.findall(sentence))
    return [name for name, _ in counts.most_common()]


def _shared_tags(group: Sequence[Note]) -> list[str]:
    return [tag for tag in group[0].tags if all(tag in note.tags for note in group)]


def _counted(group: Sequence[Note]) -> str:
    turns = sum(note.kind is Kind.TURN for note in group)
    parts = []
    if len(group) > turns:
        parts.append(f"{len(group) - turns} observation{'s' if len(group) - turns > 1 else ''}")
    if turns:
        parts.append(f"{turns} turn{'s' if turns > 1 else ''}")
    return " and ".join(parts)


def _days(group: Sequence[Note]) -> str:
    first, last = group[0].at[:10], group[-1].at[:10]
    return first if first == last else f"{first} to {last}"
