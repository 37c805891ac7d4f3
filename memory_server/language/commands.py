"""Finds the commands that a line runs: behind `sudo`, `bash -c`, `xargs`, `ssh`, in a here-document, by an alias.

What nobody can tell before it runs is named too: `code` is text in which other commands may stand, and `hidden` says
that any command may run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memory_server.language import invocations, printed, programs, shell
from memory_server.language.shell_words import MANY, UNKNOWN, Simple

MOST = 200
"""Commands of a line that are looked at."""

DEEPEST = 6
"""How often a line may run another line."""

_SCRIPT = re.compile(r"\.\w+$|artisan$|/")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A simple command: all names of its program, its words without flags, and its flags with those that mean the same.

    `leads` are the words that can be its sub-command. `reads` and `writes` are the files that it names. `folder` is
    where it runs, as seen from where the line began.
    """

    programs: tuple[str, ...]
    leads: tuple[str, ...]
    words: tuple[str, ...]
    flags: tuple[str, ...]
    env: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True, slots=True)
class WrittenCommand:
    """A command as it is written: its own words, and behind its variables those that run it, such as `uv run`."""

    runner: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(slots=True)
class LineReading:
    """All that a line runs. `written` are the commands that do the work: of `uv run pytest` it is `pytest` alone."""

    commands: list[Invocation] = field(default_factory=list)
    written: list[WrittenCommand] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    hidden: bool = False


def read(text: str, branch: str | None = None) -> LineReading:
    """Read a line that runs in a working tree with this branch checked out."""
    reader = _Reader(branch)
    reader.line(text, {}, 0)
    return reader.result


class _Reader:
    """Takes a line apart. What an earlier command changes, such as the folder, holds for those behind it."""

    def __init__(self, branch: str | None) -> None:
        self.result = LineReading()
        self.branch = branch
        self.folder = ""
        self.aliases: dict[str, list[str]] = {}
        self.files: dict[str, str] = {}
        self.git_aliases: dict[str, list[str]] = {}
        self.exported: list[str] = []

    def line(self, text: str, variables: Mapping[str, str], depth: int) -> None:
        if depth > DEEPEST:
            self.result.hidden = True
            return
        values = {"HOME": "~", "PWD": ".", **variables}
        reading = shell.read(text, values, lambda ran: printed.output(ran, self.branch))
        if reading.broken or len(reading.commands) > MOST:
            self.result.code.append(text[: shell.MOST])
        for command in reading.commands[:MOST]:
            self._simple(command, depth)

    def _simple(self, command: Simple, depth: int) -> None:
        words = command.words
        if command.text is not None:
            self.files.update((path.removeprefix("./"), command.text) for path in command.writes)
        if not words:
            self._add(command, [""])
        elif words in ([MANY], [UNKNOWN]):
            self.result.hidden = True
        else:
            self._run(command, [*self.aliases.get(words[0], words[:1]), *words[1:]], depth)

    def _run(self, command: Simple, words: list[str], depth: int) -> None:
        name = invocations.base(words[0])
        if name == "eval":
            self._eval(" ".join(words[1:]), depth)
            return
        self._remember(name, words[1:])
        if programs.SHOWS.get(name, frozenset()).intersection(words):
            return
        self._add(command, words)
        done = len(self.result.written)
        self._run_inner(command, name, words, depth)
        if len(self.result.written) == done:
            runner = (*command.env, *command.runner)
            self.result.written.append(WrittenCommand(runner, tuple(words)))

    def _run_inner(self, command: Simple, name: str, words: list[str], depth: int) -> None:
        """Read what a command runs, where it runs another one."""
        if name.lower() in programs.SHELLS:
            self._shell(command, words[1:], depth)
        elif name in ("source", "."):
            self.result.hidden = self.result.hidden or bool(command.code)
        elif name in programs.OF_TEXT:
            inner = invocations.behind(words[1:], programs.Wrapper(programs.OF_TEXT[name], 1))
            self.line(" ".join(inner) or printed.read_by(command) or "", {}, depth + 1)
        elif name in programs.WITH_A_LINE:
            for flag, value in pairwise(words):
                if flag in programs.WITH_A_LINE[name]:
                    self.line(value, {}, depth + 1)
        elif name in programs.CODE:
            self._code(command, name, words, depth)
        elif name == "find":
            for ran in invocations.executed(words):
                self._run(Simple(env=command.env), ran, depth + 1)
        elif (body := self.files.get(words[0].removeprefix("./"))) is not None:
            self.line(body, {}, depth + 1)
        elif inner := invocations.wrapped(name, words):
            self._wrapped(command, words, inner, depth)
        elif name == "yarn" and words[1:2] == ["workspace"] and len(words) > 3:
            self._run(Simple(env=command.env), ["yarn", *words[3:]], depth + 1)
        elif name == "npm" and words[1:2] == ["run"] and len(words) > 2:
            self._script(command, [word for word in words[2:] if word != "--"])
        elif name in programs.SCRIPTS and len(words) > 1 and words[1] not in programs.OF_PACKAGES:
            self._script(command, words[1:])

    def _script(self, command: Simple, words: Sequence[str]) -> None:
        """Read a script of the project as the program whose name it bears; it is written as a script."""
        done = len(self.result.written)
        self._run(Simple(env=command.env), list(words), DEEPEST)
        del self.result.written[done:]

    def _remember(self, name: str, words: Sequence[str]) -> None:
        """Keep what a command changes for those behind it."""
        if name == "alias":
            for word in words:
                alias, _, value = word.partition("=")
                self.aliases[alias] = value.split()
        elif name in ("cd", "pushd"):
            target = next((word for word in words if not word.startswith("-")), "~")
            self.folder = invocations.joined(self.folder, target)
        elif name in ("export", "declare", "local", "readonly", "typeset"):
            self.exported += [word for word in words if "=" in word]

    def _wrapped(self, command: Simple, words: Sequence[str], inner: list[str], depth: int) -> None:
        if len(inner) == 1 and " " in inner[0]:  # such as `npx -c "…"`, `watch "…"`
            self.line(inner[0], {}, depth + 1)
            return
        name, env = invocations.base(words[0]), list(command.env)
        outer = [] if name in programs.PASSING else words[: len(words) - len(inner)]
        runner = [*command.runner, *outer]
        while inner and name in ("env", "sudo") and _VARIABLE.match(inner[0]):
            env.append(inner.pop(0))
        if not inner or depth >= DEEPEST:
            return
        if name in programs.OF_IMAGES and (program := invocations.image(words, inner)):
            self._add(Simple(env=env), [program, *inner])
        ran = Simple(env=env, runner=runner)
        if name in ("xargs", "parallel"):
            inner = [*inner, *printed.named(command.source), MANY]
        else:
            ran.source, ran.text = command.source, command.text
        self._run(ran, inner, depth + 1)

    def _eval(self, text: str, depth: int) -> None:
        """Read what `eval` runs. The output of a program is anything, unless it is known to set variables alone."""
        if text.strip(UNKNOWN + " "):
            self.line(text, {}, depth + 1)
        elif not any(programs.SETTING.intersection(last.programs) for last in self.result.commands[-4:]):
            self.result.hidden = True

    def _shell(self, command: Simple, words: Sequence[str], depth: int) -> None:
        """Read what a shell runs: the text behind `-c`, a file that the line has written, or what it reads."""
        for place, word in enumerate(words[:-1]):
            if word in programs.LINE_FLAGS or re.fullmatch(r"-[a-zA-Z]*c", word):
                if word.startswith("/"):
                    self.line(" ".join(words[place + 1 :]), {}, depth + 1)
                else:
                    self._text(words[place + 1], words[place + 2 :], depth)
                return
        if command.code:
            self.result.hidden = True
            return
        file = next((word for word in words if not word.startswith(("-", "+"))), None)
        if file is not None and "-s" not in words:
            if "-n" not in words:  # which only checks it
                self._add(Simple(env=command.env), words[words.index(file) :])
                self.line(self.files.get(file.removeprefix("./"), ""), {}, depth + 1)
            return
        text = printed.read_by(command)
        if text is not None and not text.startswith(UNKNOWN):
            self.line(text, {}, depth + 1)
        elif command.source is not None and printed.is_fetched(command.source):
            self.result.hidden = True

    def _text(self, text: str, arguments: Sequence[str], depth: int) -> None:
        """Read a text of a shell with its arguments."""
        if not text.strip(UNKNOWN):
            self.result.hidden = True
            return
        numbered = {str(number): value for number, value in enumerate(arguments)}
        everything = " ".join(arguments[1:])
        self.line(text, {**numbered, "@": everything, "*": everything}, depth + 1)

    def _code(self, command: Simple, name: str, words: Sequence[str], depth: int) -> None:
        """Keep the code that a program of another language runs, and the module or the file that it does."""
        flags, code = programs.CODE[name], self.result.code
        code += [value for flag, value in pairwise(words) if flag in flags]
        if not flags:
            code += [word for word in words[1:] if "system" in word or "|" in word]
        elif command.text is not None:
            code.append(command.text)
        if "-m" in words[:-1] and name.startswith("py"):
            place = words.index("-m") + 1
            runner = [*command.runner, *words[:place]]
            self._run(Simple(env=command.env, runner=runner), list(words[place:]), depth + 1)
        script = next((place for place, word in enumerate(words) if place and not word.startswith("-")), None)
        if script is not None and _SCRIPT.search(words[script]) and words[script - 1] not in flags:
            self._add(command, words[script:])
            code.append(self.files.get(words[script].removeprefix("./"), ""))

    def _add(self, command: Simple, words: Sequence[str]) -> None:
        """Keep a command under all its names."""
        name, further = invocations.base(words[0]), list(words[1:])
        if name == "git":
            further = self._git(further)
        elif name == "cargo" and further and further[0].startswith("+"):
            further.pop(0)
        flags, plain, leads = invocations.parts(name, further)
        if name in programs.OF_PROJECTS:
            plain += [part for word in plain for part in invocations.targets(word)]
        plain += [text] if (text := printed.read_by(command)) and name not in programs.SHELLS else []
        leads = plain if name in programs.NO_SUB_COMMANDS else leads
        writes = [*invocations.written(name, further, plain), *command.writes]
        reads = [*command.reads, *invocations.read(name, plain)]
        names = invocations.names(words[0])
        for called, first in ((names, ()), *invocations.aliases(name, names)):
            self.result.commands.append(
                Invocation(
                    called,
                    _once(first or leads),
                    _once([*first, *plain]),
                    _once(flags),
                    _once([*command.env, *self.exported]),
                    _once([invocations.joined(self.folder, path) for path in reads]),
                    _once([invocations.joined(self.folder, path) for path in writes]),
                    self.folder,
                )
            )

    def _git(self, words: list[str]) -> list[str]:
        """Return the words of git without the flags before the sub-command, with the branches that a push reaches."""
        aliases = self.git_aliases
        while words and words[0].startswith("-"):
            if words.pop(0) in programs.GIT_VALUED and words:
                name, _, text = words.pop(0).partition("=")
                aliases[name.removeprefix("alias.")] = text.split()
        words = [*aliases.get(words[0], words[:1]), *words[1:]] if words else []
        if not words:
            return []
        sub, further = words[0], words[1:]
        plain = [word for word in further if not word.startswith("-")]
        if sub.startswith("!"):
            self.line(" ".join(words)[1:], {}, 1)
        elif sub == "push":
            return [*words, *invocations.pushed(further, self.branch)]
        elif sub == "config" and len(plain) > 1 and plain[0].startswith("alias."):
            aliases[plain[0].removeprefix("alias.")] = plain[1].split()
        elif sub in ("checkout", "switch") and plain and "--" not in further:
            self.branch = plain[0]
        elif plain[:1] in (["foreach"], ["run"]):  # of `submodule` and `bisect`
            self.line(" ".join(plain[1:]), {}, 1)
        elif sub == "rebase":
            for flag, value in pairwise(further):
                self.line(value if flag in ("-x", "--exec") else "", {}, 1)
        return words


def _once(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
