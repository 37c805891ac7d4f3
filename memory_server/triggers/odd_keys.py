"""Keys of match_keys that are probably meant otherwise than they are searched for."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from memory_server.language.keys import UNSPACED
from memory_server.language.text import visible

_REGEX = re.compile(r"/(.+)/([a-z]*)")
_ESCAPE = re.compile(r"\\[bBdDsSwW.]|\.\*|\.\+|\[[^\]]+\][+*?]|^\^|\w\$$|\(\?:|\([^()]+\|[^()]+\)")
_COMMA = re.compile("\\s*[,;，、；]\\s*")
_BLANK = re.compile(f"(?<=[{UNSPACED}]) +(?=[{UNSPACED}])")
_CODE = frozenset(["||", "|", "*", "**", "*/", "/*"])
"""Keys that are signs of programming languages."""


_COUNTED = frozenset(
    """account alarm alert animal answer appointment assignment backup batch bill booking box bug bus cake
    call card cat class client coat commit complaint concert conflict contract cookie course crash customer date
    delivery deploy deployment diagram discount doctor document dog dose draft driver email error essay event
    exam exception expense export failure fee file flight game gift goal grade guest holiday hotel idea import incident
    ingredient interview invoice item key kid landlord leak lecture lesson letter lock loan log match meal meeting
    message migration mistake node note number offer order outage paper parcel party password patient payment photo pill
    plan plant playlist pod policy present price problem product promise prompt query question quote rash
    receipt recipe refund release reminder rent report request return review rule salary sale schedule schema secret
    seed server service session shift shoe shop song stitch student subscription supplier symptom table task tax
    teacher test ticket token train transfer trip tyre update user vaccine vegetable version visit visitor wage walk
    warning wedding weekend word workshop""".split()
)
"""Nouns that people count: who looks for one of them means more than one of them too."""


def warnings(keys: Iterable[str]) -> Iterator[str]:
    texts = list(keys)
    for key in texts:
        if warning := _warning(key):
            yield warning
    yield from _plurals({key.strip().lower() for key in texts})


def _plurals(keys: AbstractSet[str]) -> Iterator[str]:
    """Warn once of the whole words that miss their plural, where no other key finds it."""
    missed = [key for key in sorted(keys) if _is_counted(key) and _plural(key) not in keys]
    if missed:
        mends = ", ".join(_both(key) for key in missed[:3])
        yield (
            f"Keys match whole words: '{missed[0]}' does not find '{_plural(missed[0])}'. To find both, write {mends}."
        )


def _is_counted(key: str) -> bool:
    return key.rpartition(" ")[2] in _COUNTED


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def _both(noun: str) -> str:
    """Return the regular expression for a noun and its plural."""
    plural = _plural(noun)
    if not plural.startswith(noun):
        return f"/\\b{noun[:-1]}(?:y|ies)\\b/i"
    return f"/\\b{plural}?\\b/i" if plural == f"{noun}s" else f"/\\b{noun}(?:es)?\\b/i"


def _warning(key: str) -> str:
    if not key.strip():
        return "A key is empty, so it is never found."
    unseen = next((sign for sign in key if _is_unseen(sign)), "")
    if unseen:
        code = f"U+{ord(unseen):04X}"
        return f"The key '{visible(key)}' holds {code}, which nobody sees and few messages have. Remove it."
    regex = _REGEX.fullmatch(key.strip())
    if regex:
        return _said(key, "with its slashes", f"a regular expression without quotes: {key.strip()}")
    if _ESCAPE.search(key):
        return _said(key, "sign by sign", f"a regular expression: /{key.replace('/', chr(92) + '/')}/i")
    if key.strip() in _CODE:
        return "" if key.strip() != "*" else _said(key, "as this sign", "/./ for any text")
    if "|" in key:
        parts = [part.strip() for part in key.split("|") if part.strip()]
        return _said(key, "with the sign |", f"several keys: {_listed(parts)}")
    if "*" in key:
        return _said(key, "with the sign *", f"a regular expression: /{re.escape(key.replace('*', ''))}/i")
    parts = [part for part in _COMMA.split(key) if part]
    if len(parts) > 1 and all(len(part) <= 20 and not re.fullmatch(r"\d+", part) for part in parts):
        return _said(key, "as one text", f"several keys: {_listed(parts)}")
    if _BLANK.search(key):
        return _said(
            key, "with its blank", f"several keys: {_listed(_BLANK.split(key))}, or one without a blank"
        )
    return ""


def _is_unseen(sign: str) -> bool:
    """Return True if it is invisible and joins nothing: emoji and Persian words are joined by invisible signs."""
    return unicodedata.category(sign) == "Cf" and sign not in "\u200c\u200d"


def _said(key: str, how: str, mend: str) -> str:
    shown = key if len(key) <= 40 else f"{key[:40]}…"
    return f"The key '{shown}' is searched for {how}. If you did not mean that, write {mend}."


def _listed(parts: list[str]) -> str:
    return "[" + ", ".join(f"'{part}'" for part in parts[:5]) + "]"
