"""Asks an endpoint that speaks OpenAI's embeddings API: unit vectors of texts, or why there are none.

The key goes into the header of a request and nowhere else. What an endpoint says about a text is not repeated, because
it may quote the text.
"""

import json
import re
import time
import weakref
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from math import inf
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.errors import Mend, Unavailable, Unreachable
from memory_server.language.text import visible

TIME = 60.0
"""Seconds of one request that nobody waits for. A local server loads its model first, which takes some 10 s, and stops
loading it when the request is broken off."""

TRIES = 3
"""Requests for the same texts, when the first ones fail in a way that may pass. A choice."""

PAUSE = 0.5
"""Seconds before the second request; twice as many before each further one. A choice."""

MOST_PAUSE = 20.0
"""Seconds that the endpoint may ask us to wait (`Retry-After`). Longer ones end this round: the job comes again."""

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


class Endpoint:
    """One address, with its key. Safe to use from several threads. Opens no connection before it is asked.

    Raises:
        Unavailable: the key must not or cannot be sent there.
    """

    def __init__(self, url: str, key: str | None = None, pause: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise Unavailable(
                "The address of the embedder has a user name, a password, or a part after `?` or `#`. Such "
                "addresses are not used, because addresses appear in logs and answers.",
                Mend.SET_ENDPOINT_KEY,
            )
        local = _is_loopback(parts.hostname or "")
        if key is not None and not _KEY.fullmatch(key):
            raise Unavailable(
                "The key of the embedder has characters that no key has.", Mend.SET_ENDPOINT_KEY
            )
        if key is not None and parts.scheme == "http" and not local:
            raise Unavailable(
                f"The key would go to {url} unencrypted, and others in the network could read it.",
                Mend.ENCRYPT_ENDPOINT,
            )
        self.url = url
        self._key = key
        self._pause = pause
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            follow_redirects=False,  # another address gets neither the key nor the texts
            trust_env=not local,  # what goes to this machine goes through no proxy
        )
        weakref.finalize(self, self._client.close)

    def vectors(
        self, model: str, texts: Sequence[str], seconds: float = inf, *, ours: bool = False
    ) -> list[Vector]:
        """Return the vectors of texts, in order, each of length 1.

        With `seconds` a caller waits so long at most. Texts of `ours` hold nothing of the user's: they are sent once,
        and the error quotes the endpoint's message about them.

        Raises:
            RefusedTexts: it does not take these texts.
            Unreachable: it does not answer, or not as it should.
        """
        ends, tries, pause = time.monotonic() + seconds, 1, PAUSE
        while True:
            try:
                return self._ask(model, texts, min(TIME, ends - time.monotonic()), ours)
            except _Passing as passing:
                wait = pause if passing.pause is None else passing.pause
                # Somebody who waits gets a second try only where the connection had been closed meanwhile.
                again = wait <= MOST_PAUSE if seconds == inf else passing.pause == 0.0
                if ours or tries == TRIES or not again or time.monotonic() >= ends:
                    raise passing.failure from passing.__cause__
            self._pause(wait)
            tries, pause = tries + 1, 2 * pause

    def _ask(self, model: str, texts: Sequence[str], seconds: float, ours: bool) -> list[Vector]:
        """One request."""
        silent = Unreachable(
            f"{self.url} did not answer within {max(seconds, 0):.0f} s.", Mend.CHECK_ENDPOINT
        )
        if seconds <= 0:
            raise silent
        request = {"model": model, "input": list(texts), "encoding_format": "float"}
        ends = time.monotonic() + seconds
        try:
            with self._client.stream(
                "POST", f"{self.url}/embeddings", json=request, timeout=seconds
            ) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if time.monotonic() > ends:
                        raise _Passing(silent, None)
                    if len(body) > MOST_BYTES:
                        self._garbage(f"more than {MOST_BYTES:,} bytes")
        except httpx2.TimeoutException as error:
            raise _Passing(silent, None) from error
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as error:
            broken = Unreachable(f"{self.url} broke off the connection ({error}).", Mend.CHECK_ENDPOINT)
            raise _Passing(broken, 0.0 if isinstance(error, httpx2.RemoteProtocolError) else None) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise _Passing(
                Unreachable(f"{self.url} cannot be reached ({error}).", Mend.CHECK_ENDPOINT), None
            ) from error
        if response.status_code != 200:
            self._explain(response, body, model, ours)
        return self._unit(_rows(body, len(texts)) or self._garbage(f"no list of {len(texts)} embeddings"))

    def _explain(self, response: httpx2.Response, body: bytes, model: str, ours: bool) -> NoReturn:
        """Say why there are no vectors."""
        status = response.status_code
        words = self._said(body) if ours or status == 404 else ""
        match status:
            case 401 | 403:
                # What it says may hold a part of the key.
                text = "does not accept the key" if self._key else "wants a key, and none is set"
                raise Unreachable(f"{self.url} {text} (HTTP {status}).", Mend.SET_ENDPOINT_KEY)
            case 404:
                raise Unreachable(
                    f"{self.url} has no model {model!r}, or is no embeddings endpoint (HTTP 404){words}.",
                    Mend.CHECK_ENDPOINT,
                )
            case _ if status < 400:
                raise Unreachable(
                    f"{self.url} answers HTTP {status}, which is no answer of an embeddings endpoint.",
                    Mend.CHECK_ENDPOINT,
                )
            case 429:
                failure = Unreachable(
                    f"{self.url} has too much to do, or a quota is used up (HTTP 429){words}."
                )
            case _:
                failure = RefusedTexts(
                    f"{self.url} refuses a text (HTTP {status}){words}.", Mend.CHECK_ENDPOINT
                )
        if status in _PASSING:
            raise _Passing(failure, _seconds(response.headers.get("Retry-After")))
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

    def _unit(self, rows: Sequence[object]) -> list[Vector]:
        vectors = []
        for row in rows:
            try:
                vector = np.asarray(row, dtype=np.float64)
                length = float(np.linalg.norm(vector))
            except (TypeError, ValueError, OverflowError):
                raise RefusedTexts(f"{self.url} answers a text with no list of numbers.") from None
            if vector.ndim != 1 or not 0.0 < length < inf:
                raise RefusedTexts(f"{self.url} answers a text with numbers that are no vector.")
            vectors.append((vector / length).astype(np.float32))
        return vectors

    def _garbage(self, what: str) -> NoReturn:
        raise Unreachable(
            f"{self.url} answers {what}: it is no embeddings endpoint, or it is broken.", Mend.CHECK_ENDPOINT
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _rows(body: bytes, count: int) -> list[object] | None:
    """The embeddings of an answer, in the order of the texts; None where it is not what was asked for."""
    try:
        data = json.loads(body)["data"]
        rows = [(entry.get("index", place), entry["embedding"]) for place, entry in enumerate(data)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    by_index = dict(rows) if all(isinstance(index, int) for index, _ in rows) else {}
    if len(rows) != count or set(by_index) != set(range(count)):
        return None
    return [by_index[index] for index in range(count)]


def _seconds(retry_after: str | None) -> float | None:
    """The seconds of a `Retry-After`; a date counts as none."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0.0 <= seconds < inf else None
