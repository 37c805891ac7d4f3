"""Finds text that contains a credential. It is refused, because every assistant can read a memory."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from memory_server.domain import secret_assignments, secret_formats
from memory_server.errors import Invalid, Mend
from memory_server.language.text import stream_safe

_PIECES = 8
"""Texts in a row over which a credential that was cut is put together."""

_REACH = 300
"""Characters on each side of a cut that are read again; few credentials are longer."""

_REST = re.compile(r"[^\s\"'`<>,;)]+")
"""What follows a credential in the same word: of a long one only the beginning is looked at."""

_REST_OF_A_KEY = re.compile(
    r".*?(?:-----END [A-Z0-9 ]{0,40}-----|---- END SSH2 [A-Z ]{0,40}----|\Z)", re.DOTALL
)
"""What follows the first line of a private key: the key."""

_LAST_WORD = re.compile(r"[!-~]+$")


def refuse_secrets(*values: Any) -> None:
    """Raises Invalid where these JSON values, all that one call writes, hold a credential."""
    kind = find_secret(*values)
    if kind is not None:
        raise Invalid(
            f"This seems to contain {kind}, and every assistant can read a memory. Nothing was stored. "
            "Leave the secret out and say where it is kept.",
            Mend.ALLOW_SECRETS,
        )


def find_secret(*values: Any) -> str | None:
    """The kind of credential that these JSON values hold, or None. Never the credential itself.

    A value inside an object is read as `name: value`. The texts are read one after the other, and then once more where
    one ends and the next begins: a credential may be cut into pieces.
    """
    texts = list(_texts(values))
    lines = _normal("\n".join(f"{name}: {text}" if name else text for name, text in texts))
    credential = next(_places(lines), None)
    if credential is None and len(texts) > 1:
        seams = _normal("\n".join(_seams([text for _, text in texts if text])))
        credential = next(secret_formats.places(seams), None)
    return credential and credential[0]


def redacted(text: str) -> str:
    """Return a text with what it holds of credentials cut out: the kind of each stands in its place.

    Where one is left all the same, because it is cut into pieces, nothing of the text is returned.
    """
    if find_secret(text) is None:
        return text
    text = _normal(text)
    parts, last = [], 0
    for kind, start, end in sorted(_places(text), key=lambda place: place[1]):
        if start >= last:
            parts.append(f"{text[last:start]}[{kind} was here]")
            behind = _REST_OF_A_KEY if kind == "a private key" else _REST
            match = behind.match(text, end)
            last = end if match is None else match.end()
    text = "".join([*parts, text[last:]])
    return "[a credential was here]" if find_secret(text) else text


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind of each credential, where it begins and where it ends: those known by their format first."""
    yield from secret_formats.places(text)
    yield from secret_assignments.places(text)


def _seams(texts: Sequence[str]) -> Iterator[str]:
    """The end of each text with the beginning of those after it: the last word alone, and all that is near."""
    for number, text in enumerate(texts[:-1]):
        following = "".join(text[:_REACH] for text in texts[number + 1 : number + _PIECES])[:_REACH]
        near = text[-_REACH:]
        yield near + following
        if word := _LAST_WORD.search(near):
            yield word[0] + following


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", stream_safe(text))


def _texts(value: Any, name: str | None = None) -> Iterator[tuple[str | None, str]]:
    """Every text in a JSON value with the name that it has, if any."""
    match value:
        case str():
            yield name, value
        case bool() | None:
            pass
        case int() if name is not None:
            yield name, str(value)
        case dict():
            for key, element in value.items():
                if not isinstance(element, str):
                    yield None, key
                yield from _texts(element, key)
        case list() | tuple():
            for element in value:
                yield from _texts(element, name)
