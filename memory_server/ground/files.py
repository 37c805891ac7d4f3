"""Which files of a repository are searched for names, and which words name a file."""

import re

_ENDINGS = frozenset(
    "png jpg jpeg gif ico webp bmp pdf zip gz tgz bz2 xz 7z jar whl so dll dylib exe bin o a class pyc wasm woff woff2 "
    " ttf otf eot mp3 mp4 wav ogg mov avi db sqlite sqlite3 parquet npy npz onnx pt gguf svg map snap lock".split()
)
"""Files that hold no line a person reads."""

_LOCKS = frozenset("package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum composer.lock".split())

_HISTORY = re.compile(r"(?i)(?:change(?:s|log)|history|news|release[-_ ]?notes|releases|whatsnew)(?![a-z])")
"""Files that tell what was: a name stands there for ever."""

_FOLDERS = re.compile(r"(?:^|/)(?:node_modules|vendor|third_party|dist|\.git)/")

_MADE = re.compile(r"\.min\.(?:js|css)$|\.bundle\.js$")


def is_searched(path: str) -> bool:
    """True for a file in which a name is searched that the note does not place: no data, no lock, no history."""
    name = path.rpartition("/")[2]
    return not (
        name.rpartition(".")[2].casefold() in _ENDINGS
        or name in _LOCKS
        or _HISTORY.match(name)
        or _MADE.search(name)
        or _FOLDERS.search(path)
    )
