"""The end of an error: the command that failed, the gist of what it said, and what was done until it succeeded."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_server.domain.commands import ShellCommand, commands

LONGEST = 200
"""Characters of the gist of an error, and of a step."""

READ = 40_000
"""Characters of an output in which an error is looked for: its first and its last half."""

STEPS = 4
"""Steps that are kept of what was done; the last ones."""

FEW = 3
"""Steps that are kept whatever they name."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RAISED = re.compile(
    r"(?:E\s+)?[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|NotFound|Timeout|Expired)\b(?::.*)?"
)
_TELLING = re.compile(
    r"\b(?:fatal|error|panic|exception|err!)\b\s*(?:\[\w+\])?:|\berror\b[: ]*\w*\d{3,}|^error\b|npm"
    r" (?:err!|error) (?!a complete|code|path|errno)"
    r"|! \[rejected\]|\[emerg\]",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"command not found|not found|no such|permission denied|cannot|can't|could not|couldn't|unable to|undefined|refused"
    r"|conflict|already|unknown|invalid|missing|denied|failed|no rule|unrecognized|must be|not a |does not|doesn't"
    r"|isn't|unexpected|expected|timed out|out of|no space|unreachable|usage:",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:\S+: )?\*\*\* \[.*\] Error \d+|Exit code:? \d+|.*\b(?:errors?|warnings?|failed|passed)\b.* in [\d.]+ ?m?s\b.*"
    r"|Traceback \(most recent call last\):.*|npm (?:ERR!|error) (?:code|path|errno|A complete log).*"
    r"|.*exit (?:status|code) \d+\.?"
    r"|[-=_~^ .|]*|Process exited with code \d+|error: could not compile .*|ninja: build stopped.*|FAILED \(.*\)",
    re.IGNORECASE,
)
"""Lines that say that something failed, and not what."""

_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b")
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:\.{0,2}[\\/])?(?:[\w.@~+-]+[\\/])+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


_FAILURE = re.compile(
    r"(?m)^(?:\S+: )*(?:fatal|error|panic|parse error)\b.*:|: (?:fatal )?error:|^(?:\w+\.)*\w*(?:Error|Exception)\b: "
    r"|\b[1-9]\d* (?:failed|failing|errors? in)\b|^(?:FAIL(?:ED|URE)?|ERROR|CMake Error)\b|^npm (?:ERR!|error)\b"
    r"|^\S*(?:make(?:\[\d+\])?|:\d+): \*\*\*|! \[rejected\]|^CONFLICT \("
    r"|^(?:[\w./-]+: )+.*(?:not found|No such file or directory|Permission denied|cannot .*|already exists"
    r"|unbound variable)$"
)
"""Lines of a command that has failed."""

ENDING = 2_000
"""Characters at the end of an output in which such a line is looked for."""


def seems_failed(output: str) -> bool:
    """Return True if a command has failed by its last lines, where its client tells no exit code."""
    return _FAILURE.search(_ANSI.sub("", output[-ENDING:])) is not None


def gist(output: str) -> str:
    """Return the line of an output that says what went wrong, without numbers, folders, addresses and times; '' where
    none does."""
    text = output if len(output) <= READ else output[: READ // 2] + "\n" + output[-READ // 2 :]
    lines = [line.strip() for line in _ANSI.sub("", text).splitlines()]
    lines = [line for line in lines if line and not _EMPTY.fullmatch(line)]
    raised = [line for line in lines if _RAISED.fullmatch(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    plain = [line for line in lines if _PLAIN.search(line)]
    chosen = raised[-1:] or telling[:1] or plain[-1:] or lines[-1:]
    return plain_line(chosen[0]) if chosen else ""


def plain_line(line: str) -> str:
    """Return a line of an error as it comes back: without what is of this one time."""
    line = _MOMENT.sub("", re.sub(r"^E\s+", "", line))
    line = _PATH.sub("", _ADDRESS.sub("#", line))
    return " ".join(_NUMBER.sub("#", line).split())[:LONGEST]


_LOOKING = frozenset(
    "ls cat head tail less more grep rg find fd pwd echo which type whoami date printenv stat file tree df du ps top id"
    " uname hostname history wc sort uniq diff test true false sleep printf man jq awk cut nl realpath readlink"
    " basename dirname command".split()
)
_LOOKING_VERBS = frozenset(
    "status log diff show branch blame ls-files remote reflog rev-parse describe ps list images inspect get version"
    " freeze outdated why view search info".split()
)

_WITH_TARGETS = frozenset(["make", "just", "task", "rake", "invoke", "nox"])


def looks_only(command: ShellCommand) -> bool:
    """True for a command that changes nothing."""
    name, _, verb = command.program.partition(" ")
    if {f"--{name}" for name in ("version", "help")} & command.options:
        return True
    if (name, verb) in (("git", "branch"), ("git", "remote"), ("git", "config")):
        return not command.operands and not command.options & {"-d", "-D", "-m", "-M"}
    looks = verb in _LOOKING_VERBS and name not in _WITH_TARGETS
    return looks or name in _LOOKING or (name == "sed" and "-i" not in command.options)


_WRITES = re.compile(r"(?<![0-9&>])>{1,2}\s*(?!/dev/null|&)\S")
"""A redirection into a file."""


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A line of a shell as it was run, and the commands in it that do something."""

    text: str
    commands: tuple[ShellCommand, ...]

    @property
    def program(self) -> str:
        """The program of its last command: the line is about it."""
        return self.commands[-1].program if self.commands else ""

    def does(self, failed: "ShellLine") -> bool:
        """True if this line does all that a line that failed does, perhaps in another way."""
        return bool(failed.commands) and all(
            any(_is_same(done, command) for done in self.commands) for command in failed.commands
        )


def line_of(text: str) -> ShellLine:
    several = commands(text)
    writes = _WRITES.search(text) is not None
    return ShellLine(
        " ".join(text.split()), tuple(command for command in several if writes or not looks_only(command))
    )


def _is_same(done: ShellCommand, command: ShellCommand) -> bool:
    """True for the same program with the same operands, or with more; or for another one of its kind with these."""
    if sorted(done.operands) != sorted(command.operands) and not set() < set(command.operands) < set(
        done.operands
    ):
        return False
    if done.program == command.program:
        return True
    is_kin = done.kin == command.kin and (
        done.purpose == command.purpose != "" or "python" in command.program
    )
    return bool(done.operands) and bool(done.kin) and is_kin


@dataclass(frozen=True, slots=True)
class Remedy:
    """An error of a program in a project, by its gist, and what ended it. `line` is the command that failed."""

    program: str
    error: str
    line: str
    steps: tuple[str, ...]

    @property
    def done(self) -> str:
        return "; ".join(step if step.startswith("edited ") else f"`{step}`" for step in self.steps)

    def __str__(self) -> str:
        return f"`{self.line}` failed: {self.error.rstrip('.')}. What ended it: {self.done}."

    @property
    def metadata(self) -> dict[str, Any]:
        return {
            "remedy": {
                "program": self.program,
                "error": self.error,
                "line": self.line,
                "steps": list(self.steps),
            }
        }


def remedy_of(metadata: Mapping[str, Any]) -> Remedy | None:
    """Read the remedy that a memory has in its metadata; None where it has none."""
    match metadata.get("remedy"):
        case {"program": str(program), "error": str(error), "line": str(line), "steps": [*steps]}:
            return Remedy(program, error, line, tuple(map(str, steps)))
    return None


@dataclass(slots=True)
class OpenError:
    """An error that was not ended yet, and what was done since."""

    line: ShellLine
    error: str
    steps: list[str] = field(default_factory=list)

    def remedy(self, success: ShellLine | None) -> Remedy | None:
        """Return what ended it: what was done since, or the other way in which the line then succeeded."""
        steps = _telling(self.steps, self.error, self.line.text)
        if success is not None and _without_pipes(success.text) != _without_pipes(self.line.text):
            steps = [*steps, success.text][-STEPS:]
        if not steps:
            return None
        return Remedy(
            self.line.program, self.error, self.line.text[:LONGEST], tuple(step[:LONGEST] for step in steps)
        )


def _telling(steps: Sequence[str], error: str, line: str) -> list[str]:
    """Return the steps; of many those that name something that the error names, if any does, else the last ones."""
    named = _words(error) - _words(line)
    telling = [step for step in steps if any(word in step.casefold() for word in named)]
    return list(telling if len(steps) > FEW and telling else steps)[-STEPS:]


def _without_pipes(text: str) -> str:
    return re.split(r"\s*(?:2>&1|\|(?!\|)|>\s)", text)[0].strip()


_COMMON = frozenset(
    "error failed command found cannot file test tests main python with from this that have".split()
)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[A-Za-z_][\w-]{3,}", text)} - _COMMON
