"""Things that rules in plain English are about: a branch, a file or a command at a place of a sentence."""

import re
from typing import Final

from memory_server.domain import stated
from memory_server.domain.english_parts import END
from memory_server.domain.stated import PIECE, Acts, Does
from memory_server.language.lazy import closed_list, lazy

Thing = tuple[Acts, int]
"""Acts on what a sentence names, and where it ends; no acts where it names nothing that is understood."""

_BRANCH: Final = closed_list(rf"""
    (?:(?:to|on|onto|into)\s(?:the\s)?)?(?:remote\s)?(branch(?:es)?\s)?(?:origin[/\s])?({PIECE}|[\w./-]*[\w/-])(\sbranch(?:es)?)?{END}
""")
_FILE: Final = closed_list(rf"""
    (?:(?:the|any|all|every|each|my|our|your|an?|of|in|inside|within|under|below|from|to|at|into|contents?|anything|everything|something
    |code|script|files?)\s)*(?:(folders?|directory|directories)\s)?
    ({PIECE}|[\w@.*~/+-]*[\w@*~/+-])(?:\s(files?|folders?|directory|directories))?{END}
""")
_NAMED_FILE: Final = lazy(r"[A-Z]\w*file|README|LICENSE|CHANGELOG", re.ASCII)
_SEVERAL: Final = lazy(r"\w\.\w+/[^/]*\.\w")
"""`a.txt/b.txt`: one or two."""
_ENDING: Final = lazy(r"\.\w+", re.ASCII)
_CALLED: Final = closed_list(r"(?:(?:the|any|an?|every|each|our|my|command|script|program|tool)\s)*")
_BEHIND: Final = closed_list(
    rf"\s(?:commands?|scripts?|programs?|ausführen|benutzen|verwenden|starten|aufrufen){END}"
)
_ARGUMENT: Final = lazy(r"--?\w[\w.=/:@*-]*|--|[\w.@*/+-]*[\d.=/:@*~^][\w.=/:@*~^+-]*", re.ASCII)
_WORDS: Final = frozenset(
    "add am amend apply audit bisect branch build bundle checkout cherry-pick clean clear clone cluster commit"
    " compose config container context cp create db delete deploy deployment destroy dev develop dist down"
    " downgrade drain drop dump edit env eval exec fetch fix flush flushall force fork format function generate"
    " get global hard head helm image import info init install kill link lint lock log login logout ls main master"
    " merge migrate mirror mv namespace network node origin pack patch pod pr prod production prune publish pull"
    " push rebase reflog release remote remove rename replace repo reset restart restore restrict resume revert rm"
    " rollback rollout run s3 scale secret seed serve service set set-url setup show shutdown squash stack stage"
    " staging start stash state status stop submodule switch sync system tag taint test tidy token truncate tunnel"
    " undo uninstall unlink unpublish untaint up update upgrade volume workspace worktree".split()
)
"""Words that an unquoted command may have besides flags, paths and the like: another one may belong to the sentence."""


def branch(text: str, at: int, pieces: list[str], *, force: bool) -> Thing:
    """Read the branch to which is pushed."""
    match = _BRANCH.match(text, at)
    if match is None:
        return (), at
    called, name, behind = match.groups()
    shown = stated.shown(name, pieces)
    listed = shown.split("/") if shown == name else []
    if len(listed) > 1 and all(stated.branches(part, is_marked=False) for part in listed):
        return (), at  # `main/dev`: one or two
    names = stated.branches(shown, is_marked=bool(called or behind or shown != name or len(listed) > 1))
    return stated.pushes(names, force=force) if names else (), match.end()


def file(text: str, at: int, pieces: list[str], does: Does) -> Thing:
    """Read a file or a folder. `the .lock files` are those of that ending, and those of that name."""
    match = _FILE.match(text, at)
    if match is None:
        return (), at
    called, name, behind = match.groups()
    shown = stated.shown(name, pieces)
    path = stated.file(shown, is_marked=shown != name or _NAMED_FILE.fullmatch(name) is not None)
    if path == name and _SEVERAL.search(path):
        return (), at
    if path and behind == "files" and _ENDING.fullmatch(path):
        return tuple((does, pattern) for pattern in (path, f"*{path}", f"{path}.*")), match.end()
    if path and path[-1] not in "/*" and (called or (behind or "file").startswith(("fold", "dir"))):
        path += "/"
    return ((does, path),) if path else (), match.end()


def command(text: str, at: int, pieces: list[str], *, has_verb: bool) -> Thing:
    """Read a command: a quoted one, or a program with words that commands alone have."""
    called = _CALLED.match(text, at)
    begin = called.end() if called else at
    first = text[begin : begin + 1]
    is_quoted = re.fullmatch(PIECE, first) is not None
    written = first if is_quoted else _unquoted(text[begin:])
    end = begin + len(written)
    is_named = is_quoted or (has_verb and "/" in written.split(" ")[0])
    name = stated.command(stated.shown(written, pieces), is_quoted=is_named)
    if not name or re.match(END, text[end:]) is None:
        return (), at
    behind = _BEHIND.match(text, end)
    return ((Does.RUNS, name),), behind.end() if behind else end


def _unquoted(text: str) -> str:
    """Return the command with which a text begins."""
    words: list[str] = []
    for word in text.split(" "):
        plain = word.rstrip(",;:.!)") if word != "." else word
        if not plain or (words and plain.lower() not in _WORDS and _ARGUMENT.fullmatch(plain) is None):
            break
        words.append(plain)
        if plain != word:
            break
    return " ".join(words)
