"""The output of commands, and what they read, as far as the line says it."""

from collections.abc import Sequence

from memory_server.language import invocations, programs
from memory_server.language.shell_words import Simple

_BRANCH = frozenset(
    [
        ("git", "branch", "--show-current"),
        ("git", "rev-parse", "--abbrev-ref", "HEAD"),
        ("git", "symbolic-ref", "--short", "HEAD"),
    ]
)
"""Commands that print the branch that is checked out."""


def output(commands: Sequence[Simple], branch: str | None) -> str | None:
    """Return what a substitution gives in a working tree with this branch, where it is known."""
    if len(commands) != 1:
        return None
    words = tuple(commands[0].words)
    if words in _BRANCH:
        return branch
    if words[:1] in (("which",), ("type",)) or words[:2] == ("command", "-v"):
        return words[-1]
    return "." if words == ("pwd",) else _said(commands[0])


def read_by(command: Simple) -> str | None:
    """Return what a command reads, where the line says that."""
    if command.text is not None or command.source is None:
        return command.text
    return _said(command.source)


def _said(command: Simple) -> str | None:
    """Return what a command prints, where the line says it: of echo, printf, and cat with a here-document."""
    if not command.words:
        return None
    name, words = invocations.base(command.words[0]), command.words[1:]
    if name == "echo":
        return " ".join(word for word in words if word not in ("-e", "-n", "-en", "-ne", "-E"))
    if name == "printf" and words:
        text = words[0].replace("\\n", "\n")
        for word in words[1:]:
            text = text.replace("%s", word, 1)
        return text
    return read_by(command) if name in ("cat", "tee") and (command.text is not None or not words) else None


def is_fetched(command: Simple) -> bool:
    """Return True if what a command prints comes from a program that fetches or decodes it."""
    source: Simple | None = command
    while source is not None and source.words:
        if invocations.base(source.words[0]) in programs.FETCHES:
            return True
        source = source.source
    return False


def named(command: Simple | None) -> list[str]:
    """Return the words that a command names, which may come back from it."""
    names: list[str] = []
    while command is not None:
        names += [word for word in command.words[1:] if not word.startswith("-")]
        command = command.source
    return names
