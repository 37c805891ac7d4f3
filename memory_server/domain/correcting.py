"""Decides whether a statement corrects a text: it has another value of the same kind, and speaks of the same thing."""

import re
from collections.abc import Collection, Iterator

from memory_server.domain.learning import words
from memory_server.language import numbers
from memory_server.language.background import UNSEEN, share
from memory_server.language.calendar_words import DAYS, GERMAN_DAYS, MONTHS
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.query import ENGLISH_STOP_WORDS
from memory_server.language.text import has_han

SUBJECT = 0.6
"""Share of the words of a statement, its values left out, that the corrected text has."""

TELLING = 3
"""Characters of a number from which on it alone tells what a turn was about: 5433, 2.9 and 9:00, not 28."""

_COUNTS = "one two three four five six seven eight nine ten eleven twelve".split()

_CLOSED = {
    word: kind
    for kind, words_of_kind in (("day", (*DAYS, *GERMAN_DAYS)), ("month", MONTHS), ("count", _COUNTS))
    for word in words_of_kind
}

_VALUE = lazy(
    r"(?P<number>(?:(?<!\w)\.)?\d+(?:[.:,]\d+)*(?!\d|[a-f]\b))"
    r"|(?:\b(?:use[sd]?|using|(?:switched|moved|migrated|changed)\sto)\s|(?:用(?:的是)?|[换改]成)\s?)(?P<used>[A-Za-z][\w.+-]*\b)"
    r"|(?:^(?:it|that)(?:\sis|['’]s)\s)(?P<bare>[a-z][\w.+-]+\b)(?=[.!]?$)"
    r"|(?:\b(?:called|named|heißt)\s|叫\s?)(?P<name>[A-Za-z][\w-]*|[\u4e00-\u9fff]{2,3})"
    r"|(?P<day>(?:周|星期|礼拜)[一二三四五六日天\d])"
    r"|(?<=[^.!?:\s]\s)(?P<names>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)+)"
    r"|(?P<word>[^\W\d_\u4e00-\u9fff]+)"
)

_NOT = r"(?:\bnot|n['’]t|nicht|kein\w*|不是|不叫|不用)\s*(?:at\s|on\s|in\s|the\s|an?\s)*"

_INSTEAD = closed_list(
    r"(?P<new>[\w.-]+)(?:\snow)?,\s(?:and\s)?not\s(?:(?:at|on|in|by|with|the|an?)\s)*(?P<old>[\w.-]+)[.!]?$"
)
"""The end of a statement that says a word and which one it is not."""

_UNIT = lazy(r"\s?(%|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+)")

_FRAME = closed_list(
    r"我们|咱们|现在|改成|改为|改用|换成|应该|[是用在到了的要不叫他她它]|\b(?:use[sd]?|using|(?:switched|moved|migrated|changed)\sto|called|names?|named|now|currently|actually|[ap]m|o['’]clock|uhr)\b"
)
"""Words that state a value of anything."""

_TOKEN = lazy(r"[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+(?:['’][^\W\d_]+)*")


_DESCRIBES = lazy(r"(?:ed|en|ing|ly|er|ble|ful|less|ous|ive|al|y)$|n['’]t$")
"""The end of a word that says how something is, and names nothing."""


def values(text: str) -> dict[str, str]:
    """Return the values in a text, each with its kind: numbers of one shape, days, months, names, what is used."""
    kinds: dict[str, str] = {}
    for match in _VALUE.finditer(_in_digits(text)):
        kind, value = match.lastgroup or "", match[match.lastgroup or 0]
        kinds |= dict(_kinds(kind, value, bool(re.search(r"[^.!?:]\s\Z", match.string[: match.start()]))))
    return kinds


def _kinds(kind: str, value: str, inside: bool) -> Iterator[tuple[str, str]]:
    """Yield a value in small letters with its kind; each word of a name that has a day or a month in it."""
    small = value.casefold()
    parts = small.split()
    if kind == "number":
        yield small, "time" if ":" in value else f"number of {max(3, len(value.strip('.')))}"
    elif kind in ("used", "day"):
        yield small, kind
    elif kind == "bare" and not _closed(small):
        if share(small) <= UNSEEN and not _DESCRIBES.search(small):
            yield small, "used"
    elif kind == "name" or (kind == "names" and not any(map(_closed, parts))):
        yield small, "Name"
    else:
        for part, written in zip(parts, value.split(), strict=True):
            if closed := _closed(part):
                yield closed, _CLOSED[closed]
            elif inside and written[0].isupper():
                yield part, "Name"


def _closed(word: str) -> str | None:
    """Return the day, the month or the count that a word names."""
    return next((name for name in (word, word.removesuffix("s")) if name in _CLOSED), None)


def _in_digits(text: str) -> str:
    return numbers.in_digits(text) if has_han(text) else text


def corrected(statement: str, text: str, turn: str, *, shown: bool = False) -> str | None:
    """Return the value of a text that a statement corrects; None where it corrects none.

    They speak of the same thing where the text has the words of the statement; or, where that has none besides its
    values and their units, where the `turn` before it holds the value and is about the text. Of a text in another
    language that was `shown`, it is enough that the statement denies the value; of any that was shown, that a pronoun
    stands for the rest.
    """
    statement, written = _in_digits(statement), _in_digits(text)
    new, old = values(statement), values(written)
    fresh = {value: kind for value, kind in new.items() if value not in written.casefold()}
    replaced = [
        value
        for value, kind in old.items()
        if any(_alike(kind, value, fresh_kind, fresh_value) for fresh_value, fresh_kind in fresh.items())
        and _is_free(value, statement, new)
    ]
    if not fresh or not replaced:
        return _denied_word(statement, written)
    if len(replaced) == 1 and shown and replaced[0] in new and has_han(statement) != has_han(text):
        return replaced[0]
    subject, is_bare = _subject(statement, fresh, replaced)
    if is_bare:
        units = {unit for value in fresh if (unit := _unit(value, statement))}
        answered = [
            value
            for value in replaced
            if _is_about(value, written, units, turn)
            or (shown and value in new and old[value] in ("Name", "used"))
        ]
        return answered[0] if len(answered) == 1 else None
    return replaced[0] if len(replaced) == 1 and _speaks_of(written, subject) else None


def states_a_value(statement: str) -> bool:
    """True if a statement has a value, or says which word is not so: others correct nothing."""
    return bool(values(statement) or _INSTEAD.search(statement))


def _denied_word(statement: str, text: str) -> str | None:
    """Return the word of a text that a statement on the same thing says is not so ("on moss, not on kelp")."""
    instead = _INSTEAD.search(statement)
    if instead is None or instead["new"].casefold() in text.casefold():
        return None
    old = instead["old"].casefold()
    has_old = old in text if has_han(old) else old in words(text)
    return old if has_old and _speaks_of(text, words(statement) - words(instead[0])) else None


def _speaks_of(text: str, subject: frozenset[str]) -> bool:
    """True if a text has most of the words of a subject."""
    return bool(subject) and len(subject & words(text)) >= SUBJECT * len(subject)


def _alike(kind: str, value: str, fresh_kind: str, fresh_value: str) -> bool:
    """True for values of one kind, for a time and a full hour, and for a name and what is used."""
    hours = [
        number for number, its_kind in ((value, kind), (fresh_value, fresh_kind)) if its_kind == "number of 3"
    ]
    times = {kind, fresh_kind} == {"time", "number of 3"}
    is_full_hour = times and hours[0].isdigit() and int(hours[0]) <= 24
    return kind == fresh_kind or is_full_hour or {kind, fresh_kind} == {"Name", "used"}


def _subject(
    statement: str, fresh: Collection[str], replaced: Collection[str]
) -> tuple[frozenset[str], bool]:
    """Return the words of a statement besides its values; true if it is one value with its unit and a frame."""
    frame = statement
    for value in sorted({*fresh, *replaced}, key=len, reverse=True):
        unit = re.escape(_unit(value, statement)) or "(?!)"
        frame = re.sub(rf"(?i){re.escape(value)}s?(?:\s?{unit}(?![a-z]))?", " ", frame)
    tokens = [token.casefold() for token in _TOKEN.findall(_FRAME.sub(" ", frame))]
    stated = {*fresh, *replaced}
    subject = frozenset(word for word in words(statement) - stated if _closed(word) not in stated)
    return subject, len(fresh) == 1 and ENGLISH_STOP_WORDS.issuperset(tokens)


def _unit(value: str, text: str) -> str:
    """Return the unit that stands behind a number in a text, '' where there is none."""
    place = re.search(rf"(?<![0-9A-Za-z]){re.escape(value)}", text)
    unit = _UNIT.match(text, place.end()) if place and value[-1].isdigit() else None
    small = unit[1].casefold() if unit else ""
    return "" if small in ENGLISH_STOP_WORDS or _FRAME.fullmatch(small) else small


def _is_about(value: str, text: str, units: set[str], turn: str) -> bool:
    """True if a turn holds a value of a text, and speaks of the same thing."""
    spoken_turn = _in_digits(turn).casefold()
    if not re.search(rf"(?<![0-9a-z.:]){re.escape(value)}(?![\d:])", spoken_turn):
        return False
    unit = _unit(value, text.casefold())
    if units and unit.rstrip("s") not in {name.rstrip("s") for name in units}:
        return False
    is_telling = len(value) >= TELLING and value not in _CLOSED
    return is_telling or bool((words(text) & words(spoken_turn)) - {value})


def _is_free(value: str, statement: str, new: Collection[str]) -> bool:
    """True if the statement denies the value; one that denies another value, or states this one, leaves it."""
    denied = [name for name in new if re.search(rf"{_NOT}{re.escape(name)}", statement.casefold())]
    return value in denied if denied else value not in new
