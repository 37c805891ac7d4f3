"""The parts of a JavaScript trigger between its outermost `&&` and `||`: their values say why it is true or false."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memory_server.triggers.javascript.names import Token, closing, tokens_of

MOST_PARTS = 6
"""Parts that are evaluated."""

MOST_CACHED = 256
"""Triggers whose parts are kept for the next search."""

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


def calls_of(source: str, name: str) -> list[str]:
    """The calls of a function in a source, as written."""
    tokens = tokens_of(source)
    return [
        _cut(source, tokens[index : closing(tokens, index + 1) + 1])
        for index, token in enumerate(tokens[:-1])
        if (token.kind, token.text, tokens[index + 1].text) == ("name", name, "(")
        and (index == 0 or tokens[index - 1].text not in (".", "?.", "function"))
    ]


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
