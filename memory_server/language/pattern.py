"""A search pattern given by a person or a model: words, or a regular expression between slashes."""

import re
from dataclasses import dataclass
from typing import Any

import re2

from memory_server.language import keys

_SLASHED = re.compile(r"/(?P<source>.+)/(?P<flags>[a-z]*)", re.DOTALL)
"""A regular expression in slashes, with flags as in JavaScript."""

_FLAGS = {"i": "i", "m": "m", "s": "s", "u": "", "g": "", "y": "", "d": "", "v": ""}
"""JavaScript's flags and their names in RE2; an empty name: the flag does not change which texts are found."""

_ESCAPE = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u(?:\{(?P<braced>[0-9A-Fa-f]{1,6})\}|(?P<four>[0-9A-Fa-f]{4}))"
    r"|.)",
    re.DOTALL,
)
"""Any escape, and so also `\\\\`: the second backslash of `\\\\u4e2d` starts no escape."""

MAX_PROGRAM = 1 << 16
"""Bytes of a compiled expression; nested large repetitions need more and are refused.

Measured: the slowest expression that fits takes 6 s for 200,000 characters (with 1 MB it would be 55 s), and ordinary
ones such as `(?i)[\\p{L}_]+@\\p{L}+` fit.
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Finds whole words in any spelling (see `keys`), or a regular expression in the unchanged text."""

    words: str
    expression: Any = None

    def is_in(self, text: str) -> bool:
        if self.expression is not None:
            return self.expression.search(text) is not None
        return keys.found(self.words, text)


def parse(text: str) -> Pattern:
    """Read words, or `/regex/flags`. RE2 runs the expression, so its time is linear in the length of the text.

    Raises:
        ValueError: there are no words, or RE2 does not accept the expression.
    """
    slashed = _SLASHED.fullmatch(text.strip())
    if slashed is None:
        if not text.strip():
            raise ValueError("has no visible character")
        return Pattern(text.strip())
    unknown = [flag for flag in slashed["flags"] if flag not in _FLAGS]
    if unknown:
        raise ValueError(
            f"has the unknown flag `{unknown[0]}`: the flags are {', '.join(_FLAGS)}; "
            "to search for a path, omit its leading slash"
        )
    return Pattern("", _compile(slashed["source"], {_FLAGS[flag] for flag in slashed["flags"]}))


def _compile(source: str, flags: set[str]) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM
    set_flags = "".join(sorted(flags))
    try:
        return re2.compile(f"(?{set_flags})" * bool(set_flags) + _ESCAPE.sub(_hexadecimal, source), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(
            f"is not a regular expression that RE2 accepts ({reason}); RE2 has no lookaround and no backreferences"
        ) from None


def _hexadecimal(escape: re.Match[str]) -> str:
    """JavaScript's `\\u4e2d`, `\\u{1f600}` and `\\ud83d\\ude00` as RE2 writes a character; other escapes unchanged."""
    if escape["high"]:
        return (
            rf"\x{{{0x10000 + (int(escape['high'], 16) - 0xD800 << 10) + int(escape['low'], 16) - 0xDC00:x}}}"
        )
    point = escape["braced"] or escape["four"]
    return rf"\x{{{point}}}" if point else escape[0]
