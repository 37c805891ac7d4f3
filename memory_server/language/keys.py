"""Keys: words that are searched for in a text.

A text is made searchable once: it is folded (`text.fold`), then an edge is put on both sides of every word. A word is a
run of letters, digits, `_` and the marks after them, in scripts that put spaces between words. The key is made
searchable in the same way, so a plain search for a substring finds it only as whole words: `art` is not in `party`,
`AI` is in 我喜欢AI技术, and `C++` is in `C++11`, because signs get no edge.
"""

import re
import unicodedata
from functools import lru_cache

from memory_server.language.lazy import lazy
from memory_server.language.text import SPACELESS, fold, stream_safe

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
