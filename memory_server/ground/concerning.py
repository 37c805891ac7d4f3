"""Tells whether a note is about a file: it names the file, its folder, or what is written into it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

from memory_server.ground.anchors import Anchor
from memory_server.ground.budget import Budget
from memory_server.ground.mentions import code_names, mentions
from memory_server.ground.tree import around
from memory_server.ground.values import parts_of


class About(IntEnum):
    """Ways in which a note is about a file, the most exact last."""

    NOTHING = 0
    FOLDER = 1
    """It names a folder above the file, or files of its kind: `migrations/`, `*.sql`."""
    NAME = 2
    """It names what is taken out of the file or put into it."""
    FILE = 3


LONGEST = 20_000
"""Characters of an edit that are read for names."""

SECONDS = 0.05
"""CPU time for the list of files of a tree, which is kept until git's index changes."""

MOST = 24
"""Names of an edit that are looked up."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that is read or changed: its path from the root of its tree, with "/", and what is written there.

    `is_alone`: no other file of the tree has its name.
    """

    path: str
    text: str = ""
    is_alone: bool = True
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(islice(dict.fromkeys(_telling(self.text[:LONGEST])), MOST)))

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def terms(self) -> tuple[str, ...]:
        """The words of which a note that is about the file holds one, the most telling first."""
        folders = [part for part in PurePosixPath(self.path).parts[:-1] if part not in (".", "/")]
        ending = self.name.rpartition(".")[2] if "." in self.name.lstrip(".") else ""
        return tuple(dict.fromkeys(filter(None, (self.name, *self.names, *folders[::-1], ending))))


def touched(file: Path, text: str, folder: Path | None) -> Touched:
    """Return a file of the working tree around a folder, or of none, with what is written there."""
    tree = around(folder) if folder is not None else None
    if tree is None or (path := tree.inside(file) or tree.inside(file.parent.resolve() / file.name)) is None:
        is_below = folder is not None and folder in file.parents
        return Touched((file.relative_to(folder) if folder and is_below else file).as_posix(), text)
    ending = f"/{file.name}"
    namesakes = [path for path in tree.listing(Budget(SECONDS)).paths if f"/{path}".endswith(ending)]
    return Touched(path, text, not set(namesakes) - {path})


def about(note: str, touched: Touched, anchors: Sequence[Anchor] = ()) -> About:
    """Return in which way a note is about a file. `anchors` are what it was seen to speak of in this tree: a name
    counts only there, since one that stands everywhere tells nothing."""
    files = mentions(note, None).paths
    if any(_names_file(path, touched, anchors) for path in files):
        return About.FILE
    if any(anchor.name and parts_of(anchor.name)[-1] in touched.names for anchor in anchors):
        return About.NAME
    if not files and any(_is_under(touched.path, folder) for folder in _folders(note)):
        return About.FOLDER  # a note about a file names folders by the way
    if any(_matches(touched.path, glob) for glob in _globs(note)):
        return About.FOLDER
    return About.NOTHING


def _names_file(path: str, touched: Touched, anchors: Sequence[Anchor]) -> bool:
    """True if a path of a note is the file: from the root, by its last parts, or by its name alone."""
    path, whole = path.lstrip("/").casefold(), touched.path.casefold()
    if path == whole.lstrip("/"):
        return True
    if "/" in path:
        return f"/{whole}".endswith(f"/{path}")
    if path != touched.name.casefold():
        return False
    same_name = [anchor.path for anchor in anchors if anchor.path.rpartition("/")[2].casefold() == path]
    return touched.path in same_name if same_name else touched.is_alone


def _telling(text: str) -> Iterator[str]:
    """Yield the names of code in an edit that are no ordinary words."""
    for name in dict.fromkeys(code_names(text)):
        yield from (part for part in parts_of(name) if _is_telling(part))


def _is_telling(name: str) -> bool:
    """True for a name that is no ordinary word: of several words, or long."""
    return (
        len(name) > 4 and re.search(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|\w\.\w|::|--\w", name) is not None
    )


_FOLDER = re.compile(r"(?<![\w./@-])(?:\./)?/?((?:[\w.@-]+/)+)(?![\w*{])")
_IN_FOLDER = re.compile(
    r"\b(?:under|in|inside|within|below|unter|in)\s+(?:the\s+)?`?/?([\w.@-]+(?:/[\w.@-]+)+)`?(?![\w/*])"
)
_THE_FOLDER = re.compile(r"`([\w.@-]+(?:/[\w.@-]+)*)`\s+(?:folder|directory|package|module|tree|目录|文件夹)")
_GLOB = re.compile(r"(?<![\w*/])((?:[\w.@*-]+/)*\*[\w*]*\.?[\w{},-]*(?:\.[\w{},-]+)*)(?![\w*])")
_ENDINGS = re.compile(r"(?<![\w.*])`?(\.[a-z][a-z0-9]{0,5})`?\s+(?:files?|Dateien|文件)")
_ORDINARY = frozenset("src lib test tests app pkg packages internal docs doc core".split())
"""Folders that many trees have in many places."""


def _folders(note: str) -> Iterator[str]:
    for pattern in (_FOLDER, _IN_FOLDER, _THE_FOLDER):
        yield from (match[1].strip("/") for match in pattern.finditer(note))


def _is_under(path: str, folder: str) -> bool:
    """True if a file is in a folder of a note: one of the root, else one with these parts anywhere."""
    if path.startswith(f"{folder}/"):
        return True
    return folder not in _ORDINARY and f"/{folder}/" in f"/{path}"


def _globs(note: str) -> Iterator[str]:
    for match in _GLOB.finditer(note):
        if re.search(r"\w", last := match[1].rpartition("/")[2]) and re.search(r"[._-]", last):
            yield match[1]
    yield from (f"*{match[1]}" for match in _ENDINGS.finditer(note))


def _matches(path: str, glob: str) -> bool:
    """True if a path matches a glob from the root, or by its last parts; `{a,b}` is either."""
    if choice := re.search(r"\{([^{}]*)\}", glob):
        return any(
            _matches(path, glob[: choice.start()] + part + glob[choice.end() :])
            for part in choice[1].split(",")
        )
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    glob = glob.replace("**/", "*")
    return fnmatchcase(path, glob) or fnmatchcase(path, f"*/{glob}")
