"""A long text has parts: each is embedded and found on its own. The trigger `memories_inserted` splits in the same way.

A test holds both equal.
"""

from memory_server.language.sentence_ends import ends

LONG = 5_000
"""Characters of the longest text that is one part. The longest message of an assistant has seldom more."""

PART = 2_000
"""Characters of a part: about as much as the bundled embedder reads at once (512 tokens)."""

STEP = 1_800
"""Characters from the start of a part to the start of the next: a sentence at the border is whole in one of them."""

NUMBERED = 40
"""The id of a part is the memory's id + its number x 2^40. The first part has number 0."""

WHOLE = (1 << NUMBERED) - 1
"""Mask of the bits that the id of a part shares with the id of its memory."""

_SEARCHED = PART - STEP
"""Characters before and after a part in which its first sentence may begin and its last may end."""


def starts(length: int) -> range:
    """The positions, from 0, at which the parts of a text with so many characters begin."""
    if length <= LONG:
        return range(1)
    return range(0, length - (PART - STEP), STEP)


def split(text: str) -> list[str]:
    """The parts of a text; a text that is not long is one part."""
    if len(text) <= LONG:
        return [text]
    return [text[start : start + PART] for start in starts(len(text))]


def number_of(id: int) -> int:
    """The number of the part with this id; 0 is the first, which has the memory's id."""
    return id >> NUMBERED


def memory_of(id: int) -> int:
    """The id of the memory to which the part with this id belongs."""
    return id & WHOLE


def id_of(memory: int, number: int) -> int:
    return memory + (number << NUMBERED)


def shown(text: str, number: int) -> str:
    """A part of a long text for readers, with the whole of the sentences at its borders, unless these are long."""
    start, end = number * STEP, number * STEP + PART
    first = max(0, start - _SEARCHED)
    begins = [first + begin for _, begin in ends(text[first : end + _SEARCHED])]
    start = max((begin for begin in begins if begin <= start), default=start)
    return text[start : next((begin for begin in begins if begin >= end), end)].strip()
