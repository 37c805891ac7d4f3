"""The words of a text that tell something, cut to their stems; and its numbers, codes and addresses."""

import re
from collections.abc import Iterator
from typing import Final

from memory_server.language import numbers
from memory_server.language.query import ENGLISH_STOP_WORDS
from memory_server.language.text import HAN, fold

STEM: Final = 6
"""Letters of a word that count."""

_FRAME = re.compile("用户|团队|我们|说[:：]")
"""What a model begins with, in Chinese, when it stores something of a user."""

_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’][^\W\d_{HAN}]+)?")
HAN_LETTER = re.compile(f"[{HAN}]")
_CODE = re.compile(r"[a-z0-9](?:[a-z0-9_@.-]*[a-z0-9])?")
_DOTTED = re.compile(r"[a-z0-9_@-]+(?:\.[a-z0-9_-]+)*\.[a-z]{2,}")
_DATE = re.compile(r"(?:19|20)\d\d(?:[.-]\d\d?){0,2}")
_FILE = re.compile(
    r"\.(?:cfg|conf|css|csv|db|html?|ini|jsonl?|js|jsx|lock|log|md|pdf|png|py|rs|sh|sql|svg|toml|tsx?|txt|xml|ya?ml)$"
)
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ments?|ations?|ions?|ings?|edly|ed|ers?|ly|es|s|e|y)$")
_STOPS: Final = ENGLISH_STOP_WORDS | frozenset(
    """
    always never must shall should all any every each please may might will would use used using
    user users user's said says team
    的 了 是 在 和 与 或 也 就 都 而 及 着 把 被 给 对 从 到 由 等 这 那 其 之 不 一 个 有 要 会 可 以 为 我 你 他 们
    """.split()
)
"""Words that tell nothing of a text, and those with which a model begins what it stores of a user."""

_SIGNS: Final = {
    **dict.fromkeys(["not", "no", "never", "nor", "don't", "didn't", "doesn't", "不"], "not"),
    **{word: word for word in ("before", "after", "only", "over", "under", "off")},
}
"""Words that tell nothing of a text and yet turn the word behind them into another: it has a sign."""


def words(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the stems of the words that tell something, each with its word and its sign; of Chinese each character."""
    sign = ""
    for run in _RUN.findall(_FRAME.sub(" ", fold(numbers.in_digits(text)))):
        for word in run if HAN_LETTER.match(run) else (run,):
            if word in _STOPS:
                sign = _SIGNS.get(word, sign)
            else:
                yield _stem(word), word, sign
                sign = ""


def _stem(word: str) -> str:
    return word if any(map(str.isdigit, word)) else _ENDING.sub("", word)[:STEM]


def codes(text: str) -> Iterator[str]:
    """Yield addresses, numbers of four digits and more, and codes: each tells by itself where it came from."""
    return filter(_is_code, _CODE.findall(fold(numbers.in_digits(text))))


def _is_code(token: str) -> bool:
    """True for an address, a number of four digits that is no year and no date, or three digits among letters."""
    if _DOTTED.fullmatch(token):
        return _FILE.search(token) is None
    digits = sum(map(str.isdigit, token))
    return digits >= (4 if token[0].isdigit() else 3) and not _DATE.fullmatch(token)
