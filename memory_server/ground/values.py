"""Values of code: numbers, versions and quoted texts, as a note says them and as a line holds them."""

import re

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])v?(\d+(?:_\d{3})*(?:\.\d+)*)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`")
_PLAIN = re.compile(r"[\d_.]+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:-[\w$]+)*")
_SEPARATOR = re.compile(r"\.|::|#|->")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_number(value: str) -> bool:
    """True for a number or a version."""
    return _PLAIN.fullmatch(value) is not None


def values_in(line: str, *, like: str) -> list[str]:
    """Return the values of a line that are of the kind of `like`: numbers and versions, or quoted texts."""
    if is_number(like):
        return [number.replace("_", "") for number in _NUMBER.findall(line)]
    return [first or second or third for first, second, third in _QUOTED.findall(line)]


def holds(line: str, value: str) -> bool:
    """True if a line holds a value; a version holds its beginning: `22.1.0` holds "22"."""
    begins = f"{value}." if is_number(value) else "\0"
    return any(text == value or text.startswith(begins) for text in values_in(line, like=value))


def gives(line: str, name: str, value: str) -> bool:
    """True if a line gives a name a value, by an equals sign, a colon or white space."""
    between = r"[\"']?(?:[ \t]*(?::[^=\n]*)?=(?!=)|[ \t]*:(?!=)|[ \t])[ \t]*[\"'^~>=v]*"
    return re.search(f"{re.escape(name)}{between}{pattern_of(value).pattern}", line) is not None


def may_hold(text: str, value: str) -> bool:
    """True if a text may have a line that holds a value: 30000 is written `30_000` too."""
    return value in text or (value.isdigit() and len(value) > 3 and f"{int(value):_}" in text)


def pattern_of(value: str) -> re.Pattern[str]:
    """Return a pattern that is in all lines that hold a value."""
    return re.compile("_?".join(value) if value.isdigit() else re.escape(value))


def parts_of(name: str) -> list[str]:
    """Return the parts of a name of code: `Tree` and `read` of `Tree.read`."""
    return _SEPARATOR.split(name)


def identifiers(line: str) -> list[str]:
    return _IDENTIFIER.findall(line)


def words_of(identifier: str) -> frozenset[str]:
    """Return the words of an identifier, in one form for one and for many: `maxRetries` has "max" and "retri"."""
    return frozenset(stem(word) for word in _HUMP.findall(identifier))


def stem(word: str) -> str:
    word = word.casefold()
    if word.endswith(("ies", "y")) and len(word) > 4:
        return word.removesuffix("ies").removesuffix("y") + "i"
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word
