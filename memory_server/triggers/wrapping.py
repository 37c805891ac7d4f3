"""Takes away the quotation marks or the fence of a code block around a trigger that was copied from a text."""

import re

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\r?\n(.*?)\r?\n?```\s*", re.DOTALL)
_QUOTED = re.compile(r"""\s*(['"`])(.*)\1\s*;?\s*""", re.DOTALL)
_CODE = re.compile(r"\b(?:match_keys(?:_all)?|similar)\s*\(|\bmessages\b|\bnew Date\(")
"""What no text that is meant as a text contains."""


def unwrapped(source: str) -> str:
    """The trigger inside, if the whole source is one; else the source.

    A text in quotation marks would be a trigger that is always true.
    """
    fence = _FENCE.fullmatch(source)
    if fence:
        return unwrapped(fence[1])
    quoted = _QUOTED.fullmatch(source)
    if quoted is None or not _CODE.search(quoted[2]):
        return source
    mark, inner = quoted[1], quoted[2]
    if mark in re.sub(r"\\.", "", inner) or (mark == "`" and "${" in inner):
        return source  # `'a' + messages.length + 'b'`
    plain = inner.replace("\\n", "\n") if "\n" not in inner else inner
    return re.sub(r"\\(['\"`])", r"\1", plain)
