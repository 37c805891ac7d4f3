"""Words messages and help in Chinese: one catalogue, `chinese.json`, by the English text as it stands in the code.

`{}` in the English stands for a value of any length, and `{0}` in the Chinese for the first of these.
"""

import json
import re
from functools import cache
from pathlib import Path

from memory_server.cli import terminal

FILE = Path(__file__).with_name("chinese.json")


def is_chinese() -> bool:
    return terminal.language() == "zh"


def translated(text: str) -> str:
    """Return a text in the language of the person: as it is, where the catalogue does not have it."""
    if not text or not is_chinese():
        return text
    exact, patterns = _read()
    plain = " ".join(text.split())
    if (whole := exact.get(plain)) is not None:
        return whole
    for pattern, words in patterns:
        if match := pattern.fullmatch(plain):
            # A value that is a sentence may be one of ours; a single word is the person's own.
            return words.format(
                *(exact.get(value, value) if " " in value else value for value in match.groups())
            )
    return text


@cache
def _read() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Read the texts without a value, and patterns of those with values, the longest first."""
    catalogue: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    exact = {english: chinese for english, chinese in catalogue.items() if "{}" not in english}
    with_values = sorted((english for english in catalogue if "{}" in english), key=len, reverse=True)
    return exact, [
        (re.compile(re.escape(english).replace(r"\{\}", "(.+?)"), re.DOTALL), catalogue[english])
        for english in with_values
    ]
