"""Finds text that looks like a credential. It is refused, because every assistant can read a memory."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from memory_server.errors import Invalid, Mend

_START = "(?<![A-Za-z0-9])"
"""No ASCII letter or digit comes before a key. (A word boundary is too strict: Chinese characters or `_` may.)"""

_PATTERNS = {
    "a private key": re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"),
    "an API key (sk-…)": re.compile(_START + r"sk-(?:[A-Za-z0-9]+-)*(?=[A-Za-z0-9_]*\d)[A-Za-z0-9_]{16,}"),
    "a GitHub token": re.compile(_START + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    "an AWS access key": re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "a Slack token": re.compile(_START + r"xox[abprs]-[A-Za-z0-9-]{10,}"),
    "a Google API key": re.compile(_START + r"AIza[A-Za-z0-9_-]{35}"),
    "a password in an address": re.compile(_START + r"[a-z][a-z0-9+.-]{0,30}://[^\s:/@]+:[^\s:/@*<{$]{3,}@"),
    "a JSON web token": re.compile(_START + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
}
"""The kinds of credentials with their patterns: the prefixes, characters and lengths that their issuers use."""


def refuse_secrets(*values: Any) -> None:
    """Raises Invalid where these JSON values seem to contain a credential."""
    kind = find_secret(*values)
    if kind is not None:
        raise Invalid(
            f"This seems to contain {kind}, and every assistant can read a memory. Nothing was stored. "
            "Leave the secret out and say where it is kept.",
            Mend.ALLOW_SECRETS,
        )


def find_secret(*values: Any) -> str | None:
    """The kind of credential that these JSON values seem to contain, or None. Never the credential itself."""
    text = unicodedata.normalize("NFKC", "\n".join(_texts(values)))
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.search(text)), None)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, each in value.items():
                yield key
                yield from _texts(each)
        case list() | tuple():
            for each in value:
                yield from _texts(each)
