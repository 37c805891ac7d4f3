"""The pages as an application: `site(services, caller_of)` gives one that any server can mount."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL, FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from memory_server.app import Services
from memory_server.call import acting, again
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError, NotFound
from memory_server.web.gate import Guarded
from memory_server.web.pages import (
    facts,
    graph,
    health,
    map,
    memory,
    now,
    review,
    rules,
    search,
    selection,
    session,
    timeline,
    triggers,
)
from memory_server.web.view import LANGUAGES, Desk, Visit, language_of, line, of_this_site, sentence

STATIC = Path(__file__).with_name("static")

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""The media types of static files: those of the machine may be others."""

MOST_FORM = 1_300_000
"""Bytes of a field of a form: more than 100,000 characters, each of up to 4 bytes that a form writes as `%F0`."""

MOST_FIELDS = 400
"""Fields of a form: the boxes of a whole list."""

TEXTS = ("content", "value")
"""Fields of forms that hold a text which takes time to write: where the form fails, the page gives it back."""

Page = Callable[[Desk, Visit], Response]

PAGES: dict[str, Page] = {
    "/": search.show,
    "/new": memory.new,
    "/memory/{id:int}": memory.show,
    "/turn/{id:int}": memory.show_turn,
    "/said/{id:int}": memory.show_said,
    "/now": now.show,
    "/sessions": session.show_all,
    "/session/{name:path}": session.show,
    "/triggers": triggers.show,
    "/trigger/{name:path}": triggers.show_one,
    "/graph/{id:int}": graph.show,
    "/graph": graph.start,
    "/map": map.show,
    "/timeline": timeline.show,
    "/facts": facts.show,
    "/fact/{scope}/{key:path}": facts.show_one,
    "/rules": rules.show,
    "/review": review.show,
    "/doctor": health.show,
    "/doctor/work": health.show_work,
    "/language/{code}": lambda _, visit: _speak(visit),
    "/stamp": lambda desk, _: PlainTextResponse(desk.services.database.stamp()),
}

TRIES: dict[str, Page] = {"/triggers/try": triggers.try_out}
"""What is sent like a change and changes nothing."""

WRITES: dict[str, Page] = {
    "/new": memory.add,
    "/selected": selection.act,
    "/memory/{id:int}/edit": memory.edit,
    "/memory/{id:int}/connect": memory.connect,
    "/memory/{id:int}/disconnect": memory.disconnect,
    "/memory/{id:int}/supersede": memory.supersede,
    "/memory/{id:int}/forget": memory.forget,
    "/turn/{id:int}/forget": memory.forget_turn,
    "/said/{id:int}/forget": memory.forget_said,
    "/fact/{scope}/{key:path}/write": facts.write,
    "/fact/{scope}/{key:path}/forget": facts.forget,
    "/trigger/{name:path}/forget": triggers.forget,
    "/undo": timeline.undo,
    "/rules/confirm": rules.confirm,
    "/rules/switch": rules.switch,
    "/review/confirm": review.confirm,
    "/review/drop": review.drop,
    "/review/keep": review.keep,
    "/review/take": review.take,
    "/doctor/backup": health.back_up,
    "/doctor/purge": health.purge,
}


def site(
    services: Services,
    caller_of: Callable[[Request], Caller],
    secret: bytes,
    read_only: Callable[[Caller], bool] = lambda _: False,
) -> Starlette:
    """The pages. `caller_of` says who asks, `secret` makes the tokens of forms, `read_only` who may write nothing."""
    desk = Desk.of(services)

    def visit(request: Request, form: Mapping[str, str]) -> Visit:
        caller = replace(caller_of(request), stamp=trust.typed)
        name = caller.person.name if caller.person else ""
        csrf = hmac.new(secret, name.encode(), sha256).hexdigest()
        return Visit(request, form, caller, language_of(request), csrf, not read_only(caller))

    async def read(page: Page, request: Request) -> Response:
        return await run_in_threadpool(_answered, desk, visit(request, {}), page)

    async def write(page: Page, request: Request) -> Response:
        try:
            async with request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=MOST_FORM) as fields:
                form = _lines(fields)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        sent = visit(request, form)
        if not sent.writes and page not in TRIES.values():
            return line(request, "These pages are read-only. Nothing was changed.", 403)
        if not hmac.compare_digest(form.get("csrf", "").encode(), sent.csrf.encode()):
            return line(
                request,
                "The form is out of date. Nothing was changed. Reload the page, then send it again.",
                403,
            )
        return await run_in_threadpool(_answered, desk, sent, page)

    routes = [
        *(Route(path, _endpoint(read, page), methods=["GET"]) for path, page in PAGES.items()),
        *(Route(path, _endpoint(write, page), methods=["POST"]) for path, page in (WRITES | TRIES).items()),
        STATIC_FILES,
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guarded)],
        exception_handlers={404: _not_found, 405: _not_sent_so},
    )


async def _not_found(request: Request, _: Exception) -> Response:
    return line(request, "There is no such page.", 404)


async def _not_sent_so(request: Request, error: Exception) -> Response:
    answer = line(request, "This page does not take such a request.", 405)
    answer.headers.update(error.headers or {} if isinstance(error, HTTPException) else {})
    return answer


def _lines(fields: FormData) -> dict[str, str]:
    """The fields by name; those of one name, such as boxes that are ticked, as lines of one text."""
    form: dict[str, str] = {}
    for name, value in fields.multi_items():
        if isinstance(value, str):
            form[name] = f"{form[name]}\n{value}" if name in form else value
    return form


def _endpoint(
    answer: Callable[[Page, Request], Awaitable[Response]], page: Page
) -> Callable[[Request], Awaitable[Response]]:
    return partial(answer, page)


def _answered(desk: Desk, visit: Visit, page: Page) -> Response:
    """Make a page, or the page that explains a failure. A wrong address or form raises the errors of Python."""
    try:
        with acting.as_(visit.caller.person):
            return again.whole(partial(page, desk, visit))
    except (MemoryServerError, ValueError, KeyError, OverflowError) as error:
        status = 404 if isinstance(error, NotFound) else 400
        why = f"The form lacks the field {error}." if isinstance(error, KeyError) else str(error)
        with acting.as_(visit.caller.person):
            words, before = sentence(why, visit.language), _before(desk, visit)
            typed = [visit.form[name] for name in TEXTS if visit.form.get(name)]
            return desk.render(visit, "failed", status, why=words, before=before, typed=typed)


def _before(desk: Desk, visit: Visit) -> str:
    """Return the address of the page whose form was sent, or that of this page without its query; '' if it has none."""
    if visit.request.method != "POST":
        return visit.request.url.path if visit.request.url.query else ""
    url = URL(visit.request.headers.get("referer", "/"))
    path = url.path.removeprefix(desk.services.settings.http_prefix)
    return of_this_site(f"{path}?{url.query}" if url.query else path)


async def _static(request: Request) -> Response:
    path = STATIC / request.path_params["path"]
    if path not in _FILES:
        return PlainTextResponse("There is no such file.\n", 404)
    return FileResponse(path, media_type=TYPES[path.suffix], headers={"cache-control": "max-age=3600"})


STATIC_FILES = Route("/static/{path:path}", _static)

_FILES = frozenset(path for path in STATIC.rglob("*") if path.suffix in TYPES)


def _speak(visit: Visit) -> Response:
    """Keep the language in a cookie and go back to the page."""
    code = visit.path("code")
    response = RedirectResponse(of_this_site(visit.get("back")), 303)
    response.set_cookie(
        "language", code if code in LANGUAGES else "en", max_age=31_536_000, samesite="strict"
    )
    return response
