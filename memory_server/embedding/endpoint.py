"""Asks an endpoint over HTTP: its answer in time, or why there is none.

The key goes into the header of a request and nowhere else. What an endpoint says about a text is not repeated, because
it may quote the text.
"""

import json
import re
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from ipaddress import ip_address
from math import ceil, inf
from threading import Thread
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx2

from memory_server.call import deadline
from memory_server.errors import Hint, Mend, Unavailable, Unreachable
from memory_server.language.text import visible

Answer = TypeVar("Answer")

TIME = 60.0
"""Seconds of one request that nobody waits for. A local server loads its model first, which takes some 10 s, and stops
loading it when the request is broken off."""

TRIES = 3
"""Requests for the same texts, when the first ones fail in a way that may pass. A choice."""

PAUSE = 0.5
"""Seconds before the second request; twice as many before each further one. A choice."""

MOST_PAUSE = 20.0
"""Seconds that the endpoint may ask us to wait (`Retry-After`). Longer ones end this round: the job comes again."""

A_MINUTE = 60
"""Seconds to wait where the endpoint does not say: many count by the minute, and a job that failed comes again then."""

MOST_BYTES = 64_000_000
"""Bytes of an answer: 33 vectors of 8,192 numbers with 20 characters each are 6 MB."""

_SAID = 200
"""Characters that are shown of what the endpoint says."""

_PASSING = {408, 425, 429, 500, 502, 503, 504}
"""The statuses of failures that may pass."""

_KEY = re.compile(r"[\x21-\x7e]+")
"""What a header can carry."""


class RefusedTexts(Unreachable):
    """The endpoint works, but not with these texts: they are too long, too many, or give no vector."""


class _Passing(Exception):
    """A failure that may pass; `pause` is what the endpoint asks for, in seconds."""

    def __init__(self, failure: Unreachable, pause: float | None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.pause = pause


@dataclass(frozen=True, slots=True)
class Role:
    """The use of an endpoint: the end of its address, and what mends its failures."""

    name: str
    path: str
    check: Mend
    key: Mend
    encrypt: Mend


EMBEDDER = Role("embedder", "embeddings", Mend.CHECK_ENDPOINT, Mend.SET_ENDPOINT_KEY, Mend.ENCRYPT_ENDPOINT)
RERANKER = Role("re-ranker", "rerank", Mend.CHECK_RERANKER, Mend.CHECK_RERANKER, Mend.CHECK_RERANKER)


class Endpoint:
    """One address, with its key. Safe to use from several threads. Opens no connection before it is asked.

    Raises:
        Unavailable: the key must not or cannot be sent there.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        pause: Callable[[float], None] = time.sleep,
        role: Role = EMBEDDER,
    ) -> None:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise Unavailable(
                f"The address of the {role.name} has a user name, a password, or a part after `?` or `#`. Such "
                "addresses are not used, because addresses appear in logs and answers.",
                role.key,
            )
        local = _is_loopback(parts.hostname or "")
        if key is not None and not _KEY.fullmatch(key):
            raise Unavailable(f"The key of the {role.name} has characters that no key has.", role.key)
        if key is not None and parts.scheme == "http" and not local:
            raise Unavailable(
                f"The key would go to {url} unencrypted, and others in the network could read it.",
                role.encrypt,
            )
        self.url, self.role = url, role
        self._key = key
        self._pause = pause
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            follow_redirects=False,  # another address gets neither the key nor the texts
            trust_env=not local,  # what goes to this machine goes through no proxy
        )
        weakref.finalize(self, self._client.close)

    def post(self, request: Mapping[str, object], seconds: float = inf, *, ours: bool = False) -> bytes:
        """Return the answer to a request, whatever it holds.

        With `seconds` a caller waits so long at most. A request of `ours` holds nothing of the user's: it is sent once,
        and the error quotes the endpoint's message about it.

        Raises:
            RefusedTexts: it does not take these texts.
            Unreachable: it does not answer, or not with HTTP 200.
        """
        ends, tries, pause = time.monotonic() + seconds, 1, PAUSE
        while True:
            try:
                return self._ask(request, min(TIME, ends - time.monotonic()), ours)
            except _Passing as passing:
                wait = pause if passing.pause is None else passing.pause
                # Somebody who waits gets a second try only where the connection had been closed meanwhile.
                again = wait <= MOST_PAUSE if seconds == inf else passing.pause == 0.0
                if ours or tries == TRIES or not again or time.monotonic() >= ends:
                    raise passing.failure from passing.__cause__
            self._pause(wait)
            tries, pause = tries + 1, 2 * pause

    def _ask(self, request: Mapping[str, object], seconds: float, ours: bool) -> bytes:
        """Send the request once."""
        silent = Unreachable(f"{self.url} did not answer within {max(seconds, 0):.0f} s.", self.role.check)
        if seconds <= 0:
            raise silent
        ends = time.monotonic() + seconds
        try:
            with self._client.stream(
                "POST", f"{self.url}/{self.role.path}", json=request, timeout=seconds
            ) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if time.monotonic() > ends:
                        raise _Passing(silent, None)
                    if len(body) > MOST_BYTES:
                        self.garbage(f"more than {MOST_BYTES:,} bytes")
        except httpx2.TimeoutException as error:
            raise _Passing(silent, None) from error
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as error:
            broken = Unreachable(f"{self.url} broke off the connection ({error}).", self.role.check)
            raise _Passing(broken, 0.0 if isinstance(error, httpx2.RemoteProtocolError) else None) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise _Passing(
                Unreachable(f"{self.url} cannot be reached ({error}).", self.role.check), None
            ) from error
        if response.status_code != 200:
            self._explain(response, body, str(request.get("model", "")), ours)
        return body

    def _explain(self, response: httpx2.Response, body: bytes, model: str, ours: bool) -> NoReturn:
        """Say why there is no answer."""
        status, pause = response.status_code, _seconds(response.headers.get("Retry-After"))
        words = self._said(body) if ours or status == 404 else ""
        match status:
            case 401 | 403:
                # What it says may hold a part of the key.
                raise Unreachable(
                    f"{self.url} does not accept the key (HTTP {status})."
                    if self._key
                    else f"{self.url} wants a key, and none is set (HTTP {status}).",
                    self.role.key,
                )
            case 404:
                raise Unreachable(
                    f"{self.url} has no model {model!r}, or is no {self.role.path} endpoint (HTTP 404){words}."
                    if model
                    else f"{self.url} is no {self.role.path} endpoint (HTTP 404){words}.",
                    self.role.check,
                )
            case _ if status < 400:
                raise Unreachable(
                    f"{self.url} answers HTTP {status}, which is no answer of the {self.role.path} API.",
                    self.role.check,
                )
            case 429:
                failure = Unreachable(
                    f"{self.url} has too much to do, or a quota is used up (HTTP 429){words}.",
                    Hint(Mend.WAIT_FOR_ENDPOINT, {"seconds": A_MINUTE if pause is None else ceil(pause)}),
                )
            case _:
                failure = RefusedTexts(f"{self.url} refuses a text (HTTP {status}){words}.", self.role.check)
        if status in _PASSING:
            raise _Passing(failure, pause)
        raise failure

    def _said(self, body: bytes) -> str:
        """Return the endpoint's message, shortened and without the key."""
        message: Any = body.decode(errors="replace")
        try:
            parsed = json.loads(body)
            error = parsed.get("error", parsed)
            message = error.get("message", error) if isinstance(error, dict) else error
        except (ValueError, AttributeError, RecursionError):
            pass
        line = visible(" ".join(str(message).split()))
        if self._key:
            line = line.replace(self._key, "…")
        return f": {line[:_SAID].rstrip('.')}" if line else ""

    def garbage(self, what: str) -> NoReturn:
        """Refuse an answer."""
        raise Unreachable(
            f"{self.url} answers {what}: it is no {self.role.path} endpoint, or it is broken.",
            self.role.check,
        )


def in_time(ask: Callable[[float], Answer], endpoint: Endpoint) -> Answer:
    """Return what `ask` returns; it gets the end of the call.

    It runs in a thread that is left alone when the time is over: the look-up of a name cannot be broken off.

    Raises:
        Unreachable: there is no answer in time.
    """
    seconds = deadline.left()
    done: Future[Answer] = Future()
    ends = time.monotonic() + seconds

    def run() -> None:
        try:
            done.set_result(ask(ends))
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, name="ask in time", daemon=True).start()
    try:
        return done.result(seconds)
    except TimeoutError:
        silent = f"{endpoint.url} did not answer within {seconds:.0f} s."
        raise Unreachable(silent, endpoint.role.check) from None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _seconds(retry_after: str | None) -> float | None:
    """The seconds of a `Retry-After`; a date counts as none."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0.0 <= seconds < inf else None
