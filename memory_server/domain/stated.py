"""Rules as sentences state them: commands, files and branches by their names, and the condition made of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory_server.language.lazy import lazy


class Does(StrEnum):
    """Acts by what they do to a thing: the functions of triggers."""

    RUNS = "runs"
    READS = "reads"
    TOUCHES = "touches"


Acts = tuple[tuple[Does, str], ...]
"""Each act with the command that it runs, or its file."""


class Unread(Exception):
    """`words` are those that are not understood; '' where the sentence forbids nothing, and asks for no question."""

    def __init__(self, words: str = "") -> None:
        super().__init__(words)
        self.words = words


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule that a sentence states: these acts are forbidden, or the user is asked before them."""

    asks: bool
    acts: Acts


Condition = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A trigger, with acts that it holds and acts that it lets pass."""

PIECE: Final = "[\ue000-\uf8ff]"
"""A private character, which stands for a quoted piece while a sentence is read."""

_FIRST_PIECE: Final = 0xE000
_PIECE: Final = lazy(PIECE)
_QUOTED: Final = lazy(
    r"`([^`\n]{1,120})`|(?<![A-Za-z0-9])[「“\"']([!-~][ -~]{0,118}?)[」”\"'](?![A-Za-z0-9])", re.ASCII
)

_USUAL_BRANCHES: Final = frozenset(
    "main master default develop dev trunk release staging production prod".split()
)
_NO_BRANCHES: Final = frozenset(
    "npm pypi docker dockerhub registry github gitlab origin remote upstream".split()
)
_BRANCH: Final = lazy(r"[A-Za-z][\w./-]*", re.ASCII)

_COMMAND: Final = lazy(r"[A-Za-z./][\w./-]*(?:\s+[!-~]+){0,8}", re.ASCII)
_PATH: Final = lazy(r"(?![\w.@-]+\.(?:com|net|org|io|cn|dev|app|ai)(?:/|$))(?!.*//)(?!-)[\w@.*~/-]+")
_LOOKS_LIKE_A_FILE: Final = lazy(r"[/*]|^\.[a-z]|\.[A-Za-z]\w*$", re.ASCII)
_SAFE: Final = lazy(r"[^'\"()\\`]+")
PROGRAM: Final = lazy(
    r"(?:npm|pnpm|yarn|git|docker|docker-compose|kubectl|terraform|helm|pip3?|cargo|make|rm|aws|gh|psql|mysql|sqlite3|redis-cli|prisma"
    r"|rails|npx|bun|deno|poetry|uv|brew|apt|apt-get|yum|dnf|sudo|su|ansible-playbook|pulumi|vercel|netlify|fly|heroku"
    r"|firebase|dropdb|chmod|chown|dd|curl|wget|ssh|scp|rsync|kill|pkill|killall|systemctl|gcloud|az|pytest|python3?|node|go"
    r"|mvn|gradle|bash|sh|sed|awk|mv|truncate|shred)(?=\s|$)|[\w./-]*\.sh(?=\s|$)|\./\S"
)
_NO_PROGRAM: Final = lazy(
    r"\.[a-z][\w.*-]*|\S*\.(?:lock|json|ya?ml|toml|sql|env|pem|key|db|sqlite3?|md|txt|cfg|ini)|\S*/"
)


def hide(sentence: str) -> tuple[str, list[str]]:
    """Return a sentence with a private character for each quoted piece that can name a thing, and the pieces."""
    pieces: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        if match[2] and " " in match[2] and not PROGRAM.match(match[2]):
            return match[0]  # words, not code
        pieces.append((match[1] or match[2]).strip())
        return chr(_FIRST_PIECE + len(pieces) - 1)

    return _QUOTED.sub(hidden, sentence), pieces


def shown(text: str, pieces: Sequence[str]) -> str:
    """Return a text with its quoted pieces in their places."""
    return _PIECE.sub(lambda match: pieces[ord(match[0]) - _FIRST_PIECE], text)


def unquoted(sentence: str) -> str:
    """Return a sentence without its quoted pieces."""
    return _QUOTED.sub("", sentence)


def file(name: str, *, is_marked: bool) -> str:
    """Return the path that a name is; '' where it is none. `is_marked`: quoted, or called a file or a folder."""
    return name if _PATH.fullmatch(name) and (is_marked or _LOOKS_LIKE_A_FILE.search(name)) else ""


def command(text: str, *, is_quoted: bool) -> str:
    """Return the command that a text is, its program without folders; '' where it is none."""
    is_safe = _COMMAND.fullmatch(text) and _SAFE.fullmatch(text) and not _NO_PROGRAM.fullmatch(text)
    return re.sub(r"^\S*/", "", text) if is_safe and (is_quoted or PROGRAM.match(text)) else ""


def branches(name: str, *, is_marked: bool) -> list[str]:
    """Return the branches that a name stands for; none where it is no branch. `is_marked`: called a branch."""
    plain = name.lower()
    if not (is_marked or plain in _USUAL_BRANCHES) or plain in _NO_BRANCHES or not _BRANCH.fullmatch(name):
        return []
    return ["main", "master"] if plain in ("main", "master", "default") else [name]


def pushes(names: Sequence[str], *, force: bool) -> Acts:
    """Return the acts that push to these branches; to any where none is named."""
    flags = ["--force", "--force-with-lease"] if force else [""]
    return tuple(
        (Does.RUNS, " ".join(filter(None, ("git push", flag, branch))))
        for branch in dict.fromkeys(names or [""])
        for flag in flags
    )


def condition(acts: Acts) -> Condition:
    """Return the trigger of some acts, with examples."""
    commands = [name for does, name in acts if does is Does.RUNS]
    conditions = [_names(does, name) for does, name in acts if does is not Does.RUNS]
    if commands:
        conditions.append(_runs(commands))
    if len(conditions) == 1:
        return conditions[0]
    triggers, holds, _ = zip(*conditions, strict=True)
    return " || ".join(triggers), tuple(act for listed in holds for act in listed), ("ls -la",)


def _runs(patterns: Sequence[str]) -> Condition:
    listed = ", ".join(f"'{pattern}'" for pattern in patterns)
    plain = patterns[0].replace("*", "x")
    example = re.sub(r"^git push(?! origin)", "git push origin", plain)
    return f"runs(act, {listed})", (example, f"bash -c '{example}'"), (f"echo {plain}",)


def _names(does: Does, path: str) -> Condition:
    pattern = f"{path}**" if path.endswith("/") else path
    example = re.sub(r"\*+", "x", pattern)
    if does is Does.READS:
        return f"reads(act, '{pattern}')", (f"Read {example}", f"cat {example}"), ("ls -la",)
    return f"touches(act, '{pattern}')", (f"Write {example}", f"rm {example}"), (f"Read {example}",)
