"""Keys: words and regular expressions that are searched for in the messages of a conversation.

A text is made searchable once: it is folded (`text.fold`), then an edge is put on both sides of every word. A word is a
run of letters, digits, `_` and the marks after them, in scripts that put spaces between words. The key is made
searchable in the same way, so a plain search for a substring finds it only as whole words: `art` is not in `party`,
`AI` is in 我喜欢AI技术, and `C++` is in `C++11`, because signs get no edge.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from memory_server.language.lazy import lazy
from memory_server.language.text import SPACELESS, fold, stream_safe

DEPTH = 4
"""How many of the last messages are searched unless a trigger gives another depth. A choice: two exchanges."""

WHITE_SPACE = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `trim` removes, as a character class."""

UNSPACED = SPACELESS + "\u0e01-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Character class of the scripts without word edges: Han, kana, hangul, Thai, Lao, Tibetan, Burmese, Khmer."""

EDGE = "\u3000"
"""The character on both sides of a word. No folded text contains it: NFKC replaces it by an ordinary space."""

_UNSPACED = lazy(f"[{UNSPACED}]")
_LETTER = f"[^\\W{UNSPACED}]"
_SPACES = re.compile("[ \t]{2,}|\t")
_APOSTROPHES = str.maketrans("‘’", "''")
_BLANK = re.compile(f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$")


class Scope(StrEnum):
    """Whose messages are searched."""

    ANY = "any"
    USER = "user"
    ASSISTANT = "assistant"
    CHAR = "char"
    SYSTEM = "system"
    BOTH = "both"
    OTHER = "other"
    NOTUSER = "notuser"
    NOTCHAR = "notchar"


_ASSISTANT = frozenset({"assistant", "char"})


def in_scope(role: str, scope: Scope) -> bool:
    """True if messages of a role belong to a scope; assistant and char are two names of one role."""
    match scope:
        case Scope.ANY:
            return True
        case Scope.USER | Scope.SYSTEM:
            return role == scope
        case Scope.ASSISTANT | Scope.CHAR:
            return role in _ASSISTANT
        case Scope.BOTH:
            return role == Scope.USER or role in _ASSISTANT
        case Scope.OTHER:
            return role != Scope.USER and role not in _ASSISTANT
        case Scope.NOTUSER:
            return role != Scope.USER
        case Scope.NOTCHAR:
            return role not in _ASSISTANT


def searchable(text: str) -> str:
    """The text folded, each word between two edges."""
    return _edged(_spelled(text))


def needle(key: str) -> str:
    """The form of a key that is searched for in a searchable text; empty if the key is blank, which is never found."""
    return _edged(_BLANK.sub("", _spelled(key)))


def _spelled(text: str) -> str:
    """Folded, with one kind of apostrophe and single spaces."""
    return _SPACES.sub(" ", fold(stream_safe(text)).translate(_APOSTROPHES))


def found(key: str, text: str) -> bool:
    """True if a text contains a key as whole words, or anywhere in scripts without spaces between words."""
    sought = needle(key)
    return sought != "" and sought in searchable(text)


def utf16(text: str) -> str:
    """The text as JavaScript counts it: a character for each of its UTF-16 units."""
    if text.isascii():
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return text if len(units) == 2 * len(text) else "".join(map(chr, memoryview(units).cast("H")))


@dataclass(frozen=True)
class Said:
    """A message in the forms that keys are searched in; each form is computed when first needed."""

    role: str
    text: str

    @cached_property
    def searchable(self) -> str:
        return searchable(self.text)

    @cached_property
    def utf16(self) -> str:
        return utf16(self.text)


@dataclass(frozen=True)
class Joined(Said):
    """Messages joined by line feeds. Its forms are joined from theirs: no word crosses a line feed."""

    parts: tuple[Said, ...]

    @cached_property
    def searchable(self) -> str:
        return "\n".join(part.searchable for part in self.parts)

    @cached_property
    def utf16(self) -> str:
        return "\n".join(part.utf16 for part in self.parts)


def join(parts: Sequence[Said]) -> Said:
    return parts[0] if len(parts) == 1 else Joined("", "\n".join(part.text for part in parts), tuple(parts))


@dataclass(frozen=True, slots=True)
class WordsKey:
    """A key that is words."""

    text: str
    needle: str

    def found(self, message: Said) -> bool:
        return self.needle != "" and self.needle in message.searchable


@dataclass(frozen=True, slots=True)
class RegexKey:
    """A key that is a regular expression, searched for in the unchanged text, by UTF-16 units.

    `squared`: its time may grow with the square of the text's length. `work`: the most steps at one index of the text.
    """

    source: str
    flags: str
    compiled: re.Pattern[str]
    squared: bool = False
    work: int = 1

    def found(self, message: Said) -> bool:
        return self.search(message.utf16)

    def search(self, units: str) -> bool:
        """True if the expression matches in a text of UTF-16 units."""
        return self.compiled.search(units) is not None

    def cost(self, length: int) -> int:
        """The most work on a text of that length; a unit is about a nanosecond."""
        return self.work * length * (length if self.squared else 1)


Key = WordsKey | RegexKey


def words_key(text: str) -> WordsKey:
    return WordsKey(text, needle(text))


def distinct(keys: Iterable[Key]) -> tuple[Key, ...]:
    """The keys without repetitions: words that fold to the same text are one key."""
    keys_by_spelling: dict[object, Key] = {}
    for key in keys:
        keys_by_spelling.setdefault(key.needle if isinstance(key, WordsKey) else (key.source, key.flags), key)
    return tuple(keys_by_spelling.values())


def clamped(depth: float | None) -> int | None:
    """A depth from JavaScript: none or NaN means DEPTH, 0 and Infinity all messages (None), any other is at least 1."""
    if depth is None or depth != depth:
        return DEPTH
    if depth == float("inf") or 0 <= depth < 1:
        return None
    return max(1, int(max(depth, 1.0)))


def recent(messages: Sequence[Said], scope: Scope, depth: int | None) -> Sequence[Said]:
    """The messages in the scope among the last `depth`; None: among all."""
    last = messages if depth is None else messages[-depth:]
    return [message for message in last if in_scope(message.role, scope)]


def hits(messages: Iterable[Said], keys: Iterable[Key]) -> list[tuple[Key, Said]]:
    """The pairs of a key and a message that contains it; `match_keys` returns their number."""
    return [(key, message) for message in messages for key in keys if key.found(message)]


def all_found(joined: Said, keys: Sequence[Key]) -> bool:
    """True if every key is found in the messages joined by line feeds; false without keys."""
    return bool(keys) and all(key.found(joined) for key in keys)


def _edged(folded: str) -> str:
    return _word_pattern(_marks(folded)).sub(f"{EDGE}\\g<0>{EDGE}", folded)


def _marks(folded: str) -> str:
    """The marks in a text that can follow a letter of a word, sorted."""
    if folded.isascii():
        return ""
    marks = {character for character in set(folded) if unicodedata.category(character)[0] == "M"}
    return "".join(sorted(marks.difference(_UNSPACED.findall("".join(marks)))))


@lru_cache(maxsize=64)
def _word_pattern(marks: str) -> re.Pattern[str]:
    """Python's `\\w` matches letters and numbers but no marks, so the marks of the text are added."""
    return re.compile(f"{_LETTER}(?:{_LETTER}|[{marks}])*" if marks else f"{_LETTER}+")
