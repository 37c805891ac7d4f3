"""What a person or a model gives to say which texts are meant: words, or a regular expression between slashes."""

import re
from dataclasses import dataclass
from typing import Any

from memory_server.language import keys

_SLASHED = re.compile(r"/(?P<source>.+)/(?P<flags>[a-z]*)", re.DOTALL)
_FLAGS = {"i": "i", "m": "m", "s": "s", "u": "", "g": "", "y": "", "d": "", "v": ""}
"""JavaScript's flags as RE2 has them; whether texts are found does not depend on the others."""

_ESCAPE = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u(?:\{(?P<braced>[0-9A-Fa-f]{1,6})\}|(?P<four>[0-9A-Fa-f]{4}))"
    r"|.)",
    re.DOTALL,
)
"""Every escape, so that the second backslash of `\\\\u4e2d` begins none."""

MAX_PROGRAM = 1 << 16
"""Bytes that a compiled expression may take: what nests large repetitions is refused.

The worst that fits took 6 s for 200,000 characters, of 1 MB 55 s; `(?i)[\\p{L}_]+@\\p{L}+` fits.
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words are found whole and in any spelling (see `keys`), an expression as it stands."""

    words: str
    expression: Any = None

    def is_in(self, text: str) -> bool:
        if self.expression is not None:
            return self.expression.search(text) is not None
        return keys.found(self.words, text)


def parse(given: str) -> Pattern:
    """Words, or `/regex/flags`, which RE2 runs: in linear time, without lookaround and backreferences.

    Raises:
        ValueError: there are no words, or RE2 does not take the expression.
    """
    slashed = _SLASHED.fullmatch(given.strip())
    if slashed is None:
        if not given.strip():
            raise ValueError("holds no visible character")
        return Pattern(given.strip())
    unknown = [flag for flag in slashed["flags"] if flag not in _FLAGS]
    if unknown:
        raise ValueError(
            f"has the unknown flag `{unknown[0]}`: there are {', '.join(_FLAGS)}; "
            "of a path leave out the first slash, then it is words"
        )
    return Pattern("", _compile(slashed["source"], {_FLAGS[flag] for flag in slashed["flags"]}))


def _compile(source: str, flags: set[str]) -> Any:
    import re2  # 9 ms, and few servers are ever asked

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM
    set_flags = "".join(sorted(flags))
    try:
        return re2.compile(f"(?{set_flags})" * bool(set_flags) + _ESCAPE.sub(_hexadecimal, source), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(
            f"is no regular expression that RE2 takes ({reason}); it has no lookaround and no backreferences"
        ) from None


def _hexadecimal(escape: re.Match[str]) -> str:
    """JavaScript's `\\u4e2d`, `\\u{1f600}` and `\\ud83d\\ude00` as RE2 writes a character; others as they stand."""
    if escape["high"]:
        return (
            rf"\x{{{0x10000 + (int(escape['high'], 16) - 0xD800 << 10) + int(escape['low'], 16) - 0xDC00:x}}}"
        )
    point = escape["braced"] or escape["four"]
    return rf"\x{{{point}}}" if point else escape[0]
