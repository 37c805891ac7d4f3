"""Serves the application below a path, such as `/memory`."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COOKIE_PATH = re.compile(rb"(; *path=)/(?=;|$)", re.IGNORECASE)


class Prefixed:
    """Takes the prefix from the path of a request, and puts it before addresses and cookies of an answer."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_prefixed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [(name, self._put(name, value)) for name, value in message["headers"]]
            await send(message)

        await self._app(self._taken(scope), receive, send_prefixed)

    def _taken(self, scope: Scope) -> Scope:
        path = scope["path"]
        if path != self._prefix and not path.startswith(f"{self._prefix}/"):
            return scope  # of this machine, such as `/health`
        raw = scope.get("raw_path") or path.encode()
        return {
            **scope,
            "path": path.removeprefix(self._prefix) or "/",
            "raw_path": raw.removeprefix(self._prefix.encode()) or b"/",
        }

    def _put(self, name: bytes, value: bytes) -> bytes:
        prefix = self._prefix.encode()
        if name.lower() == b"location" and value.startswith(b"/") and not value.startswith(b"//"):
            return prefix + value
        return _COOKIE_PATH.sub(rb"\1" + prefix, value) if name.lower() == b"set-cookie" else value
