"""Reads a command line as a shell does: which simple commands run, with which words, and what only the run shows.

It expands what the line itself says: quotes, variables that it sets, braces, the words of a loop. Everything else, such
as the output of a program, is UNKNOWN.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.language.shell_words import ASSIGNMENT, MANY, Broken, Output, Simple, WordReader

MOST = 20_000
"""Characters of a line that are read."""

_KEYWORDS = frozenset("if then else elif fi while until do done ! { } coproc time".split())
_SEPARATORS = ("&&", "||", ";;&", ";;", ";&", "|&", "&", ";", "|", "\n", "(", ")")
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|>>|>\||<>|[<>]&|[<>])|&>>?")


@dataclass(frozen=True, slots=True)
class ShellReading:
    """The simple commands of a line in their order. `broken`: no shell would take it, and the begin was not read."""

    commands: tuple[Simple, ...]
    broken: bool = False


def read(text: str, variables: Mapping[str, str], output: Output) -> ShellReading:
    """Read a line with these variables."""
    parser = _Parser(text[:MOST].replace("\\\n", ""), dict(variables), output, 0)
    try:
        parser.run("")
    except (Broken, RecursionError):
        return ShellReading(tuple(parser.done), broken=True)
    return ShellReading(tuple(parser.done), broken=len(text) > MOST)


class _Parser(WordReader):
    """Reads the commands of a text."""

    def __init__(self, text: str, variables: dict[str, str], output: Output, depth: int) -> None:
        super().__init__(text, variables, output, depth)
        self._bodies: list[tuple[Simple, str, bool, bool]] = []

    def run(self, until: str) -> None:
        """Read commands up to an unquoted sign, or to the end."""
        command, pipe = Simple(), False
        while True:
            self.blank()
            sign = next((sign for sign in _SEPARATORS if self.text.startswith(sign, self.at)), "")
            redirect = _REDIRECT.match(self.text, self.at)
            if redirect and not self.text.startswith(("<(", ">("), self.at):
                self._redirect(command, redirect)
            elif self.at >= len(self.text):
                self._end(command, pipe)
                if until:
                    raise Broken
                return
            elif sign == ")" and until != ")":
                self.at += 1  # the pattern of a `case`, or the brackets of a function
                command = Simple()
            elif sign and sign == until:
                self._end(command, pipe)
                self.at += len(sign)
                return
            elif sign:
                self._end(command, pipe)
                self.at += len(sign)
                if self.text.startswith("((", self.at - 1) and sign == "(":
                    self.take_until("))", self.at)
                elif sign == "(" and command.words:  # of a function
                    self.blank()
                elif sign == "(":
                    self.run(")")  # a subshell, whose output the next command may read
                pipe = sign in ("|", "|&")
                if sign == "\n":
                    self._read_bodies()
                command = Simple()
            else:
                self._word_of(command)

    def _end(self, command: Simple, pipe: bool) -> None:
        if pipe and self.done:
            command.source = self.done[-1]
        if command.words or command.reads or command.writes or command.code:
            self.done.append(command)
        elif command.env:
            for assignment in command.env:
                name, _, value = assignment.partition("=")
                self.variables[name] = value

    def _word_of(self, command: Simple) -> None:
        """Read a word into a command; a keyword before it is no word of it."""
        begin = self.at
        words = self.word(command)
        raw = self.text[begin : self.at]
        if command.words:
            command.words += words
        elif ASSIGNMENT.match(raw) and words:
            assigned = words[0] if len(words) == 1 else " ".join(words)
            command.env.append(assigned.replace("+=", "=", 1))
        elif raw == "for" or raw == "select":
            self._for()
        elif raw == "case":
            self._case()
        elif raw == "function":
            self.blank()
            self.word(command)
        elif raw == "[[":
            self._test(command)
        elif raw not in _KEYWORDS:
            command.words += words

    def _for(self) -> None:
        """Read `for NAME in WORDS`: in the loop the name stands for all the words."""
        self.blank()
        name = "".join(self.word(Simple()))
        self.blank()
        values: list[str] = [MANY]
        if self.text.startswith("in", self.at):
            self.at, values = self.at + 2, []
            self.blank()
            while self.at < len(self.text) and self.text[self.at] not in ";\n":
                begin = self.at
                values += self.word(Simple())
                self.blank()
                if self.at == begin:  # a sign that no word begins with, such as `<`
                    raise Broken
        self.variables[name] = " ".join(values)

    def _case(self) -> None:
        self.blank()
        self.word(Simple())
        self.blank()
        if self.text.startswith("in", self.at):
            self.at += 2

    def _test(self, command: Simple) -> None:
        """Skip a condition, in which signs of the shell have another meaning."""
        inner = self.inner(re.sub(r"[<>&|;()]", " ", self.take_until("]]", self.at)))
        inner.run("")
        command.words += ["[[", *(word for condition in inner.done for word in condition.words)]

    def _redirect(self, command: Simple, match: re.Match[str]) -> None:
        sign = match.group().lstrip("0123456789")
        self.at = match.end()
        self.blank()
        if sign in ("<<", "<<-"):
            begin = self.at
            mark = "".join(self.word(Simple()))
            quoted = any(sign in "'\"\\" for sign in self.text[begin : self.at])
            self._bodies.append((command, mark, quoted, sign == "<<-"))
            return
        target = " ".join(self.word(command))
        if sign == "<<<":
            command.text = target
        elif sign in ("<", "<>"):
            command.reads.append(target)
        elif not (sign.endswith("&") and re.fullmatch(r"\d+-?|-", target)) and target != "/dev/null":
            command.writes.append(target)

    def _read_bodies(self) -> None:
        """Read the here-documents of the line that has just ended."""
        for command, mark, quoted, tabs in self._bodies:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(len(self.text), end + 1)
                if (line.lstrip("\t") if tabs else line) == mark:
                    break
                lines.append(line)
            body = "\n".join(lines)
            command.text = body if quoted else self.expanded(body)
        self._bodies = []
