"""Reads the words of a command line: quotes, variables that the line sets, braces, substitutions.

What only the run shows, such as the output of a program, is UNKNOWN.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

UNKNOWN = "\x1a"
"""Stands in a word for text that is known only at run time; twice, alone, for any number of words."""

MANY = UNKNOWN * 2

DEEPEST = 12
"""How deep substitutions may lie in one another."""

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_PARAMETER = re.compile(r"\$(?:([A-Za-z_]\w*)|([0-9@*#?$!-]))")
_DEFAULT = re.compile(r"!?([A-Za-z_]\w*|[0-9@*])(?::?[-=](.*))?", re.DOTALL)
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b"}


@dataclass(slots=True)
class Simple:
    """A simple command. `source` is the command whose output it reads, `text` what it reads where the line says it.

    `reads` and `writes` are the files to which it is redirected, `code` the commands of its process substitutions.
    `runner` are the words that run it, such as `uv run`.
    """

    words: list[str] = field(default_factory=list)
    env: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    text: str | None = None
    source: "Simple | None" = None
    code: list["Simple"] = field(default_factory=list)
    runner: list[str] = field(default_factory=list)


Output = Callable[[list[Simple]], str | None]
"""Gives what commands print, where that is known."""


class Broken(Exception):
    """No shell takes the line."""


class WordReader:
    """Walks over a text once. `done` are the commands that were read, those of substitutions too."""

    def __init__(self, text: str, variables: dict[str, str], output: Output, depth: int) -> None:
        self.text, self.at, self.variables, self.output, self.depth = text, 0, variables, output, depth
        self.done: list[Simple] = []
        if depth > DEEPEST:
            raise Broken

    def run(self, until: str) -> None:
        """Read commands up to an unquoted sign, or to the end."""
        raise NotImplementedError

    def inner(self, text: str) -> Self:
        """Return a reader of another text with the same variables."""
        return type(self)(text, self.variables, self.output, self.depth + 1)

    def take_until(self, mark: str, begin: int) -> str:
        """Go behind a mark; return the text from a place up to it.

        Raises:
            Broken: there is none.
        """
        end = self.text.find(mark, begin)
        if end < 0:
            raise Broken
        self.at = end + len(mark)
        return self.text[begin:end]

    def blank(self) -> None:
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif sign in " \t\r":
                self.at += 1
            else:
                return

    def word(self, command: Simple) -> list[str]:
        """Read a word: several, where an expansion without quotes has blanks or braces, none where it is empty."""
        pieces: list[tuple[str, bool]] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in " \t\r\n;|&" or (sign in "()" and not self._is_array(pieces)):
                break
            if sign in "<>":
                if self.text.startswith("(", self.at + 1) and not pieces:
                    self.at += 2
                    command.code += self._nested()
                    pieces.append((UNKNOWN, True))
                    continue
                break
            self._piece(pieces)
        return _split(pieces)

    def _is_array(self, pieces: list[tuple[str, bool]]) -> bool:
        """Return True at the brackets of an array, such as `x=(a b)`; they are read into the word."""
        if (
            self.text[self.at] != "("
            or not pieces
            or not ASSIGNMENT.fullmatch("".join(piece for piece, _ in pieces))
        ):
            return False
        self.at += 1
        inner: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            before = self.at
            self.blank()
            inner += self.word(Simple())
            if self.at == before:
                self.at += 1
        pieces.append((" ".join(inner), True))
        self.text = f"{self.text[: self.at + 1]} {self.text[self.at + 1 :]}"
        self.at += 1
        return True

    def _piece(self, pieces: list[tuple[str, bool]]) -> None:
        sign = self.text[self.at]
        if sign == "\\":
            pieces.append((self.text[self.at + 1 : self.at + 2], True))
            self.at += 2
        elif sign == "'":
            pieces.append((self.take_until("'", self.at + 1), True))
        elif sign == '"':
            self.at += 1
            self._double(pieces)
        elif sign in "$`":
            self._substitution(pieces, quoted=False)
        else:
            pieces.append((sign, False))
            self.at += 1

    def _double(self, pieces: list[tuple[str, bool]], *, ends: bool = True) -> None:
        """Read what stands between double quotation marks; without `ends`, to the end of the text."""
        pieces.append(("", True))
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == '"' and (ends or self.at == len(self.text) - 1):
                self.at += 1
                return
            if sign == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                pieces.append((self.text[self.at + 1], True))
                self.at += 2
            elif sign in "$`":
                self._substitution(pieces, quoted=True)
            else:
                pieces.append((sign, True))
                self.at += 1
        raise Broken

    def _substitution(self, pieces: list[tuple[str, bool]], *, quoted: bool) -> None:
        begin = self.text[self.at : self.at + 3]
        if begin.startswith("$'") and not quoted:
            match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
            if match is None:
                raise Broken
            pieces.append((_ESCAPES.sub(_unescaped, match.group(1)), True))
            self.at = match.end()
        elif begin.startswith('$"') and not quoted:
            self.at += 1
        elif begin == "$((":
            self.take_until("))", self.at)
            pieces.append((UNKNOWN, True))
        elif begin.startswith("$("):
            self.at += 2
            self._output(pieces, self._nested(), quoted)
        elif begin.startswith("`"):
            match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
            if match is None:
                raise Broken
            inner = self.inner(re.sub(r"\\([`\\$])", r"\1", match.group(1)))
            inner.run("")
            self.done += inner.done
            self.at = match.end()
            self._output(pieces, inner.done, quoted)
        elif begin.startswith("${"):
            self._parameter(pieces, quoted)
        elif match := _PARAMETER.match(self.text, self.at):
            self.at = match.end()
            pieces.append((self._value(match.group(1) or match.group(2), None, quoted), quoted))
        else:
            pieces.append(("$", True))
            self.at += 1

    def _nested(self) -> list[Simple]:
        """Read the commands of a substitution, up to its bracket."""
        inner = type(self)(self.text, dict(self.variables), self.output, self.depth + 1)
        inner.at = self.at
        inner.run(")")
        self.text, self.at = inner.text, inner.at
        self.done += inner.done
        return inner.done

    def _output(self, pieces: list[tuple[str, bool]], commands: list[Simple], quoted: bool) -> None:
        printed = self.output(commands)
        pieces.append((printed if printed is not None else UNKNOWN if quoted else MANY, quoted))

    def _parameter(self, pieces: list[tuple[str, bool]], quoted: bool) -> None:
        depth, end = 0, self.at + 1
        while end < len(self.text):
            depth += (self.text[end] == "{") - (self.text[end] == "}")
            if depth == 0:
                break
            end += 1
        else:
            raise Broken
        match = _DEFAULT.fullmatch(self.text[self.at + 2 : end])
        self.at = end + 1
        if match is None:  # something is cut or replaced
            pieces.append((UNKNOWN, quoted))
            return
        default = None if match.group(2) is None else self.expanded(match.group(2))
        pieces.append((self._value(match.group(1), default, quoted), quoted))

    def _value(self, name: str, default: str | None, quoted: bool) -> str:
        if self.variables.get(name):
            return self.variables[name]
        if default is not None:
            return default
        return UNKNOWN if quoted and name not in "@*" else MANY

    def expanded(self, text: str) -> str:
        """Return a text with its substitutions, as between double quotation marks."""
        inner = self.inner(text + '"')
        pieces: list[tuple[str, bool]] = []
        try:
            inner._double(pieces, ends=False)
        except Broken:
            return text
        self.done += inner.done
        return "".join(piece for piece, _ in pieces)


def _split(pieces: list[tuple[str, bool]]) -> list[str]:
    """Return the words of the pieces, each with whether it stands in quotation marks."""
    if not pieces:
        return []
    if not any(quoted for _, quoted in pieces) and "{" in (text := "".join(piece for piece, _ in pieces)):
        return _braced(text)
    words, is_word = [""], False
    for text, quoted in pieces:
        if quoted or not re.search(r"\s", text):
            words[-1] += text
            is_word = is_word or quoted or text != ""
            continue
        first, *further = re.split(r"\s+", text)
        words[-1] += first
        words += further
    several = len(words) > 1
    return [word for word in words if word] if several else words if is_word else []


def _braced(text: str) -> list[str]:
    match = _BRACES.search(text)
    if match is None:
        return [text]
    options = match.group(1).split(",")[:32]
    before, after = text[: match.start()], text[match.end() :]
    return [word for option in options for word in _braced(before + option + after)][:64]


def _unescaped(match: re.Match[str]) -> str:
    if match.group(4) is not None:
        return _CONTROL.get(match.group(4), match.group(4))
    digits = match.group(1) or match.group(2)
    return chr(int(digits, 16) if digits else int(match.group(3), 8))
