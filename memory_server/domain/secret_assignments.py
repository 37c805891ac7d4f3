"""A secret that only its name tells: `DB_PASSWORD=…`, "the root password is …", 密码是…"""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from typing import Any

import re2

from memory_server.domain.secret_values import is_key, is_password, is_strong
from memory_server.language.lazy import lazy

_PASSWORDS = r"password|passwort|passwd|passphrase|passcode|pwd|[_.]pass\b|[_.]pw\b|密码|密碼|口令"
_KEYS = (
    "(?:api|access|secret|private|encryption|signing|master|account|auth)[ _.-]?key|secret|token|bearer|credentials?"
    "|密钥|密鑰|秘钥|令牌|私钥"
)
_COMMANDS = "identified by|sshpass -p"
"""What a password follows at once."""

_PUBLIC = re.compile(
    r"(?i)(?:next|page|continuation|cursor|sync|csrf|xsrf|eos|bos|pad|unk|mask|sep|cls|stop|special|public|publishable"
    r"|idempotency|partition)[ _.-]?(?:page|key)?[ _.-]?$"
)
"""What stands before the name of a key that is no secret."""

_QUOTE = r"[\"'`\\*「『“‘]"
_HAN = r"[^\x00-\x7f，。；、！？「」『』“”‘’]"

_TO_THE_VALUE = lazy(
    rf"""
    (?: s | [_.]value )? [\"'`\\*)\]]{{0,4}}
    (?:[ ]?\([^()\n]{{0,40}}\))?                                                # password (staging):
    (?:
        (?:\s(?:for|of|on|to|at|in)\s[^\n.:=,;?]{{1,60}}?)?                       # password for the staging box is
        (?:
            \*{{0,2}}\s{{0,3}}(?:=>|:=|={{1,2}}|:|->|→)\*{{0,2}}\s{{0,3}}
          | ,?\s{{1,20}}[\"']?value[\"']?\s{{0,3}}[:=]\s{{0,3}}                   # name: DB_PASSWORD, value:
          | \s{{1,3}}(?:is|was|becomes)(?:\s(?:now|still|currently|set\sto))?\s?:?\s{{1,3}}
          | \s(?:(?:has\sbeen|was|is|now)\s)?(?:(?:set|changed|reset)\s)?to\s{{1,3}}
          | \?\s{{1,3}}(?:(?:it\sis|it's|that\sis|that's|是|就是)\s?)?
        )
      | {_HAN}{{0,8}}? (?:\([^()\n]{{0,20}}\))? (?:是|为|為|設為|改成|设成|换成|:|=|→) 了? [:\s]{{0,3}}
      | {_HAN}{{0,8}}? \?\s{{0,3}} (?:是|就是)?
      | (?P<bare>[ \t]{{1,2}}|(?<=[^\x00-\x7f]))
    )
    (?P<quote>{_QUOTE}{{0,4}})
    (?P<value>(?<=[\"'`])[!\#-&(-_a-~]{{6,100}}|[!\#$%()*+\-./0-9:=?@A-Z\[\]^_a-z{{}}~]{{6,100}})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE = 24
"""Characters before the name of a key that can say it is public."""

_TRAILING = ".,:;?)]}*"
_CURL = re.compile(
    r"curl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]{1,64}:(?P<value>[^\s\"'<>]{6,200})"
)
_HEADER = re.compile(
    r"(?i)authorization[\"'`\])]{0,3}\s{0,2}[:=,]\s{0,2}[\"'`]?basic\s{1,3}(?P<value>[a-z0-9+/]{12,200}={0,2})(?![a-z0-9(])"
)


class _Name(IntEnum):
    """Kind of secret that a name announces; the value is the number of its group."""

    PASSWORD = 1
    KEY = 2
    COMMAND = 3
    CURL = 4
    HEADER = 5


def places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each secret that a text names: its kind, where it begins and where it ends.

    Linear time: after a name only so many characters are read.
    """
    for match in _names().finditer(text):
        start, end = match.span()
        name = _Name(match.lastindex)
        place = _value(text, start, end, name)
        if place is not None:
            kind = "a key or token" if name in (_Name.KEY, _Name.HEADER) else "a password"
            yield kind, *place


def _value(text: str, start: int, end: int, name: _Name) -> tuple[int, int] | None:
    """Return where the secret is that follows the name between `start` and `end`; None if none does."""
    if name is _Name.CURL:
        match = _CURL.match(text, start)
        return match.span("value") if match is not None and is_password(match["value"], quoted=True) else None
    if name is _Name.HEADER:
        match = _HEADER.match(text, start)
        return match.span("value") if match is not None and is_key(match["value"], quoted=True) else None
    match = _TO_THE_VALUE.match(text, end)
    if match is None:
        return None
    quoted = bool(match["quote"])
    value = match["value"] if quoted else match["value"].rstrip(_TRAILING)
    bare = match["bare"] is not None
    if name is _Name.KEY:
        holds = is_key(value, quoted=quoted) and not _PUBLIC.search(text, max(0, start - _BEFORE), start)
    else:
        strong = bare and name is _Name.PASSWORD
        holds = is_strong(value) if strong else is_password(value, quoted=quoted)
    return match.span("value") if holds else None


@cache
def _names() -> Any:
    options = re2.Options()
    options.case_sensitive = False
    return re2.compile(f"({_PASSWORDS})|({_KEYS})|({_COMMANDS})|(curl )|(authorization)", options)
