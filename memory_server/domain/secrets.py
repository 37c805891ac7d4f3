"""Text that looks like a credential: a memory is read by every assistant, so it is no place for one."""

import re

_PATTERNS = {
    "a private key": re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"),
    "an API key (sk-…)": re.compile(r"\bsk-(?=[A-Za-z_-]*\d)(?:[a-z]+-)*[A-Za-z0-9_-]{20,}"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "a Google API key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
    "a JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
}


def find_secret(text: str) -> str | None:
    """What kind of credential the text seems to hold, or None. Never the credential itself."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.search(text)), None)
