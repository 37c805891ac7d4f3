"""Finds the lines that hold a name, and makes their digests.

A digest has 16 hex digits. The first 10 are of the line without what formatting changes: white space, the kind of
quotes, a comma or semicolon at its end. The last 6 are alike for lines that are alike (Charikar's simhash, of words
with numbers and quoted texts masked), so the line that replaced another one is found without its text.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

MOST_LINES = 12
"""Lines of a file that may hold a name: one that stands everywhere anchors nothing."""

LONGEST = 1_000
"""Characters of a line that is observed; a longer one was made by a program."""

_EXACT, _ALIKE = 10, 24
"""Hex digits of the first part; bits of the second."""

_QUOTES = str.maketrans({"'": '"', "`": '"', "“": '"', "”": '"'})
_VALUE = re.compile(r"(?:\"[^\"]*\"|'[^']*'|`[^`]*`)(?!\s*:)|\d+(?:[._]\d+)*")
_WORD = re.compile(r"\w+|[^\w\s]")
_DEFINING = (
    "def|class|fn|func|function|type|struct|enum|union|interface|trait|const|let|var|val|module|define"
)
_CONFLICT = re.compile(r"(?ms)^<{7} .*?(?:^>{7} [^\n]*|\Z)")


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str


def lines_with(name: str, text: str) -> list[Line]:
    """Return the lines that hold a name as a whole word, in their order, without those inside of conflict markers."""
    return lines_matching(whole_word(name), text) if name in text else []


def lines_matching(pattern: re.Pattern[str], text: str) -> list[Line]:
    """Return the lines in which a pattern is, without those inside of conflict markers."""
    conflicts = [match.span() for match in _CONFLICT.finditer(text)] if "<<<<<<< " in text else []
    return list(_lines(pattern, text, conflicts))


def is_defined(name: str, text: str) -> bool:
    """True if a line of a text seems to define a name: by a word such as `def` before it, by its value, or as in C."""
    escaped = re.escape(name)
    pattern = (
        rf"\b(?:{_DEFINING})[ \t]+(?:\([^)\n]*\)[ \t]*)?{escaped}(?![\w-])"
        rf"|^[ \t]*[\"']?{escaped}[\"']?[ \t]*(?::[^=\n]*)?:?=(?!=)"
        rf"|^(?!return|else)[A-Za-z_][\w \t*]*[ \t*]{escaped}[ \t]*\("
    )
    return re.search(pattern, text, re.MULTILINE) is not None


def has_conflict(text: str) -> bool:
    """True if a merge has left its markers."""
    return "<<<<<<< " in text and _CONFLICT.search(text) is not None


@lru_cache(maxsize=512)
def whole_word(name: str) -> re.Pattern[str]:
    """Return the pattern of a name as a whole word: `--no-cache` is not in `--no-cache-dir`, nor `port` in `port_2`."""
    edge = r"[A-Za-z0-9_-]" if "-" in name else r"[A-Za-z0-9_]"
    before = rf"(?<!{edge})" if name[:1].isalnum() or name[:1] in "_-" else ""
    after = rf"(?!{edge})" if name[-1:].isalnum() or name[-1:] in "_-" else ""
    return re.compile(before + re.escape(name) + after)


def _lines(pattern: re.Pattern[str], text: str, conflicts: list[tuple[int, int]]) -> Iterator[Line]:
    at, number = 0, 1
    match = pattern.search(text)
    while match:
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        number += text.count("\n", at, start)
        at = start
        if not any(first <= start < last for first, last in conflicts):
            yield Line(number, text[start:end].strip())
        match = pattern.search(text, end)


@lru_cache(maxsize=4_096)
def digest(line: str) -> str:
    """Return the digest of a line."""
    return exact(line) + f"{_simhash(line):06x}"


def exact(line: str) -> str:
    """Return the first part of the digest of a line, which is the same for the same line."""
    plain = "".join(line.split()).translate(_QUOTES).rstrip(",;")
    return blake2b(plain.encode(), digest_size=_EXACT // 2).hexdigest()


def missing(digests: Iterable[str], lines: Iterable[Line]) -> list[str]:
    """Return the digests of which no line stands."""
    present = {exact(line.text) for line in lines}
    return [digest for digest in digests if digest[:_EXACT] not in present]


def difference(digest: str, line: str) -> int:
    """Return how unlike a line is the one of a digest: from 0, the same but for its values, to 24."""
    return (int(digest[_EXACT:], 16) ^ _simhash(line)).bit_count()


@lru_cache(maxsize=4_096)
def _simhash(line: str) -> int:
    words = _WORD.findall(_VALUE.sub("#", line.strip()))
    counts = [0] * _ALIKE
    for word in (*words, *map(" ".join, pairwise(words))):
        bits = zlib.crc32(word.encode())
        for place in range(_ALIKE):
            counts[place] += 1 if bits >> place & 1 else -1
    return sum(1 << place for place, count in enumerate(counts) if count > 0)
