"""Finds in JavaScript the names that are used but not declared, and the regular expressions.

It reads tokens, not grammar. In doubt it takes a name as declared, because the result is only used for a warning. For a
long source it finds nothing, because its time could grow with the square of the length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_CHARACTERS = 4000
"""The longest source that is read, in characters. A choice: it bounds the time, which may be quadratic."""

MOST_TOKENS = 1000
"""The most tokens of a source that is read; for the same reason."""

_TOKEN = re.compile(
    r"(?P<space>(?:\s|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)+)"
    r"|(?P<text>'(?:[^'\\\n\r]|\\[\s\S])*'|\"(?:[^\"\\\n\r]|\\[\s\S])*\")"
    r"|(?P<number>\.?\d(?:[\w.]|(?<=[eE])[+-])*)"
    r"|(?P<name>[#@]?[^\W\d][\w$]*|[#@]?\$[\w$]*)"
    r"|(?P<sign>\.\.\.|\?\.(?!\d)|=>|[=!]==?|[<>*&|?+-]+=?|[-+*/%^]=|[\s\S])"
)
"""One token of JavaScript, except regular expressions and templates."""

_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[a-z]*")
"""A regular expression literal."""

_TEMPLATE = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?P<end>`|\$\{|$)")
"""The text of a template up to its end or its next `${`."""

_RESERVED = frozenset(
    """arguments as async await break case catch class const continue debugger default delete do else eval export
    extends false finally for from function get if import in instanceof let new null of return set static super
    switch this throw true try typeof undefined var void while with yield""".split()
)
"""Keywords and other words of the language, which are never taken for undeclared names."""

_BEFORE_VALUE = frozenset(
    "return typeof case in of delete void throw new else do instanceof yield await".split()
)
"""Words after which `/` starts a regular expression."""

_BEFORE_CONDITION = frozenset("if while switch for with".split())
"""Words whose brackets contain no parameters."""

_OPENING, _CLOSING = "([{", ")]}"
_ASSIGNING = frozenset(["=", "+=", "-=", "*=", "/=", "%="])
"""Operators that, after a name, count as its declaration."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is text, number, name, regex, template or sign; `at` is the index where it begins."""

    kind: str
    text: str
    at: int


def undeclared(source: str) -> dict[str, int]:
    """Each name that is used and not declared, with the index of its first use."""
    tokens = tokens_of(source)
    known = _RESERVED | set(_declared(tokens))
    found: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text not in known and _refers(tokens, index):
            found.setdefault(token.text, token.at)
    return found


def regexes(source: str) -> list[tuple[str, int]]:
    """The regular expression literals, each with its index in the source."""
    return [(token.text, token.at) for token in tokens_of(source) if token.kind == "regex"]


def tokens_of(source: str) -> list[Token]:
    """The tokens of a source without its spaces and comments; none if it is too long to be read."""
    tokens = list(_scan(source)) if len(source) <= MOST_CHARACTERS else []
    return tokens if len(tokens) <= MOST_TOKENS else []


def _scan(source: str) -> Iterator[Token]:
    at = 0
    last = Token("sign", "", 0)
    open_braces: list[str] = []
    while at < len(source):
        found = _REGEX.match(source, at) if source[at] == "/" and _value_may_follow(last) else None
        kind = "regex"
        if found is None:
            found = _TOKEN.match(source, at)
            if found is None:
                return
            kind = str(found.lastgroup)
        text = found[0]
        if text == "{":
            open_braces.append("{")
        in_template = text == "`" or (text == "}" and open_braces and open_braces.pop() == "`")
        begin, at = at, found.end()
        if in_template:
            part = _TEMPLATE.match(source, at)
            at = part.end() if part else len(source)
            kind = "template"
            if part and part["end"] == "${":
                open_braces.append("`")
                kind, text = "sign", ","  # what follows is a value
        if kind != "space":
            last = Token(kind, text, begin)
            yield last


def _value_may_follow(last: Token) -> bool:
    if last.kind == "sign":
        return last.text not in (")", "]")
    return last.kind == "name" and last.text in _BEFORE_VALUE


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""


def closing(tokens: list[Token], index: int) -> int:
    """The index of the token that closes the bracket at `index`; of the last token if none does."""
    depth = 0
    for at in range(index, len(tokens)):
        if tokens[at].kind == "sign":
            depth += (tokens[at].text in _OPENING) - (tokens[at].text in _CLOSING)
        if depth <= 0:
            return at
    return len(tokens) - 1


def _declared(tokens: list[Token]) -> Iterator[str]:
    for index, token in enumerate(tokens):
        following = _text(tokens, index + 1)
        if token.kind == "name":
            if token.text in ("let", "const", "var"):
                yield from _bound(tokens, index + 1)
            elif token.text in ("class", "function"):
                yield _text(tokens, index + 1 + (following == "*"))
            elif following == "=>" or following in _ASSIGNING:
                yield token.text
        elif token.text == "(" and _text(tokens, index - 1) not in _BEFORE_CONDITION:
            close = closing(tokens, index)
            if _text(tokens, close + 1) in ("=>", "{"):
                yield from (inner.text for inner in tokens[index:close] if inner.kind == "name")


def _bound(tokens: list[Token], index: int) -> Iterator[str]:
    """The names that a declaration declares: those in its patterns, not those in the values assigned to them."""
    in_pattern = True
    while index < len(tokens):
        token = tokens[index]
        if token.text in (";", "of", "in", ")"):
            return
        if token.text in ("=", ","):
            in_pattern = token.text == ","
        elif token.kind == "sign" and token.text in _OPENING:
            close = closing(tokens, index)
            if in_pattern:
                yield from (inner.text for inner in tokens[index:close] if inner.kind == "name")
            index = close
        elif token.kind == "name" and in_pattern:
            yield token.text
        index += 1


def _refers(tokens: list[Token], index: int) -> bool:
    """Whether the name refers to a variable: no property, key, label, method or operand of `typeof`."""
    before, after = _text(tokens, index - 1), _text(tokens, index + 1)
    if (
        before in (".", "?.", "typeof", "break", "continue", "function", "class")
        or tokens[index].text[0] in "#@"
    ):
        return False
    if after == ":" and before in ("", "{", ",", ";", "}"):
        return False
    return not (after == "(" and _text(tokens, closing(tokens, index + 1) + 1) == "{")


def position(source: str, at: int) -> str:
    """An index of the source in words: `line 1, column 5`."""
    lines = re.split("\r\n|[\n\r\u2028\u2029]", source[:at])
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"
