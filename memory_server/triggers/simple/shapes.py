"""Tells of conditions of the most common shapes that they are false, without parsing them: a hundred times as fast.

The shape: calls of `match_keys` or `match_keys_all` with a list of plain literals, each alone or followed by `&&` and
more, joined by `||`. Where no call finds its keys, each operand of `||` begins with one that is false, so all of it is.
"""

import re
from collections.abc import Sequence

from memory_server.language.keys import EDGE, Said, needle

_LITERAL = r"""(?:'[^'\\|\n\r]*'|"[^"\\|\n\r]*")"""

_CALL = re.compile(
    r"\s*match_keys(?P<all>_all)?\(\s*(?:context\.)?messages\s*,"
    rf"\s*\[(?P<keys>\s*{_LITERAL}\s*(?:,\s*{_LITERAL}\s*)*)\]"
    r"(?:\s*,\s*(?:'[a-z]*'|\"[a-z]*\"|[0-9]+))*\s*\)"
    r"\s*(?:>=?\s*[1-9][0-9]*|>\s*0)?"
    r"\s*(?:$|;\s*$|&&[^;?\n\r]*$)"
)
_KEYS = re.compile(_LITERAL)
_PLAIN = re.compile("[A-Za-z0-9]+")
"""Words whose fold is themselves in lower case."""


def is_surely_false(source: str, messages: Sequence[Said]) -> bool:
    """Whether the shape of a source and its keys show that it is false; False where that cannot be told cheaply."""
    return all(_is_false(operand, messages) for operand in source.split("||"))


def _is_false(operand: str, messages: Sequence[Said]) -> bool:
    call = _CALL.match(operand)
    if call is None:
        return False
    found = (_may_be_found(written[1:-1], messages) for written in _KEYS.findall(call["keys"]))
    return not all(found) if call["all"] else not any(found)


def _may_be_found(key: str, messages: Sequence[Said]) -> bool:
    """False where a key is in none of these messages. Of plain words the first one decides."""
    plain = _PLAIN.match(key)
    if (
        plain is not None
        and key.replace(" ", "").isascii()
        and (plain.end() == len(key) or key[plain.end()] == " ")
    ):
        wanted = f"{EDGE}{plain[0].lower()}{EDGE}"
    else:
        wanted = needle(key)
    return wanted != "" and any(wanted in said.searchable for said in messages)
