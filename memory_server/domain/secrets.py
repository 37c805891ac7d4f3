"""Text that holds a credential: a memory is read by every assistant, so it is no place for one."""

import unicodedata
from collections.abc import Iterator
from typing import Any

from memory_server.domain import secret_assignments, secret_formats
from memory_server.errors import Invalid, Mend
from memory_server.language.text import stream_safe


def refuse_secrets(*values: Any) -> None:
    """Raises Invalid where these JSON values, all that one call writes, hold a credential."""
    kind = find_secret(*values)
    if kind is not None:
        raise Invalid(
            f"This looks like it holds {kind}, and every assistant can read a memory. Nothing was stored. "
            "Leave the secret out and say where it is kept.",
            Mend.ALLOW_SECRETS,
        )


def find_secret(*values: Any) -> str | None:
    """What kind of credential these JSON values hold, or None. Never the credential itself.

    A value inside an object is read as `name: value`. All texts are read one after the other, and once more without
    anything between them: a credential may be cut into pieces.
    """
    texts = list(_texts(values))
    lines = _normal("\n".join(text if name is None else f"{name}: {text}" for name, text in texts))
    kind = secret_formats.kind_in(lines) or secret_assignments.kind_in(lines)
    if kind is None and len(texts) > 1:
        kind = secret_formats.kind_in(_normal("".join(text for _, text in texts)))
    return kind


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
            for key, each in value.items():
                yield None, key
                yield from _texts(each, key)
        case list() | tuple():
            for each in value:
                yield from _texts(each, name)
