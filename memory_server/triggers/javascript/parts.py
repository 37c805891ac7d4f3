"""The parts of a JavaScript trigger between its outermost `&&` and `||`: their values say why it is true or false."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from memory_server.triggers.javascript.names import Token, tokens_of

MOST_PARTS = 6
"""Parts that are evaluated and shown."""

SHOWN = 60
"""Characters of a part that are shown."""

MOST_CACHED = 256
"""Triggers whose parts are kept for the next search."""

MOST_CHARACTERS = 500
"""Characters of an explanation."""

_OPENING, _CLOSING = "([{", ")]}"
_DECLARING = frozenset(
    ["const", "let", "var", "function", "class", "if", "for", "while", "do", "switch", "try"]
)
_BINDING_LESS = frozenset(["=>", "?", ",", "=", "??"])
"""Signs that bind their operands less strongly than `||`."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The statements before the last expression, and the parts of it; none where it has only one."""

    before: str
    sources: tuple[str, ...]

    def scripts(self) -> list[str]:
        """What gives the value of each part."""
        return [f"{self.before}\n({source})" for source in self.sources]

    def told(self, answer: dict[str, Any]) -> str:
        """The worker's answer in words: the value of each part, of each call of match_keys, and what was found."""
        values = answer.get("values")
        said = []
        if isinstance(values, list):
            said = [
                f"{_shown(source)}: {value}"
                for source, value in zip(self.sources, values, strict=False)
                if isinstance(value, str)
            ]
        said += [text for text in (answer.get("counts"), answer.get("why")) if isinstance(text, str) and text]
        told = "; ".join(said)
        return told if len(told) <= MOST_CHARACTERS else f"{told[:MOST_CHARACTERS]}…"


@lru_cache(maxsize=MOST_CACHED)
def parts_of(source: str) -> Parts:
    """The parts; one that is the whole source, where it is no expression or cannot be read."""
    tokens = tokens_of(source)
    begin = _last_statement(tokens)
    if begin is None:
        return Parts("", (source,))
    end = len(tokens)
    while end > begin and tokens[end - 1].text == ";":
        end -= 1
    cuts: list[int] = []
    depth = 0
    for index in range(begin, end):
        token = tokens[index]
        if token.kind != "sign":
            continue
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth == 0 and token.text in _BINDING_LESS:
            cuts = []
            break
        if depth == 0 and token.text in ("&&", "||"):
            cuts.append(index)
    bounds = [begin - 1, *cuts, end]
    sources = tuple(_cut(source, tokens[first + 1 : last]) for first, last in pairwise(bounds))
    before = source[: tokens[begin].at] if begin < len(tokens) else ""
    return Parts(before, sources[:MOST_PARTS])


def _last_statement(tokens: list[Token]) -> int | None:
    """The index of the first token of the last statement, if that is an expression."""
    begin = depth = 0
    for index, token in enumerate(tokens[:-1]):
        if token.kind == "sign":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth == 0 and token.text == ";":
                begin = index + 1
    return None if not tokens or tokens[begin].text in _DECLARING or tokens[begin].text == ";" else begin


def _cut(source: str, tokens: list[Token]) -> str:
    return source[tokens[0].at : tokens[-1].at + len(tokens[-1].text)] if tokens else ""


def _shown(source: str) -> str:
    line = " ".join(source.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
