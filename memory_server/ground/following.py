"""Follows what is not where it was: a file that was renamed, a name that went to another file."""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from memory_server.ground.anchors import Anchor
from memory_server.ground.files import is_searched
from memory_server.ground.index import Listing
from memory_server.ground.tree import Tree

_KINDS = tuple(
    map(
        str.split, ("js jsx ts tsx mjs cjs mts cts", "yml yaml", "c cc cpp cxx", "h hh hpp", "md mdx rst txt")
    )
)
"""Endings of one kind of file, which a rename may change."""

_FOLDER_FILES = frozenset(("__init__", "index", "mod"))
"""Files that stand for their folder: `shop.py` becomes `shop/__init__.py`."""


def renamed(path: str, paths: Sequence[str], exists: Callable[[str], bool]) -> str:
    """Return the file that a path has probably become; empty where there is none, or several that are equally likely.

    It has the same name in another folder, or the same folder and name with another ending. Where several have the
    name, it is the one that has the most last folders of the path, and at least one.
    """
    folder, _, name = path.rpartition("/")
    stem, dot, ending = path.rpartition(".")
    same = {f"{stem}.{kind}" for kinds in _KINDS if ending in kinds for kind in kinds} if dot else set()
    for candidate in paths:
        is_near = candidate in same or (candidate.startswith(stem) and _is_module(candidate, stem))
        if dot and is_near and exists(candidate):
            return candidate
    alike = [file for file in paths if file.endswith(name)] or [
        file
        for file in paths
        if file.casefold().endswith(name.casefold())  # the case of a letter was changed
    ]
    named = [file for file in alike if len(file.rpartition("/")[2]) == len(name) and exists(file)]
    if len(named) < 2:
        return "".join(named)
    common = [_common_end(folder, file.rpartition("/")[0]) for file in named]
    most = max(common)
    return named[common.index(most)] if most and common.count(most) == 1 else ""


def _is_module(path: str, stem: str) -> bool:
    """True for `stem/__init__.py`, where the stem is that of a file."""
    end = path[len(stem) :]
    return end.startswith("/") and end[1:].partition(".")[0] in _FOLDER_FILES and end.count("/") == 1


def candidates(anchors: Sequence[Anchor], listing: Listing, tree: Tree) -> Iterator[str]:
    """Yield the files in which a lost name may stand: those with the name of its file, those of its folder, those of
    its kind, and all others.
    """
    yielded: set[str] = set()
    for path in _by_likelihood(anchors, listing, tree):
        if path not in yielded and is_searched(path):
            yielded.add(path)
            yield path


def _by_likelihood(anchors: Sequence[Anchor], listing: Listing, tree: Tree) -> Iterator[str]:
    names = tuple({anchor.path.rpartition("/")[2] for anchor in anchors})
    yield from (path for path in listing.paths if path.endswith(names))
    for path in {anchor.path.rpartition("/")[0]: anchor.path for anchor in anchors}.values():
        yield from tree.neighbours(path)
    endings = tuple({name[name.rfind(".") :] for name in names if "." in name})
    yield from (path for path in listing.paths if path.endswith(endings))
    yield from listing.paths


def _common_end(folder: str, folder_now: str) -> int:
    """Return how many last folders two paths share."""
    pairs = zip(reversed(folder.split("/")), reversed(folder_now.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] != "", pairs))
