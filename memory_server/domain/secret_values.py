"""Tells whether a value could be a secret: random or chosen by a person, and no placeholder, name, path or code."""

import math
import re
from collections import Counter

LEAST_PASSWORD = 6
"""Characters of a password that a person chose: shorter ones are mostly numbers and words of the sentence."""

LEAST_KEY = 16
"""Characters of a key or token: the shortest that providers hand out."""

_KEY_ENTROPY = 2.75
"""Shannon bits per character of a key or token that only its name tells. Of 100,000 random values the lowest had 2.9
(32 hex digits) and 2.8 (16 letters and digits)."""

_SAYS_SO = (
    "example sample placeholder dummy redacted masked changeme change_me change-me replaceme replace_me replace-me"
    " insert_ insert- your_ your- xxxx **** ... …"
).split()
_STANDS_FOR_ONE = re.compile(
    r"(?:pass|passwd|password|passwort|pwd?|secret|token|user|key|value|string|none|null|true|false|undefined|todo)\d*"
    r"|.*[-_]here"
)
_REPEATED = re.compile(r"(.)\1{7,}")

_COUNTED = re.compile(r"(?i)abcdefg|1234567|7654321")
"""Counts up or down: a placeholder in a provider's key. People do choose 12345678 as a password."""

_SAMPLES = (
    "4eC39HqLyjWDarjtT1" + "zdp7dc",  # Stripe's documentation
    "AAHdqTcvCH1vGWJxfSeofSAs0K5" + "PALDsaw",  # Telegram's
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_" + "adQssw5c",  # jwt.io
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6" + "IFsuFq2UVErCz4I6tq",  # Azurite's
)
"""Ends of keys that vendors print in their documentation. Amazon's say EXAMPLE."""

_WORD = r"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,4}"
_WORDS = re.compile(
    rf"[-_./:=@+~#]*(?:{_WORD}|\d{{1,4}})(?:[-_./:=@+~#]+(?:{_WORD}|\d{{1,4}}))*[-_./:=@+~#]*"
)

_REFERENCE = re.compile(
    r"(?i)[/~.]|\$(?:[a-z_][a-z0-9_]*$|[{(]|[a-z0-9]{0,8}\$)|%|[{\[<(]"
    r"|(?:arn|data|enc|env|file|op|ref|sha\d*|ssm|vault|secretsmanager)[:\[-]|\w+://"
    r"|\d{4}-\d\d-\d\d"
)
"""How a path, a variable, a template, a hash, a reference to a vault or a day begins."""

_TECHNICAL = re.compile(
    r"(?i)(?:sha|md|rsa|aes|des|ecdsa|ecdh|ed|hs|rs|es|ps|base|utf|argon|bcrypt|scrypt|pbkdf|oauth|kms|jwt|pyjwt"
    r"|v|ver|version|db|id|http|tls|ssl|ipv|x|k|s|ec|p|py|python|node|java|u?int|float|str|char|varchar|step|level|page"
    r"|line|section|sec|chapter|part|phase|type|column|field|value|param|arg|user|row|item|test|code|env|var|name)"
    r"[-_]?\d+\w{0,8}"
)
"""Words with a number that are said of passwords and are none."""


def entropy(text: str) -> float:
    """Shannon bits per character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def is_placeholder(text: str) -> bool:
    """True if a text says that a secret belongs there, or repeats one character."""
    lower = text.lower()
    return (
        any(map(lower.__contains__, _SAYS_SO))
        or _STANDS_FOR_ONE.fullmatch(lower) is not None
        or _REPEATED.search(text) is not None
        or len(set(text)) == 1
    )


def is_made_up(text: str) -> bool:
    """True if a provider's key is a placeholder, counts up, or is printed in the provider's documentation."""
    return is_placeholder(text) or _COUNTED.search(text) is not None or any(map(text.__contains__, _SAMPLES))


_IN_NAMES_OF_TYPES = ("Key", "Token", "Secret", "Password", "Credential")


def is_words(text: str) -> bool:
    """True if a text consists of words and short numbers, as names, versions and paths do."""
    return _WORDS.fullmatch(text) is not None


def is_password(text: str, *, quoted: bool) -> bool:
    """True if the text in the place of a password is one: letters with digits or signs, or digits alone."""
    if len(text) < LEAST_PASSWORD or _is_elsewhere(text, quoted):
        return False
    if text.isdigit():
        return True
    if not re.search("[A-Za-z]", text) or _TECHNICAL.fullmatch(text):
        return False
    if is_words(text):
        return (
            text.isalnum() and not text.isalpha() and not text.isupper()
        )  # hunter2, but no name of a constant
    return True


def is_strong(text: str) -> bool:
    """True if a text is a password even though only the word "password" stands before it, without a sign or verb."""
    kinds = ("[a-z]", "[A-Z]", "[0-9]", r"[!@#$%^&*?+~]")
    return (
        len(text) >= 8
        and not re.search("[\"'`=(){}<>|:]", text)
        and is_password(text, quoted=False)
        and not is_words(text)
        and sum(re.search(kind, text) is not None for kind in kinds) >= 3
    )


def is_key(text: str, *, quoted: bool) -> bool:
    """True if the text in the place of a key or token is one: long and random."""
    return (
        len(text) >= LEAST_KEY
        and not _is_elsewhere(text, quoted)
        and not text.isdigit()
        and not is_words(text)
        and not any(map(text.__contains__, _IN_NAMES_OF_TYPES))
        and entropy(text) >= _KEY_ENTROPY
        and not is_made_up(text)
    )


def _is_elsewhere(text: str, quoted: bool) -> bool:
    """True if a value is a placeholder, code, or says where the secret is."""
    if _REFERENCE.match(text) or is_placeholder(text):
        return True
    return not quoted and re.search(r"[(\[{]", text) is not None
