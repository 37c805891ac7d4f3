"""Makes a page: the visit that asks for it, its language, its template, and texts, ages and differences in it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from memory_server.app import Services
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeFilter, Kind
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.scoring import age_in_days
from memory_server.errors import Invalid
from memory_server.language import catalogue
from memory_server.project import NONE, Project, readable
from memory_server.stores import clock
from memory_server.web.markdown import laid_out
from memory_server.web.marking import marked
from memory_server.web.work import PageWork

Choice = TypeVar("Choice", bound=StrEnum)

LANGUAGES = {"en": "English", "zh": "中文"}

SHOWN_DIFFERENCES = 2_000
"""Words of two texts that are compared; of longer ones the old text stands alone: to compare takes quadratic time."""

_PIECES = re.compile(r"[a-zA-Z0-9_]+|\s+|.", re.DOTALL)
_ADDRESS = re.compile(r'\b((?:href|src|action|hx-get)=")(?=/|\{\{)')
_ONE = re.compile(
    r"(?<![\d.,+-])1 ((?:earlier )?texts|tokens|sessions|memories|edges|versions|items|questions|days)\b"
)
_CODES = re.compile(r"(zh|en)\b[^,;]*(?:;\s*q=([01](?:\.\d{0,3})?))?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: who asks for what, in which language; `form` has the fields of what is sent."""

    request: Request
    form: Mapping[str, str]
    caller: Caller
    language: str
    csrf: str
    writes: bool

    def get(self, name: str, otherwise: str = "") -> str:
        """A value of the address."""
        return str(self.request.query_params.get(name, otherwise))

    def number(self, name: str, usual: int, least: int, most: int) -> int:
        """Return a whole number of the address between two others, the usual one where it has none.

        Raises:
            Invalid: it is no number.
        """
        text = self.get(name)
        try:
            return min(max(int(text or usual), least), most)
        except ValueError as error:
            raise Invalid(f"`{text}` is not a number. Write `{name}={usual}`, for example.") from error

    def many(self, name: str) -> list[str]:
        """The values of the boxes of this name that are ticked."""
        return self.form.get(name, "").split("\n") if name in self.form else []

    def within(self) -> Caller:
        """The caller in the project that the address names, else in its own; `-` is none."""
        name = self.get("project") or self.form.get("project", "")
        if not name:
            return self.caller
        return replace(self.caller, project=NONE if name == "-" else Project(readable(name), readable(name)))

    @property
    def owns(self) -> bool:
        """True for the owner of the file: others see nothing of the file itself, and do nothing to it."""
        return self.caller.person is None

    def path(self, name: str) -> Any:
        """A part of the path of the address, as `segment` was given it."""
        part = self.request.path_params[name]
        return part.removeprefix(_PLAIN) if isinstance(part, str) else part


@dataclass(frozen=True, slots=True)
class Desk:
    """The services and the templates, which all pages need."""

    services: Services
    templates: Environment
    work: PageWork = field(default_factory=PageWork)

    @classmethod
    def of(cls, services: Services) -> "Desk":
        environment = templates(services.settings.http_prefix)
        environment.filters |= {"moment": moment, "day": day, "quoted": quoted, "segment": segment,
                         "value": value, "laid_out": laid_out, "marked": marked,
                         "of": heading, "percent": lambda share: round(100 * share)}  # fmt: skip
        environment.tests["waiting"] = trust.waits
        environment.globals |= {"differences": differences, "languages": LANGUAGES}
        return cls(services, environment)

    def render(self, visit: Visit, name: str, status: int = 200, **values: Any) -> Response:
        """A page from a template, with `t` for words and `ago` for moments in the language of the visit."""
        page = self.templates.get_template(f"{name}.html").render(
            t=lambda text, **parameters: counted(translated(text, visit.language).format(**parameters)),
            say=lambda text: sentence(text, visit.language),
            reasons=catalogue.reasons if visit.language == "zh" else str,
            condition=catalogue.condition if visit.language == "zh" else str,
            ago=lambda at: ago(at, visit.language), page=name, visit=visit, writes=visit.writes,
            csrf=Markup('<input type="hidden" name="csrf" value="{}">').format(visit.csrf),
            stamp=self.services.database.stamp(), done=visit.get("done"), undo=visit.get("undo"),
            projects=self.services.projects.names(), here=self.services.projects.here(visit.caller.project),
            **values,
        )  # fmt: skip
        return HTMLResponse(page, status, {"vary": "Accept-Language, Cookie"})


_PLAIN = "~"
"""The sign before a name that a browser would take for a folder, or that begins with this sign."""


def quoted(text: object) -> str:
    """A text as a value in the query of an address."""
    return quote(str(text), safe="")


def segment(name: object) -> str:
    """A name as a part of the path of an address. Browsers leave out `.` and `..`, so these get a sign before them."""
    text = str(name)
    return quoted(_PLAIN + text if text in (".", "..") or text.startswith(_PLAIN) else text)


class _Rooted(Extension):
    """Puts the path below which the pages are before each address that a template writes."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return _ADDRESS.sub(r"\1{{ root }}", source)


def templates(root: str) -> Environment:
    """Load the templates; `root` is the path below which the pages are, '' at the top of a host."""
    folder = Path(__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, extensions=[_Rooted],
    )  # fmt: skip
    environment.globals["root"] = root
    return environment


def of_this_site(address: str) -> str:
    """The address where it is a path of these pages, else their start: no link may lead to another site."""
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else "/"


def back(address: str, **fields: str | None) -> Response:
    """Go to a page that says what was done."""
    query = {name: text for name, text in fields.items() if text}
    return RedirectResponse(f"{address}?{urlencode(query)}" if query else address, 303)


def onward(address: str, **fields: str) -> Response:
    """Go to a page that may have a query, and that says what was done."""
    return RedirectResponse(str(URL(address).include_query_params(**fields)), 303)


def last_change(desk: Desk, kind: Kind, id: int) -> str | None:
    """The number of the last change of a thing, by which it can be undone."""
    changes = desk.services.changes.select(ChangeFilter(undone=True, kind=kind, item=id), 1, Caller()).changes
    return str(changes[0].id) if changes else None


def language_of(request: Request) -> str:
    """The language that was chosen, else the first of the browser's that is one of ours."""
    chosen = request.cookies.get("language", "")
    if chosen in LANGUAGES:
        return chosen
    wished = _CODES.findall(request.headers.get("accept-language", ""))
    best = sorted(wished, key=lambda code: -float(code[1] or 1))
    return best[0][0].lower() if best else "en"


def translated(text: str, language: str) -> str:
    """A text of the pages in a language. One that is no text of ours stays as it is."""
    if language == "zh":
        return catalogue.word(text)
    return text.replace("_", " ") if text.isidentifier() else text


def counted(text: str) -> str:
    """Return an English text with the singular behind a 1, such as `1 text` for `1 texts`."""
    return _ONE.sub(lambda match: "1 " + re.sub("ie$", "y", match[1].removesuffix("s")), text)


def heading(label: str, number: int) -> str:
    """Return what stands below a figure, in the singular below a 1."""
    return counted(f"1 {label}").removeprefix("1 ") if number == 1 else label


def sentence(text: str, language: str) -> str:
    """A sentence of the services in a language, also one that has values in it."""
    return catalogue.chinese(text) if language == "zh" else text


def line(request: Request, text: str, status: int) -> Response:
    """Answer with one line in the language of the browser."""
    words = sentence(text, language_of(request))
    return PlainTextResponse(f"{words}\n", status, {"vary": "Accept-Language, Cookie"})


def given_moment(text: str, later: int = 0) -> datetime:
    """A moment that a form or an address gives, in local time, or so many days later.

    Raises:
        Invalid: it is none.
    """
    try:
        return (parse(text, None) + timedelta(days=later)).astimezone()
    except ValueError as error:
        raise Invalid(f"`{text}` is not a date. Write it as 2026-03-14 or 2026-03-14T09:26.") from error


def choice(values: type[Choice], text: str) -> Choice:
    """Return the value that an address or a form names.

    Raises:
        Invalid: it is none of them.
    """
    try:
        return values(text)
    except ValueError as error:
        raise Invalid(f"`{text}` is not one of {', '.join(values)}.") from error


def moment(at: str | None) -> str:
    """A moment in local time, to the minute; what is no moment stays as it is."""
    return _local(at, "%Y-%m-%d %H:%M")


def day(at: str | None) -> str:
    return _local(at, "%Y-%m-%d")


def _local(at: str | None, form: str) -> str:
    try:
        return parse(at).astimezone().strftime(form) if at else ""
    except (ValueError, OverflowError):
        return at or ""


def ago(at: str | None, language: str) -> str:
    """Word the age of a moment in one unit, such as `3 d ago`."""
    if not at:
        return ""
    days = age_in_days(at, timestamp(clock()))
    for unit, length in (("y", 365.0), ("mo", 30.0), ("d", 1.0), ("h", 1 / 24), ("min", 1 / 1440)):
        if days >= length:
            return translated(f"{{number}} {unit} ago", language).format(number=int(days / length))
    return translated("just now", language)


def value(content: Any) -> str:
    """A value of a fact for people: text as it is, lists and objects as indented lines."""
    return content if isinstance(content, str) else "\n".join(_lines(content, 0)) or "—"


def _lines(content: Any, depth: int) -> Iterator[str]:
    """A line for each part of a value. Deep ones are cut."""
    space = "    " * depth
    match content:
        case dict() | list() if depth > 6:
            yield f"{space}…"
        case dict():
            for name, item in content.items():
                if isinstance(item, dict | list) and item:
                    yield f"{space}{name}:"
                    yield from _lines(item, depth + 1)
                else:
                    yield f"{space}{name}: {_plain(item)}"
        case list():
            for item in content:
                if isinstance(item, dict | list) and item:
                    yield f"{space}•"
                    yield from _lines(item, depth + 1)
                else:
                    yield f"{space}• {_plain(item)}"
        case _:
            yield f"{space}{_plain(content)}"


def _plain(content: Any) -> str:
    return (
        content
        if isinstance(content, str)
        else "—"
        if content in ({}, [])
        else json.dumps(content, ensure_ascii=False)
    )


def differences(old: str, new: str) -> list[tuple[str, str]]:
    """Compare two texts: pieces that are `same`, `del` or `ins`, in order. A Han character is a piece."""
    old_words, new_words = _PIECES.findall(old), _PIECES.findall(new)
    if len(old_words) + len(new_words) > SHOWN_DIFFERENCES:
        return [("same", old)]
    parts: list[tuple[str, str]] = []
    for what, i1, i2, j1, j2 in SequenceMatcher(None, old_words, new_words, autojunk=False).get_opcodes():
        if what == "equal":
            parts.append(("same", "".join(old_words[i1:i2])))
            continue
        parts += [("del", "".join(old_words[i1:i2])), ("ins", "".join(new_words[j1:j2]))]
    return [part for part in parts if part[1]]
