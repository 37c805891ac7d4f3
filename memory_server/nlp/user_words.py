"""The words of the user: a dictionary for jieba, and words that are never keywords. Each file is read once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from memory_server.errors import Invalid, Mend
from memory_server.language.text import fold, has_han

LONGEST = 100
"""Characters of the longest word, as of the longest keyword."""

MOST = 100_000
"""Words of the largest file: a quarter of jieba's own dictionary."""

_LINE = re.compile(r"(.+?)(?: ([0-9]{1,9}))?(?: ([a-z]+))?")
"""A line as jieba reads it: a word, its weight and its tag. A word in the alphabet may have spaces."""


@dataclass(frozen=True)
class UserWords:
    """`weights` has the words of the dictionary, folded; None lets jieba choose the weight by which it cuts.

    `ignored` are words that are never keywords, folded.
    """

    weights: Mapping[str, int | None] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()

    def within(self, folded: str) -> Iterator[str]:
        """Yield each word of the dictionary that a folded text holds, as often as it does; not inside other letters."""
        for place, character in enumerate(folded):
            for word in self._by_first.get(character, ()):
                if folded.startswith(word, place) and _stands_alone(word, folded, place):
                    yield word

    @cached_property
    def _by_first(self) -> Mapping[str, list[str]]:
        by_first: dict[str, list[str]] = {}
        for word in self.weights:
            by_first.setdefault(word[0], []).append(word)
        return by_first


NO_WORDS = UserWords()


def read(dictionary: Path | None, stop_words: Path | None) -> UserWords:
    """Read the files that the user names.

    Raises:
        Invalid: a file or a line cannot be read.
    """
    weights = dict(_entry(line, where) for line, where in _lines(dictionary)) if dictionary else {}
    ignored = (
        frozenset(_word(line, where) for line, where in _lines(stop_words)) if stop_words else frozenset()
    )
    return UserWords(weights, ignored)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that is not empty, and where it is."""
    try:
        lines = path.expanduser().read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({error.strerror}).", Mend.MEND_DICTIONARY) from error
    if len(lines) > MOST:
        raise Invalid(f"{path} has {len(lines):,} lines, more than {MOST:,}.", Mend.MEND_DICTIONARY)
    for number, line in enumerate(lines, 1):
        where = f"Line {number} of {path}"
        try:
            text = line.decode().strip()
        except UnicodeDecodeError as error:
            raise Invalid(f"{where} is not UTF-8.", Mend.MEND_DICTIONARY) from error
        if text:
            yield text, where


def _entry(line: str, where: str) -> tuple[str, int | None]:
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise _wrong(line, where)
    word, weight = parts[1], parts[2]
    _, *inner = word.split()
    # `Node 1.5`, `Node 5 NR`: what was meant as a weight or a tag. `Windows 11 5` has a weight.
    numbers = [piece for piece in inner[: None if weight is None else -1] if not any(map(str.isalpha, piece))]
    if numbers:
        raise _wrong(line, where)
    return _word(word, where), None if weight is None else int(weight)


def _word(text: str, where: str) -> str:
    word = " ".join(fold(text).split())
    if len(word) > LONGEST or not any(map(str.isalnum, word)) or (" " in word and has_han(word)):
        raise _wrong(text, where)
    return word


def _wrong(line: str, where: str) -> Invalid:
    return Invalid(f"{where} is no word with a weight and a tag: {line[:LONGEST]!r}.", Mend.MEND_DICTIONARY)


def _stands_alone(word: str, folded: str, place: int) -> bool:
    """True if no letter of an alphabet stands directly before or after a word that begins or ends with one."""
    before, after = folded[max(0, place - 1) : place], folded[place + len(word) :][:1]
    return not (_is_letter(word[0]) and _is_letter(before)) and not (
        _is_letter(word[-1]) and _is_letter(after)
    )


def _is_letter(character: str) -> bool:
    return character.isalnum() and not has_han(character)
