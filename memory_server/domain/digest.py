"""Groups observations and turns for a digest, and writes it: by rule, without a model."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import log2

from memory_server.domain.memory import DIGEST, MemoryDraft, MemoryType
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.scoring import age_in_days, decayed
from memory_server.domain.trust import UNKNOWN, least
from memory_server.language import background, query, sentences
from memory_server.language.query import ENGLISH_STOP_WORDS
from memory_server.language.small_talk import is_small_talk
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

TELLING = 10.0
"""Information of a sentence, in nats, from which on it is about something: greetings and thanks have less."""

EVEN = 40
"""Characters that are added to the length of a sentence, so that a short one with a rare word does not always win."""

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

NAMING = 5.0
"""Information of a name, in nats, from which on it is listed: "I'm" and "Hey John" have less."""

_SOURCE = "(Digest of "

_SPEAKER = re.compile(r"([^:：\n]{1,30})[:：]\s*")
"""The speaker of a text that begins with `Name:`."""

_NAME = re.compile(
    r"(?<![\w.])(?:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+|[A-Za-z][\w.-]*[\d_./-][\w./-]*\w|(?<=[a-z,;] )[A-Z][\w'’-]+)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}月\d{1,2}[日号]",
    re.ASCII,
)
"""A name: two words with capitals, one inside a sentence, a file, a version; or a date."""


class NoteKind(StrEnum):
    MEMORY = "memory"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Note:
    """An observation or a turn. A turn counts as an observation of importance 5 that no search has found."""

    kind: NoteKind
    id: int
    text: str
    at: str
    project: str
    session: str | None
    tags: tuple[str, ...] = ()
    importance: int = 5
    access_count: int = 0
    person: str | None = None
    origin: str = UNKNOWN

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


def digest(group: Sequence[Note]) -> MemoryDraft | None:
    """The sentences that tell most in their order, then their source and the names in the sentences left out.

    None where no sentence is about anything.
    """
    speakers = _speakers([note.text for note in group])
    every = [(note, sentence) for note in group for sentence in sentences.split(note.text)]
    chosen = _telling(every, speakers)
    if not chosen:
        return None
    summary = [_said(*every[number], speakers) for number in sorted(chosen)]
    left = [sentence for number, (_, sentence) in enumerate(every) if number not in chosen]
    names = [name for name in _names(left, speakers) if not any(name in sentence for sentence in summary)]
    also = f"; also: {', '.join(names[:NAMED])}" if names else ""
    return MemoryDraft(
        ("" if has_han(summary[0]) else " ").join(summary)
        + f" {_SOURCE}{_counted(group)}, {_days(group)}{also}.)",
        MemoryType.LEARNING,
        group[0].project or None,
        tuple(dict.fromkeys([DIGEST, *_shared_tags(group)])),
        max(note.importance for note in group),
        occurred_at=group[-1].at,
        person=group[0].person,
        origin=least(note.origin for note in group),
    )


def is_telling(content: str) -> bool:
    """True if half of the sentences of a digest are about something: those of older versions were often greetings.

    True too of what somebody has rewritten.
    """
    text, source, _ = content.partition(_SOURCE)
    summary = sentences.split(text) if source else []
    speakers = _speakers(summary)
    telling = [sentence for sentence in summary if _information(_about(sentence, speakers)) >= TELLING]
    return 2 * len(telling) >= len(summary)


def _telling(every: Sequence[tuple[Note, str]], speakers: AbstractSet[str]) -> set[int]:
    """The numbers of the sentences that tell most for their length, none of which asks or repeats another one.

    A word counts by its rarity in ordinary texts and by the number of sentences that have it; a sentence by its words,
    and by how often searches have found its note.
    """
    about = [_about(sentence, speakers) for _, sentence in every]
    common = Counter(term for terms in about for term in terms)
    values = {
        number: log2(note.access_count + 2)
        * sum(_rarity(term) * log2(common[term] + 1) for term in about[number])
        / (len(sentence) + EVEN)
        for number, (note, sentence) in enumerate(every)
        if _information(about[number]) >= TELLING and not sentence.endswith(("?", "？"))
    }
    chosen: set[int] = set()
    for number in sorted(values, key=lambda number: (-values[number], number)):
        if len(chosen) >= min(SENTENCES, max(3, len(every) // 4)):
            break
        if not any(_alike(about[number], about[chosen_number]) for chosen_number in chosen):
            chosen.add(number)
    return chosen


def _said(note: Note, sentence: str, speakers: AbstractSet[str]) -> str:
    """The sentence, shortened, with its speaker."""
    text = sentences.ended(sentences.shortened(sentence, SENTENCE))
    speaker = _SPEAKER.match(note.text)
    is_unnamed = speaker and speaker[1] in speakers and not sentence.startswith(speaker[1])
    return f"{speaker[1]}: {text}" if speaker and is_unnamed else text


def _speakers(texts: Sequence[str]) -> set[str]:
    """The names before a colon with which several of the texts begin."""
    counts = Counter(match[1] for match in map(_SPEAKER.match, texts) if match)
    return {name for name, count in counts.items() if count > 1}


def _about(text: str, speakers: AbstractSet[str]) -> frozenset[str]:
    """The terms of a text that name something: no small talk, and no speaker."""
    named = {term for speaker in speakers for term in _terms(speaker)}
    return frozenset(term for term in _terms(text) - named - ENGLISH_STOP_WORDS if not is_small_talk(term))


def _information(terms: AbstractSet[str]) -> float:
    """The information in these terms, in nats."""
    return sum(map(_rarity, terms))


def _rarity(term: str) -> float:
    """The information in a term; two pairs of Chinese characters share one."""
    return background.rarity(term) / (2 if " " in term else 1)


def _terms(text: str) -> frozenset[str]:
    return frozenset(query.parse(text).terms)


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    return len(left & right) >= ALIKE * min(len(left), len(right))


def _names(left: Sequence[str], speakers: AbstractSet[str]) -> list[str]:
    """The names and dates in sentences, those first that are named most often."""
    counts = Counter(name.strip(".,") for sentence in left for name in _NAME.findall(sentence))
    return [name for name, _ in counts.most_common() if _information(_about(name, speakers)) >= NAMING]


def _shared_tags(group: Sequence[Note]) -> list[str]:
    return [tag for tag in group[0].tags if all(tag in note.tags for note in group)]


def _counted(group: Sequence[Note]) -> str:
    turns = sum(note.kind is NoteKind.TURN for note in group)
    parts = []
    if len(group) > turns:
        parts.append(f"{len(group) - turns} observation{'s' if len(group) - turns > 1 else ''}")
    if turns:
        parts.append(f"{turns} turn{'s' if turns > 1 else ''}")
    return " and ".join(parts)


def _days(group: Sequence[Note]) -> str:
    first, last = group[0].at[:10], group[-1].at[:10]
    return first if first == last else f"{first} to {last}"
