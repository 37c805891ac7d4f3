"""The wording of an item of a briefing: in up to four lengths, with its age and its author."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory_server.domain.fact import Fact
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.scoring import age_in_days
from memory_server.language import sentences
from memory_server.language.tokens import weigh

WORDS, CLAUSE, SENTENCE, WHOLE = 10, 18, 45, 90
"""Tokens of an item's lengths: its first words, clauses, sentence, sentences."""

TASK = 2 * WHOLE
"""Tokens of a task or a blocker."""

A_FEW = 3
"""Items of one author: to name the author once costs fewer tokens than to name it with each of so many."""


def _stands(_thing: Memory | Fact) -> str:
    """Say nothing of the ground of a memory or a fact."""
    return ""


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a briefing: the moment, the client and the name of its project.

    `usual` is the author of most of it: the opening names this author, and the items name the others. `remark` says
    what has changed on the ground of a memory or a fact.
    """

    now: str
    client: str | None = None
    project: str = ""
    usual: str | None = None
    remark: Callable[[Memory | Fact], str] = _stands

    def age(self, at: str) -> float:
        """Days from a moment to now."""
        return age_in_days(at, self.now)


def usual_author(authors: Iterable[str | None]) -> str | None:
    """The author of at least half of the things, and of more than a few; None where there is none."""
    all_authors = list(authors)
    most = Counter(author for author in all_authors if author).most_common(1)
    return most[0][0] if most and most[0][1] >= max(A_FEW, len(all_authors) / 2) else None


def ago(days: float) -> str:
    """An age in words; nothing where it is of today. Two thirds of a day: after a night it is yesterday."""
    if days < 2 / 3:
        return ""
    if days < 5 / 3:
        return "yesterday"
    if days < 60:
        return f"{round(days)} days ago"
    return f"{round(days / 30.44)} months ago" if days < 700 else f"{round(days / 365.25)} years ago"


def marked(age: float, author: str | None, reader: Reader, more: str = "") -> str:
    """Age, author and more, in brackets."""
    named = f"by {author}" if author and author != (reader.usual or reader.client) else ""
    marks = ", ".join(filter(None, [ago(age), named, more]))
    return f" ({marks})" if marks else ""


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess about a thing: `older` are the handles of what it may replace, `by` is that of what may replace it;
    only then `handle` is its own. `overruled` are those of what the user has said and it has replaced for certain.

    What may be replaced is said last, behind what may replace it: the guess may be wrong.
    """

    older: tuple[str, ...] = ()
    by: str | None = None
    handle: str = ""
    overruled: tuple[str, ...] = ()

    def __str__(self) -> str:
        replaced = f"in place of the user's {', '.join(self.overruled)}" if self.overruled else ""
        replaces = f"may replace {', '.join(self.older)}" if self.older else ""
        perhaps = f"{self.handle}, perhaps replaced" if self.by else ""
        return ", ".join(filter(None, [replaced, replaces, perhaps]))


CERTAIN = Guess()


def disputed(contradicting: Sequence[MemoryId], guess: Guess = CERTAIN, remark: str = "") -> str:
    """The mark that names the memories contradicting a memory, what it may replace, and what has changed on its ground;
    '' where there are none."""
    against = f"contradicted by {', '.join(f'm{id}' for id in contradicting)}" if contradicting else ""
    return ", ".join(filter(None, [against, str(guess), remark]))


def forms(
    label: str, statements: Sequence[str], marks: str, short_marks: str = "", whole: float = WHOLE
) -> tuple[str, ...]:
    """The lengths of an item, equal ones once: its first words and clauses, with the short marks; its first sentence,
    and more sentences, in `whole` tokens."""
    words, clause, sentence, first = sentences.lengths(
        statements[0], (WORDS, CLAUSE, SENTENCE, whole), spare=True
    )
    lengths = (
        _closed(label + words, short_marks),
        _closed(label + clause, short_marks),
        _closed(label + sentence, marks),
        _closed(label + _more(first, statements[1:], whole), marks),
    )
    return tuple(dict.fromkeys(lengths))


def _more(first: str, following: Sequence[str], most: float) -> str:
    """The sentences that fit, with … where others do not."""
    fitting, room = [first], most - weigh(first) if following else 0.0
    for sentence in following:
        room -= weigh(sentence)
        if room < 0:
            fitting[-1] += " …"
            break
        fitting.append(sentence)
    return sentences.joined(fitting)


def _closed(text: str, marks: str) -> str:
    return sentences.ended(text.rstrip(".。") + marks) if marks else sentences.ended(text)
