"""Tells whether a note says how a command of a shell is run here, by its form, its purpose and its kin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory_server.language import commands as shell_commands
from memory_server.language.commands import WrittenCommand

MOST = 20
"""Commands of a line, and of a note, that are read."""


class Form(StrEnum):
    """Ways in which a command stands to a note."""

    UNKNOWN = "unknown"
    """The note says nothing of such a command."""
    RIGHT = "right"
    OTHER = "other"
    """The note says how it is run here, and this is not how."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """`words` are those of the line, without `sudo`, `cd …` and what goes to a file. `program` is the one that does the
    work, with its verb: of `uv run pytest -q` it is `pytest`, of `git push -f` it is `git push`. `purpose` is what that
    is for, and `kin` the programs with which it shares that: `python`, `node`.
    """

    words: tuple[str, ...]
    program: str
    purpose: str = ""
    kin: str = ""
    behind: int = 0
    """The place of the word behind the program."""

    @property
    def before(self) -> tuple[str, ...]:
        """The words that run the program: `uv run`."""
        names = [*self.program.split(), *(["run"] if self.words[0] in _SCRIPTS else [])]
        return tuple(
            word.replace("python3", "python") for word in self.words[: self.behind] if word not in names
        )

    @property
    def options(self) -> frozenset[str]:
        return frozenset(word for word in self.words[self.behind :] if word.startswith("-"))

    @property
    def operands(self) -> tuple[str, ...]:
        return tuple(word for word in self.words[self.behind :] if not word.startswith("-"))


_WITH_VERB = frozenset(
    "git docker kubectl cargo go npm pnpm yarn bun uv terraform gh dotnet systemctl apt apt-get brew make just"
    " task rake poetry pdm helm rails alembic prisma mvn gradle gradlew mix swift bazel nix manage.py flask"
    " django-admin composer bundle gem conda pixi deno turbo nx invoke nox tox ruff playwright cypress wrangler fly"
    " vercel heroku aws gcloud pip".split()
)
_WITH_VALUE = frozenset(
    ["-C", "-c", "-f", "-n", "-l", "-p"]
    + [f"--{name}" for name in ("prefix", "cwd", "project", "directory", "filter")]
)
"""Options before a verb that have a value behind them."""

_SCRIPTS = frozenset("npm pnpm yarn bun".split())
_SHORT = {"t": "test", "tst": "test", "i": "install", "ci": "install", "add": "install", "sync": "install"}
_KIN = {
    "python": "pytest tox nox python python3 uv poetry pdm ruff black mypy pyright flake8 pylint isort"
    " unittest manage.py alembic uvicorn gunicorn flask hatch twine django-admin pip",
    "node": "npm pnpm yarn bun npx jest vitest mocha eslint prettier tsc node playwright cypress webpack vite turbo nx"
    " prisma deno biome",
    "rust": "cargo rustfmt rustc clippy-driver",
    "go": "go gofmt golangci-lint",
    "ruby": "rspec rake rails rubocop bundle gem",
    "java": "mvn gradle gradlew",
    "php": "phpunit composer",
}
_KIN_OF = {program: kin for kin, programs in _KIN.items() for program in programs.split()}
_PURPOSES = {
    "test": "pytest unittest tox nox jest vitest mocha phpunit rspec ctest cargo-test cargo-nextest go-test dotnet-test"
    " mvn-test gradle-test gradlew-test swift-test mix-test bazel-test manage.py-test playwright-test cypress-run",
    "lint": "ruff-check eslint flake8 pylint golangci-lint cargo-clippy rubocop biome go-vet shellcheck",
    "format": "ruff-format black prettier gofmt rustfmt cargo-fmt isort go-fmt",
    "types": "mypy pyright tsc",
    "install": "pip-install uv-add uv-sync poetry-add poetry-install pdm-add npm-install"
    " pnpm-install yarn-install bun-install cargo-add go-get bundle-install composer-install composer-require uv-pip",
    "migrate": "alembic-upgrade prisma-migrate manage.py-migrate rails-db:migrate rake-db:migrate",
    "build": "cargo-build go-build docker-build mvn-package gradle-build webpack vite",
    "publish": "twine npm-publish cargo-publish uv-publish poetry-publish",
}
_PURPOSE_OF = {name: purpose for purpose, names in _PURPOSES.items() for name in names.split()}
_TARGETS = {
    "test": re.compile(r"(?:unit|run)?[-_:]?tests?(?:[-_:].*)?"),
    "lint": re.compile(r"lint(?:[-_:].*)?"),
    "format": re.compile(r"(?:fmt|format)(?:[-_:].*)?"),
    "types": re.compile(r"(?:type-?check|types)(?:[-_:].*)?"),
    "install": re.compile(r"(?:install|setup|deps|bootstrap)"),
    "migrate": re.compile(r"(?:db[-_:])?migrat(?:e|ions?)(?:[-_:].*)?"),
    "build": re.compile(r"build(?:[-_:].*)?"),
    "deploy": re.compile(r"(?:.*[-_:])?deploy(?:[-_:].*)?"),
    "publish": re.compile(r"(?:publish|release)(?:[-_:].*)?"),
    "serve": re.compile(r"(?:dev|start|serve|run)"),
}
"""What a target, or the name of a script, is for."""


def commands(line: str) -> list[ShellCommand]:
    """Read the commands of a line that do the work, in their order."""
    return list(filter(None, map(_command, shell_commands.read(line).written)))[:MOST]


def _command(written: WrittenCommand) -> ShellCommand | None:
    words = [*written.runner, *written.words]
    at = len(written.runner)
    if words[at] in ("cd", "export", "source", ".", "set"):
        return None
    name = words[at].rpartition("/")[2].replace("pip3", "pip")
    if name in ("python", "python3") and len(words) > at + 1 and words[at + 1].endswith("manage.py"):
        at, name = at + 1, "manage.py"
    behind, program = at + 1, name
    verb = _verb(name, words, at) if name in _WITH_VERB else None
    if verb is not None:
        behind, program = verb + 1, f"{name} {_SHORT.get(words[verb], words[verb])}"
    purpose = _purpose(name, program.partition(" ")[2])
    return ShellCommand(tuple(words), program, purpose, _KIN_OF.get(name, ""), behind)


def _verb(name: str, words: Sequence[str], at: int) -> int | None:
    """Return the place of the verb of a program; of `npm run test` that is `test`."""
    places = range(at + 1, len(words))
    verb = next((p for p in places if _is_verb(words[p]) and words[p - 1] not in _WITH_VALUE), None)
    is_script = verb is not None and name in _SCRIPTS and words[verb] == "run"
    return verb + 1 if verb is not None and is_script and verb + 1 < len(words) else verb


def _is_verb(word: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9:_-]*", word) is not None


def _purpose(name: str, verb: str) -> str:
    """Return what a program is for; '' where that is not known."""
    joined = f"{name}-{verb}" if verb else name
    purpose = _PURPOSE_OF.get(joined) or _PURPOSE_OF.get(name)
    if purpose:
        return purpose
    target = (
        verb if name in ("make", "just", "task", "rake", "invoke", *_SCRIPTS) else re.sub(r"\.\w+$", "", name)
    )
    return next((purpose for purpose, pattern in _TARGETS.items() if pattern.fullmatch(target)), "")


_MARKED = re.compile(r"`([^`\n]{2,200})`")
_UNMARKED = re.compile(
    r"(?:(?:^|[:;,.]\s+|\b(?:run|use|using|with|via|by|is|are|be|als|mit|用|运行|执行)\s+))"
    r"((?:[A-Z_]+=\S+\s+)?(?:uv|poetry|pdm|npx|npm|pnpm|yarn|bun|pytest|python3?|cargo|docker|kubectl|git|pip|tox|nox"
    r"|alembic|terraform|\./[\w./-]+|scripts/[\w./-]+|bin/[\w./-]+|make(?=\s+[a-z-]+\s*(?:$|[.,;]))|go(?=\s+(?:test|build|run|vet|generate)\b))"
    r"(?:\s+(?!(?:and|or|not|never|instead|before|after|for|because|in|on|to|from|which|so|but|as|is|the|a|it|when|if)\b)"
    r"[^\s;,()，。；]+){0,8})",
    re.MULTILINE,
)
_AGAINST = re.compile(
    r"(?:\bnever|\bnot|n't|\bplain|\bbare|\bavoid\w*|\binstead\s+of|\brather\s+than|\bno|\bwithout|\bover|\breplaces?"
    r"|\bforbidden|\bnie(?:mals)?|\bnicht|\bkein\w*|\bstatt|不要|别|禁止|而不是|不用|不能|切勿)"
    r"(?:\s+(?:\w+\s+){0,3}|[\u4e00-\u9fff]{0,6}\s*)$",
    re.IGNORECASE,
)
_AGAINST_AFTER = re.compile(
    r"^\s*(?:alone|by itself|directly|itself)?\s*(?:misses|breaks?|fails|is\s+(?:wrong|broken|forbidden|not|banned)"
    r"|does\s?n[o']t|do\s+not|must\s+not|ignores|skips|hangs|cannot|can't|won't|is\s+no\s+longer|会|不行|不对)",
    re.IGNORECASE,
)


def of_note(note: str) -> list[tuple[ShellCommand, bool]]:
    """Return the commands that a note names, each with True where the note is against it."""
    spans = [match.span(1) for match in _MARKED.finditer(note)] or [
        match.span(1) for match in _UNMARKED.finditer(note)
    ]
    named = []
    for start, end in spans[:MOST]:
        several = [command for command in commands(note[start:end].strip().rstrip(".")) if _is_real(command)]
        is_against = bool(
            _AGAINST.search(_clause_before(note, start).rstrip("`"))
            or _AGAINST_AFTER.match(note[end:].lstrip("`"))
        )
        named += [(command, is_against) for command in several[-1:]]
    return named


def _clause_before(note: str, start: int) -> str:
    return re.split(r"[.;!?。；]\s|\n", note[max(0, start - 80) : start])[-1]


def _is_real(command: ShellCommand) -> bool:
    """True for what is a command and no name of code."""
    name = command.program.partition(" ")[0]
    is_script = command.words[0].startswith(("./", "scripts/", "bin/"))
    return bool(command.purpose or command.kin or name in _WITH_VERB or is_script or len(command.words) > 1)


def terms(command: ShellCommand) -> list[str]:
    """Return words of which a note that says how a command is run holds one."""
    name, _, verb = command.program.partition(" ")
    kin = [
        named.partition("-")[0] for named in _PURPOSES.get(command.purpose, "").split()
        if command.kin in ("", _KIN_OF.get(named.partition("-")[0]))
    ]  # fmt: skip
    return [word for word in dict.fromkeys((name, command.purpose, verb, *kin)) if word]


def form(command: ShellCommand, note: Sequence[tuple[ShellCommand, bool]]) -> Form:
    """Return how a command stands to the commands that a note names."""
    right = [named for named, is_against in note if not is_against]
    wrong = [named for named, is_against in note if is_against]
    if any(_has_form(command, named) for named in right):
        return Form.RIGHT
    if any(_has_form(command, named, by_any=True) for named in wrong):
        return Form.OTHER
    if any(named.options or named.operands for named in wrong if _is_like(command, named)):
        return Form.UNKNOWN  # the note is against something else
    return Form.OTHER if any(_is_like(command, named) for named in right) else Form.UNKNOWN


def _is_like(command: ShellCommand, named: ShellCommand) -> bool:
    """True for commands of one program, or for one purpose."""
    if command.program == named.program:
        return True
    is_kin = not command.kin or not named.kin or command.kin == named.kin
    return bool(command.purpose) and command.purpose == named.purpose and is_kin


def _has_form(command: ShellCommand, named: ShellCommand, *, by_any: bool = False) -> bool:
    """True if a command is what a note names, perhaps with more options and operands; `by_any`: whatever runs it."""
    if command.program != named.program or (command.before != named.before and not by_any):
        return False
    operands = [word for word in named.operands if re.fullmatch(r"[a-z][a-z0-9:_-]*", word)]
    return named.options <= command.options and set(operands) <= set(command.operands)
