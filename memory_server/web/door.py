"""The door of the pages where several people are served: who shows a token gets a cookie that stands for it."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from urllib.parse import parse_qs, quote

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.web.gate import SECRET, Guarded, is_own
from memory_server.web.site import STATIC_FILES
from memory_server.web.view import language_of, line, of_this_site, templates, translated

COOKIE = "memory_person"

LASTS = 12 * 3600
"""Seconds after which a browser must show the token again."""

MOST = 10_000
"""Browsers that are signed in at the same time; the oldest has to sign in again."""

LONGEST = 16_384
"""Bytes of the form with the token: one of an issuer has a few thousand."""

PATIENCE = 10.0
"""Seconds that this form may take to arrive."""

LOCAL = ("127.0.0.1", "localhost", "::1")

IsValid = Callable[[str], Awaitable[bool]]

Refused = Callable[[Scope, str], Awaitable[None]]
"""Hears of a form with a token that is not valid, and of the token."""


class BrowserDoor:
    """Passes a request on with the token of its browser as `Authorization`, or asks for the token."""

    def __init__(
        self,
        pages: ASGIApp,
        is_valid: IsValid,
        chance: Callable[[int], bytes],
        now: Callable[[], float] = time.monotonic,
        report: Refused | None = None,
        root: str = "",
    ) -> None:
        """`pages` checks the token of each request; `is_valid` tells whether to keep one. `chance` gives random bytes,
        `now` is in seconds; `report` hears of tokens that are refused; `root` is the path below which the pages are."""
        self._report = report
        self._pages = pages
        self._is_valid = is_valid
        self._chance = chance
        self._now = now
        self._tokens: dict[str, tuple[str, float]] = {}
        self._templates = templates(root)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        path: str = scope["path"]  # that of `request.url` depends on the header Host
        if path.startswith("/static/"):
            app: ASGIApp = STATIC_FILES.app
            scope = {**scope, "path_params": {"path": path.removeprefix("/static/")}}
        elif path == "/enter":
            app = await self._enter(request)
        elif path == "/leave" and request.method == "POST":
            app = self._leave(request)
        elif "authorization" in request.headers:
            await self._pages(scope, receive, send)
            return
        else:
            token = await self._token(request)
            if token is not None:
                shown = (b"authorization", f"Bearer {token}".encode("latin-1"))
                await self._pages({**scope, "headers": [*scope["headers"], shown]}, receive, send)
                return
            app = _sent_to_the_form(request)
        await Guarded(app)(scope, receive, send)

    async def _token(self, request: Request) -> str | None:
        """The token of a browser, as long as it is valid."""
        key = request.cookies.get(COOKIE, "")
        token, until = self._tokens.get(key, ("", 0.0))
        if not token:
            return None
        if self._now() < until and await self._is_valid(token):
            return token
        self._tokens.pop(key, None)
        return None

    async def _enter(self, request: Request) -> Response:
        if request.method != "POST":
            return self._form(request, request.query_params.get("back", "/"))
        if not is_own(request.headers):
            return line(request, "The request came from another site.", 403)
        fields = await _fields(request)
        token, back = fields.get("token", "").strip(), of_this_site(fields.get("back", "/"))
        if not (token.isascii() and token.isprintable() and token and await self._is_valid(token)):
            if token and self._report is not None:
                await self._report(request.scope, token)
            return self._form(request, back, wrong=True)
        while len(self._tokens) >= MOST:
            del self._tokens[next(iter(self._tokens))]
        key = self._chance(SECRET).hex()
        self._tokens[key] = token, self._now() + LASTS
        response = RedirectResponse(back, 303)
        is_here = request.url.hostname in LOCAL
        response.set_cookie(
            COOKIE, key, max_age=LASTS, path="/", httponly=True, samesite="strict", secure=not is_here
        )
        return response

    def _leave(self, request: Request) -> Response:
        if not is_own(request.headers):
            return line(request, "The request came from another site.", 403)
        self._tokens.pop(request.cookies.get(COOKIE, ""), None)
        response = RedirectResponse("/enter", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    def _form(self, request: Request, back: str, *, wrong: bool = False) -> Response:
        language = language_of(request)
        page = self._templates.get_template("enter.html").render(
            t=lambda text: translated(text, language), language=language, back=of_this_site(back), wrong=wrong
        )
        return HTMLResponse(page, 403 if wrong else 200, {"vary": "Accept-Language, Cookie"})


async def _fields(request: Request) -> dict[str, str]:
    """The fields of the form; none where it is too long or too slow, or breaks off."""
    body = b""
    with anyio.move_on_after(PATIENCE), suppress(ClientDisconnect):
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST:
                return {}
        return {name: values[0] for name, values in parse_qs(body.decode("latin-1")).items()}
    return {}


def _sent_to_the_form(request: Request) -> Response:
    """A page is asked for after the token; what a page asks for itself is refused."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/enter?back={quote(path, safe='')}", 303)
    return line(request, "Sign in first.", 401)
