"""The tokens of JavaScript that simple conditions are made of."""

import re
from dataclasses import dataclass

from memory_server.language.keys import RegexKey
from memory_server.triggers.simple.pattern import NotSimple, translate

_SPACE = re.compile(
    r"(?:[\t\v\f \xa0\ufeff\n\r\u2028\u2029\u1680\u2000-\u200a\u202f\u205f\u3000]"
    r"|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<number>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_$.]))"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|(?P<text>'(?:[^'\\\n\r]|\\[^\n\r])*'|\"(?:[^\"\\\n\r]|\\[^\n\r])*\"|`(?:[^`\\$\n\r]|\\[^\n\r])*`)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||=>|\?\.(?![0-9])|\?\?=?|(?:\+\+|--|\*\*|<<|>>)|[-+*/%]=|\.\.\.|[-+*/%<>!()\[\].,;={}?:])"
)
_REGEX = re.compile(
    r"/((?:[^\\/\[\n\r\u2028\u2029]|\\[^\n\r\u2028\u2029]|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)/([a-z]*)(?![0-9A-Za-z_$])"
)
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[ntrbfv'\"\\/])|x(?P<two>[0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})"
    r"|u\{(?P<many>0*[0-9a-fA-F]{1,6})\}|(?P<other>.))",
    re.DOTALL,
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
LINE_END = re.compile("[\n\r\u2028\u2029]")
"""What ends a line in JavaScript."""

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a UTF-16 pair, which no valid text contains alone."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is number, name, text, sign or end; `end` is the index where the next token begins."""

    kind: str
    text: str
    end: int


class Tokens:
    """Reads a source from its start; raises NotSimple for anything else than these tokens."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self._peeked: tuple[int, Token] | None = None
        self.gap = 0, 0
        """Where the spaces before the last token begin and end that was looked at."""

    def peek(self) -> Token:
        if self._peeked is not None and self._peeked[0] == self.at:
            return self._peeked[1]
        begin, self.at = self.at, self.skipped()
        if begin != self.at:
            self.gap = begin, self.at
        found = _TOKEN.match(self.source, self.at)
        if found is not None:
            token = Token(str(found.lastgroup), found[0], found.end())
        elif self.at == len(self.source):
            token = Token("end", "", self.at)
        else:
            raise NotSimple(f"at {self.at}")
        self._peeked = self.at, token
        return token

    def skipped(self) -> int:
        found = _SPACE.match(self.source, self.at)
        return found.end() if found else self.at

    def on_a_new_line(self) -> bool:
        """Whether a line ends before the next token."""
        self.peek()
        return self.gap[1] == self.at and LINE_END.search(self.source, *self.gap) is not None

    def take(self, kind: str) -> str:
        token = self.peek()
        if token.kind != kind:
            raise NotSimple(f"at {self.at}")
        self.at = token.end
        return token.text

    def taken(self, sign: str) -> bool:
        """Whether the next token is this sign; if so, it is consumed."""
        token = self.peek()
        if token.kind != "sign" or token.text != sign:
            return False
        self.at = token.end
        return True

    def demand(self, *texts: str) -> None:
        for text in texts:
            token = self.peek()
            if token.text != text:
                raise NotSimple(f"at {self.at}")
            self.at = token.end

    def regex(self) -> RegexKey:
        found = _REGEX.match(self.source, self.at)
        if found is None:
            raise NotSimple("no regular expression")
        self.at = found.end()
        return translate(found[1], found[2])


def unescaped(literal: str) -> str:
    """The string that a literal in quotes stands for."""
    text = _ESCAPE.sub(_character, literal[1:-1])
    if not SURROGATE.search(text):
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise NotSimple("a lone surrogate") from None


def _character(escape: re.Match[str]) -> str:
    if plain := escape["plain"]:
        return _PLAIN.get(plain, plain)
    code = escape["two"] or escape["four"] or escape["many"]
    if code is None or int(code, 16) > 0x10FFFF:
        raise NotSimple("an escape")
    return chr(int(code, 16))
