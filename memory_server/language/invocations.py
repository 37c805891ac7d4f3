"""The words of one command: the names of its program, its flags and plain words, what it runs, and what it writes."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_server.language import programs
from memory_server.language.shell_words import MANY, UNKNOWN

_VERSION = re.compile(r"(?<=[a-z])[\d.]+$")
_LONG = re.compile(r"--?[A-Za-z][\w-]+=")
_SCRIPT = re.compile(r"\.(?:sh|bash|py|rb|js|ts|mjs)$")
_INTERPRETERS = {
    "py": ("python", "python3"),
    "js": ("node",),
    "rb": ("ruby",),
    "sh": ("bash", "sh"),
    "artisan": ("php",),
}


def base(word: str) -> str:
    """Return the name of a program: without its folder, `.exe` and `@latest`."""
    name = word.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"(?<=.)@[\w.^~-]+$|\.(?:exe|cmd|bat|ps1)$", "", name) or word


def names(word: str) -> tuple[str, ...]:
    """Return the names under which a program may be meant: `python3.12` is `python3` and `python`."""
    name = base(word)
    for ending in (".sh", ".bash", "-cli"):
        if name.endswith(ending) and name != ending:
            return (name, name.removesuffix(ending))
    versioned = _VERSION.sub("", name)
    if versioned == name or _SCRIPT.search(name):
        return (name,)
    return (name, *([name.split(".")[0]] if "." in name else []), versioned)


def aliases(name: str, all_names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
    """Yield the other programs that a program stands for, each with the words that come first then."""
    for alias in all_names:
        if alias in programs.PROGRAMS:
            meant, *words = programs.PROGRAMS[alias]
            yield (meant,), words
    if name.startswith("git-"):
        yield ("git",), [name[4:]]
    for interpreter in _INTERPRETERS.get(name.rsplit(".", 1)[-1], ()):
        yield (interpreter,), [name]


def parts(name: str, words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return flags, plain words and the words that can be the sub-command."""
    flags: list[str] = []
    plain: list[str] = []
    leads: list[str] = []
    program = programs.PROGRAMS.get(name, (name,))[0]
    synonyms = programs.SUB_COMMANDS.get(program, {})
    after_flag, opened = False, True
    for before, word in pairwise(["", *words]):
        if word.startswith("-") and len(word) > 1 and word != "--":
            flag, has_value, value = word.partition("=") if _LONG.match(word) else (word, "", "")
            flags += _spellings(flag)
            if has_value:
                plain.append(value)
            elif not flag.startswith("--") and len(flag) > 3:  # such as `-XDELETE`
                plain.append(flag[2:])
            after_flag = not has_value
            continue
        meant = synonyms.get(word, word)
        if meant and not (before in programs.SAYS and name in ("git", "gh", "hg")):
            plain += [meant, word]
            leads += [meant] if opened else []
        opened = opened and (after_flag or not meant)
        after_flag = False
    same = programs.SAME.get(program, programs.SAME.get(name, ()))
    flags += [twin for group in same if set(group) & set(flags) for twin in group]
    return flags, plain, leads


def _spellings(flag: str) -> Iterator[str]:
    """Yield a flag in all its spellings: `-rf` is `-r` and `-f`, `-auto-approve` is `--auto-approve`."""
    yield flag
    letters = flag[1:]
    if flag.startswith("--") or len(letters) == 1:
        return
    yield f"--{letters}"
    if re.fullmatch(r"[A-Za-z0-9]{2,6}", letters):
        yield from (f"-{letter}" for letter in letters)
    elif letters[0].isalpha():
        yield flag[:2]


def behind(words: Sequence[str], wrapper: programs.Wrapper) -> list[str]:
    """Return the command behind the flags and the words of a program that runs it."""
    left, skips = list(words), wrapper.skips
    while left:
        word = left[0]
        if word == "--":
            return left[1:]
        if word.startswith("-") and len(word) > 1:
            left.pop(0)
            takes = word not in wrapper.plain if wrapper.plain else word in wrapper.valued
            if takes and "=" not in word and left:
                left.pop(0)
        elif skips > 0:
            left.pop(0)
            skips -= 1
        else:
            return left
    return []


def wrapped(name: str, words: Sequence[str]) -> list[str]:
    """Return the command that a program runs; none where it runs none. One word with blanks is a line of a shell."""
    full = list(words) if name in programs.WRAPPERS else [*programs.PROGRAMS.get(name, (name,)), *words[1:]]
    full[0] = name if name in programs.WRAPPERS else full[0]
    for place, word in enumerate(full[:-1]):
        if word in programs.RUNS_A_LINE.get(name, ()):
            line = full[place + 1 :]
            return line if len(line) > 1 and " " not in line[0] else [f"{line[0]} "]
    plain = [place for place, word in enumerate(full) if not word.startswith("-")]
    unvalued = [place for place in plain if place == 0 or not full[place - 1].startswith("-")]
    for places in (plain[:3], unvalued[:3]):  # the value of a flag may stand before the sub-command
        for length in range(len(places), 0, -1):
            wrapper = programs.WRAPPERS.get(" ".join(full[place] for place in places[:length]))
            if wrapper is not None:
                return behind(full[places[length - 1] + 1 :], wrapper)
    return []


def image(words: Sequence[str], inner: Sequence[str]) -> str | None:
    """Return the program that an image is named after, of `docker run … IMAGE` and the words behind it."""
    if "run" not in words or not inner or len(words) <= len(inner):
        return None
    return re.sub(r"[:@].*", "", words[len(words) - len(inner) - 1].rpartition("/")[2]) or None


def executed(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the commands that `find` runs, with what it looks for behind them."""
    named = [word for word in words[1:] if not word.startswith(("-", "(", "!"))][:1]
    named += [value for flag, value in pairwise(words) if flag in ("-name", "-path", "-iname")]
    for place, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            inner = words[place + 1 :]
            end = next((index for index, part in enumerate(inner) if part in (";", "+")), len(inner))
            if end:
                yield [*(MANY if part == "{}" else part for part in inner[:end]), *named]


def targets(word: str) -> list[str]:
    """Return the parts of a target: `core` and `publish` of `:core:publish`, `core/publish` or `core/+publish`."""
    parts = [part for part in re.split(r"[:/+]", word) if part]
    return parts if parts != [word] and len(parts) < 4 else []


def _sent(word: str) -> str:
    """Return the file that an argument of curl sends: of `key=@file` the file."""
    return word.partition("@")[2] if re.match(r"(?:\w+=)?@", word) else word


def pushed(words: Sequence[str], branch: str | None) -> list[str]:
    """Return the branches that the words behind `git push` reach, and the flags that they mean."""
    if any(word in ("--all", "--mirror", "--branches") for word in words):
        return [MANY]
    refs = [word for word in words if not word.startswith("-")][1:]
    if not refs and "--tags" not in words:
        return [branch or UNKNOWN]
    more: list[str] = []
    for ref in refs:
        source, _, target = ref.lstrip("+").rpartition(":")
        name = target.removeprefix("refs/heads/")
        if name in ("HEAD", "@") and not source:
            name = branch or UNKNOWN
        more.append(name)
        more += ["--force"] if ref.startswith("+") else []
        more += ["--delete"] if ref.startswith(":") else []
    return more


def read(name: str, plain: Sequence[str]) -> Sequence[str]:
    """Return the files that a program reads or sends; `x/**` is all that lies in a folder."""
    files = [_sent(word) if name == "curl" else word for word in plain]
    whole = [f"{path}/**" for path in plain] if name in programs.READS_WHOLE else []
    return [*(files if name.lower() in programs.READS else []), *whole]


def written(name: str, words: Sequence[str], plain: Sequence[str]) -> Sequence[str]:
    """Return the files that a program writes, moves or deletes; `x/**` is all that lies in a folder."""
    name = name.lower()
    if name in programs.WHOLE:
        return [*plain, *(f"{path}/**" for path in plain)]
    if name in programs.WRITES:
        return plain
    if name in programs.WRITES_LAST:
        return plain[-1:]
    if name == "dd":
        return [word.removeprefix("of=") for word in words if word.startswith("of=")]
    if name == "git" and words and words[0] in programs.GIT_WRITES:
        return [*plain[1:], *(f"{path.rstrip('/')}/**" for path in plain[1:] if path != ".")]
    with_flags = programs.WRITES_WITH.get(name, ())
    if "*" in with_flags or any(word in with_flags or word.split("=")[0] in with_flags for word in words):
        return [*plain, *(f"{path}/**" for path in plain if name == "find")]
    return []


def joined(folder: str, path: str) -> str:
    """Return a path as seen from where the line began."""
    if not folder or path.startswith(("/", "~", UNKNOWN)):
        return path
    folders: list[str] = []
    for part in f"{folder}/{path}".split("/"):
        if part == ".." and folders and folders[-1] != "..":
            folders.pop()
        elif part != ".":
            folders.append(part)
    return "/".join(folders)
