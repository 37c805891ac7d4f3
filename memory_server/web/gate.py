"""Guards the pages: lets in the browser of the person who started them, once, by the token of the printed address."""

import hmac
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_server.web.view import line

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer a form would send `Origin: null`
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
"""On every answer."""

SECRET = 32
"""Random bytes of a token, a cookie, and of what signs the forms."""

NOT_YOURS = (
    "This address has been used, or belongs to another browser. "
    "Start `memory-server view` again: it prints a new one."
)


def onward(address: str) -> str:
    """A page that opens an address."""
    return (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">memory-server</a>'
    )


class Guarded:
    """Puts HEADERS on every answer, and refuses writes that another site asks for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                more = {"cache-control": "no-store"} if b"cache-control" not in names else {}
                message["headers"] += [(k.encode(), v.encode()) for k, v in (HEADERS | more).items()]
            await send(message)

        headers = Headers(scope=scope)
        app: ASGIApp = self._app
        if scope["method"] not in ("GET", "HEAD") and not is_own(headers):
            app = line(Request(scope), "The request came from another site. Nothing was changed.", 403)
        await app(scope, receive, send_guarded)


def is_own(headers: Headers) -> bool:
    """True if a request comes from a page of this origin: browsers say so with every form and script."""
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "same-origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host") and site == "same-origin"


@dataclass(slots=True)
class Gate:
    """Lets in one browser, on loopback. `token` opens once; `key` is the cookie that the browser has from then on."""

    app: ASGIApp
    port: int
    token: str
    key: str
    used: bool = False

    @property
    def cookie(self) -> str:
        """Cookies of one host are sent to all its ports, so the port is in the name."""
        return f"memory_view_{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app if scope["type"] != "http" else self._answer(Request(scope))
        await app(scope, receive, send)

    def _answer(self, request: Request) -> ASGIApp:
        host = request.headers.get("host", "")
        if host not in {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}:
            return line(request, "This is not the address that `memory-server view` printed.", 421)
        if _same(request.cookies.get(self.cookie, ""), self.key):
            return self.app if "token" not in request.query_params else RedirectResponse("/", 303)
        if not self.used and _same(request.query_params.get("token", ""), self.token):
            self.used = True
            # If another page opened this address, the browser sends a strict cookie only when a page of ours asks next.
            led = request.headers.get("sec-fetch-site", "none") == "cross-site"
            response: Response = HTMLResponse(onward("/")) if led else RedirectResponse("/", 303)
            response.set_cookie(self.cookie, self.key, path="/", httponly=True, samesite="strict")
            return response
        return line(request, NOT_YOURS, 403)


def _same(text: str, right: str) -> bool:
    return hmac.compare_digest(text.encode(), right.encode())
