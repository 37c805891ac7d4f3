"""Finds what a note names: files, names of code, and values beside a word. By its form, without a model."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from memory_server.ground.values import identifiers, stem
from memory_server.project import address

LONGEST = 20_000
"""Characters of a note that are read."""

MOST = 40
"""Files, names, and pairs of a note that are looked up, of each kind."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`]+")
_OF_FILE = re.compile(r"/(?:-/)?(?:blob|tree|blame|raw|src)/[^/]+/([^?#]+)")
_MARKED = re.compile(r"```.*?```|`([^`\n]{1,200})`", re.DOTALL)
_SIGN = r"A-Za-z0-9_.@+~$\[\]\-"
_PATH = re.compile(rf"(?<![{_SIGN}/\\])(?:[A-Za-z]:)?[\\/]?(?:[{_SIGN}]+[\\/])*[{_SIGN}]*[A-Za-z0-9_\]]")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,11}$")
_WITHOUT_ENDING = frozenset(  # written with a capital: a license is no file
    "dockerfile makefile procfile jenkinsfile gemfile rakefile vagrantfile justfile caddyfile license"
    " codeowners".split()
)
_NAME = re.compile(
    r"""(?<![A-Za-z0-9_.$/\\@-])(?:
        --[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*                        # a flag
        |(?:[A-Za-z_$][\w$]*(?:\.|::|\#|->))+[A-Za-z_$][\w$]*            # a.b, A::b
        |[A-Za-z_$][\w$]*(?=\(\))                                        # call()
        |_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*                     # snake_case, CONSTANT_CASE
        |__?[A-Za-z]\w*                                                  # _private
        |[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+                                 # camelCase
        |(?:[A-Z][a-z0-9]+){2,}[A-Z]*|[A-Z]{2,}[a-z][a-z0-9]+(?:[A-Z][a-z0-9]+)*  # PascalCase, HTTPServer
        |[A-Z][A-Z0-9]*[0-9]+[A-Z0-9]*(?![a-z])                          # E1101
    )(?![A-Za-z0-9_])""",
    re.VERBOSE | re.ASCII,
)
_COMMIT = re.compile(r"(?<![A-Za-z0-9])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![A-Za-z0-9])")
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+(?:[-+.][A-Za-z0-9]+)*(?![\w])", re.ASCII)
_IN_MARKS = re.compile(r"[A-Za-z_$@-][\w$.:/@-]{1,79}", re.ASCII)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”|「([^」\n]{1,60})」|(?<!\w)'([^'\n]{1,60})'(?!\w)"
)
_CODE = re.compile(r"(?=.*[A-Za-z]{2})[\w.:/@-]*[\d._:/@-][\w.:/@-]*", re.ASCII)
_DOMAIN = re.compile(r"\.(?:com|org|net|io|dev|ai|co|cn)$", re.ASCII)
_BRANDS = frozenset(
    "github gitlab javascript typescript postgresql mysql mongodb graphql macos ios openssl openai chatgpt youtube"
    " linkedin nodejs websocket websockets devops webassembly powershell vscode".split()
)
"""Words of prose with the form of a name."""

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,/:#-])v?(\d{1,3}(?:,\d{3})+|\d+(?:_\d{3})*(?:\.\d+)*)"
    r"[ -]?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|秒|毫秒|分钟)?(?![A-Za-z0-9_/:%-])",
    re.ASCII,
)
_IN_UNITS = {
    "s": 1_000,
    "sec": 1_000,
    "second": 1_000,
    "秒": 1_000,
    "m": 60,
    "min": 60,
    "minute": 60,
    "分钟": 60,
}
"""By how much a number in code is larger that has the next smaller unit."""

_PLACE = re.compile(r"(?i)(?:\blines?|#|第|[-–~]) ?$")
"""Before a number that says where, not how much."""

_CLAUSE = re.compile(r"[.;!?](?=\s|$)|[。；！？\n]")
_WORD = re.compile(r"[A-Za-z_$](?:[\w$-]|'[a-z])*|[\u4e00-\u9fff]+", re.ASCII)
_STOP = frozenset(
    "a an and are as at be but by for from has have in into is it its now of on or our so than that the their then"
    " there this to up was we were will with use uses used set sets equals default defaults only about after before not"
    " no must should can please value number line lines changed change new old per all until".split()
)
"""Words that name no value."""

_CHINESE = {
    "端口": "port", "超时": "timeout", "重试": "retries", "主机": "host", "数据库": "database", "缓存": "cache",
    "线程": "threads", "进程": "workers", "并发": "concurrency", "批": "batch", "延迟": "delay", "间隔": "interval",
    "最大": "max", "最小": "min", "大小": "size", "限制": "limit", "上限": "limit", "长度": "length", "区域": "region",
    "模型": "model", "维度": "dim",
}  # fmt: skip
"""Words for values, as code has them."""

_WINDOW = 100
"""Characters before and after a value in which its name is looked for."""

_NEAR = 4
"""Words before a value among which its name is looked for."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of a note, the forms in which code may hold it, and the words near it, the nearest first."""

    forms: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """`plain` are versions, commits and quoted texts: they count only in files that the note or the session names."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    plain: tuple[str, ...]
    pairs: tuple[Pair, ...]


def mentions(text: str, remote: str | None) -> Mentions:
    """Return what a note names. `remote` is the address of this repository: its URLs name files."""
    text = text[:LONGEST]
    urls = [path for match in _URL.finditer(text) if (path := _path_of_url(match[0], remote))]
    pairs = tuple(islice(_pairs(text), MOST))
    text = _URL.sub(" ", text)
    paths = [*urls, *_paths(text)]
    return Mentions(_first(paths), _first(_names(text)), _first(_plain_names(text)), pairs)


def _first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(texts), MOST))


def _path_of_url(url: str, remote: str | None) -> str | None:
    """Return the path of a file in this repository that a URL of its host names."""
    home = address.read(remote) if remote else None
    page = address.read(url.rstrip(".,;:!?)]}"))
    if home is None or page is None or not page.key.startswith(f"{home.key}/"):
        return None
    file = _OF_FILE.match(page.path[len(home.path) :])
    return file[1] if file else None


def _paths(text: str) -> Iterator[str]:
    for match in _MARKED.finditer(text):
        if match[1] and is_path(match[1]):
            yield _plain(match[1])
    for match in _PATH.finditer(text):
        if is_path(match[0]):
            yield _plain(match[0])


def is_path(text: str) -> bool:
    """True for a text that may name a file."""
    text = _plain(text)
    name = text.rpartition("/")[2]
    if not name or any(sign in text for sign in "*<>|\"' "):
        return False
    return (
        bool(_ENDING.search(name))
        or (name != name.lower() and name.casefold() in _WITHOUT_ENDING)
        or (name[0] == "." and name.strip(".") != "")
    )


def _plain(text: str) -> str:
    """Return a path with "/", without the line that follows it and the end of a sentence."""
    text = re.sub(r"(?::\d+(?:[:-]\d+)?|#L?\d+(?:-L?\d+)?)$", "", text.strip().rstrip(".,;:!?"))
    return text.replace("\\", "/").removeprefix("./")


def _names(text: str) -> Iterator[str]:
    """Yield the names of code: those in marks, then what has the form of a name."""
    for match in _MARKED.finditer(text):
        call = re.sub(r"\([^()]*\)$", "", (match[1] or "").strip())
        if _IN_MARKS.fullmatch(call):
            yield call
    for match in _NAME.finditer(_PATH.sub(lambda match: " " if "/" in _plain(match[0]) else match[0], text)):
        name = match[0]
        if len(name) > 3 and name.casefold() not in _BRANDS and not _DOMAIN.search(name):
            yield name


def code_names(text: str) -> Iterator[str]:
    """Yield what has the form of a name in a text that is code."""
    return (match[0] for match in _NAME.finditer(text))


def _plain_names(text: str) -> Iterator[str]:
    """Yield commits, versions, and quoted texts that are no prose."""
    for pattern in (_COMMIT, _VERSION):
        yield from (match[0] for match in pattern.finditer(text))
    for match in _QUOTED.finditer(text):
        inner = next(filter(None, match.groups()))
        if _CODE.fullmatch(inner) and not is_path(inner):
            yield inner


def _pairs(text: str) -> Iterator[Pair]:
    """Yield the values of a note with the words near them in their clause."""
    plain = _PATH.sub(lambda match: " " * len(match[0]) if _is_file(match[0]) else match[0], text)
    start = 0
    for end in (*(match.end() for match in _CLAUSE.finditer(text)), len(text)):
        clause, words = text[start:end], plain[start:end]
        start = end
        for match in _NUMBER.finditer(words):
            if not _PLACE.search(words[max(0, match.start() - 8) : match.start()]) and (
                near := _words_near(words, *match.span())
            ):
                yield Pair(_forms(match[1], match[2] or ""), near)
        for match in _QUOTED.finditer(clause):
            if near := _words_near(words, *match.span()):
                yield Pair((next(filter(None, match.groups())),), near)


def _is_file(text: str) -> bool:
    """True for a path in a text, and not for a version with an ending: `8.0.x`."""
    return is_path(text) and not text[0].isdigit()


def _forms(number: str, unit: str) -> tuple[str, ...]:
    """Return the forms of a number: as it is, and in the next smaller unit of time."""
    plain = number.replace(",", "").replace("_", "")
    factor = _IN_UNITS.get(unit if unit in _IN_UNITS else unit.removesuffix("s"))
    return (plain, str(int(plain) * factor)) if factor and plain.isdigit() else (plain,)


def _words_near(clause: str, start: int, end: int) -> tuple[str, ...]:
    """Return the words that may name the value of a clause: up to four before it, the nearest first, and two after."""
    before = [
        word
        for text in reversed(_WORD.findall(clause[max(0, start - _WINDOW) : start]))
        for word in _code_words(text)
    ]
    after = [word for text in _WORD.findall(clause[end : end + _WINDOW]) for word in _code_words(text)]
    return tuple(dict.fromkeys((*before[:_NEAR], *after[:2])))


def _code_words(text: str) -> list[str]:
    """Return the words of code that a word of a note stands for."""
    if text[0] >= "\u4e00":
        return [code for word, code in _CHINESE.items() if word in text]
    return [text] if text.casefold() not in _STOP and len(text) > 1 else []


def names_value(identifier: str, words: frozenset[str], word: str) -> bool:
    """True if a word of a note names this identifier: it is one of its words, or the same in another way of writing."""
    return stem(word) in words or "".join(identifiers(word)).casefold() == identifier.casefold()
