"""A session as a front knows it: what it answers itself, and what the engine, or the next one, has to hear.

Lines in, lines out: nothing here waits or writes. Imports the standard library alone.
"""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from memory_server import flags
from memory_server.mcp.first_answers import (
    ALL,
    CORE,
    LISTED,
    LISTEN,
    SUBSCRIPTION,
    FirstAnswers,
    Id,
    Json,
    offered,
    read,
)

RESOURCES = "resources/list"
INITIALIZED = "notifications/initialized"
RESOURCES_CHANGED = "notifications/resources/list_changed"

KEPT_BY_ENGINE = ("initialize", "resources/subscribe", "resources/unsubscribe", "logging/setLevel")
"""Requests that change what an engine knows of the session: a new one hears them again."""

REQUESTS = 32
"""The first requests of a session, among which some are answered here."""

LONGEST = 1 << 16
"""Bytes of a line that is answered here."""

PATIENCE = 30.0
"""Seconds that an engine has for a request; it ends a call after 20."""

ASKED = "elicitation/create"
ANSWERING = 60.0
"""More seconds that the engine has while it asks the user: it waits 45 for the answer."""

LOST = "The engine of memory-server has ended."
SILENT = "The engine of memory-server does not answer; `memory-server engine stop` ends it."
UNKNOWN = "Whether this was written cannot be told: look whether it is stored before you repeat it."
TRY_AGAIN = "Nothing was written. Try again."

_INTERNAL_ERROR = -32603
_ERA = "io.modelcontextprotocol/protocolVersion"


class Request(NamedTuple):
    """A request that waits for its answer, until `ends` of the monotonic clock."""

    line: bytes
    is_call: bool
    writes: bool
    is_newest: bool
    ends: float
    was_sent: bool


class Session:
    """The session of one client. One thread at a time may call it."""

    def __init__(self, answers: FirstAnswers | None, reading_tools: AbstractSet[str]) -> None:
        """`answers` is None where all is left to the engine. `reading_tools` write nothing."""
        self._answers = answers
        self._reading_tools = reading_tools
        self._ids: set[Id] = set()
        """Those of the requests so far."""
        self._opening: list[tuple[Id | None, bytes]] = []
        """What every engine has to hear first."""
        self._streams: dict[Id, bytes] = {}
        """The requests that keep a stream open."""
        self._acknowledged: set[str] = set()
        self._pending: dict[Id, Request] = {}
        """What waits for the answer of an engine."""
        self._early: dict[Id, tuple[bytes, Json]] = {}
        """What was answered here, and that answer; an engine answers it too, and is compared."""
        self._dropped: set[Id] = set()
        """The requests whose answer of an engine nobody waits for."""
        self._loose: list[bytes] = []
        """What else the next engine has to hear, once."""
        self._listener: Id | None = None
        """The stream on which the client hears that resources have changed."""

    def from_client(self, line: bytes, now: float, is_linked: bool) -> tuple[bytes | None, bool]:
        """Take a line of the client. Returns the answer, if there is one, and whether the engine has to hear the line.

        Where no engine is linked, `resumed` gives it to the next.
        """
        message = _message(line)
        if self._answers is not None and _has_lone_surrogate(message):
            self._answers = None  # the engine mends it
        id, method, params = message.get("id"), message.get("method"), message.get("params")
        if isinstance(method, str) and isinstance(id, int | str) and type(id) is not bool:
            answer = self._answer(id, method, message, len(line), is_linked)
            return self._request(id, method, params, line, now, answer, is_linked)
        self._answer_no_more(message, len(line))
        if method == INITIALIZED:
            self._opening.append((None, line))
        elif not is_linked:
            self._loose.append(line)
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": int() | str() as cancelled}}:
                self._streams.pop(cancelled, None)
                self._pending.pop(cancelled, None)
        return None, True

    def from_engine(self, line: bytes) -> bytes | None:
        """Take a line of the engine. Returns what the client gets; None where it has that already."""
        message = _message(line)
        id: Any = message.get("id")
        match message:
            case {"method": "notifications/subscriptions/acknowledged", "params": {"_meta": {**meta}}}:
                stream = str(meta.get(SUBSCRIPTION))
                is_known = stream in self._acknowledged
                self._acknowledged.add(stream)
                return None if is_known else line
            case {"method": method}:
                if method == ASKED:
                    self._pending = {
                        id: request._replace(ends=request.ends + ANSWERING)
                        for id, request in self._pending.items()
                    }
                return line
        if not isinstance(id, int | str):
            return line
        if id in self._early:
            return self._correction(self._early.pop(id)[1], message.get("result"))
        if id in self._dropped:
            self._dropped.remove(id)
            return None
        self._pending.pop(id, None)
        self._streams.pop(id, None)
        return line

    def lost(self) -> list[bytes]:
        """The engine has ended. Returns the answers to the writes that it may have heard; all else will be repeated."""
        writes = [
            (id, request) for id, request in self._pending.items() if request.writes and request.was_sent
        ]
        for id, _ in writes:
            del self._pending[id]
        return [_failed(id, request, LOST) for id, request in writes]

    def not_sent(self, line: bytes) -> None:
        """Note that the engine has ended before it could hear this line."""
        for id, request in self._pending.items():
            if request.line is line:
                self._pending[id] = request._replace(was_sent=False)
                return
        opening = [opening for _, opening in self._opening]
        again = [*opening, *self._streams.values(), *(early for early, _ in self._early.values())]
        if not any(line is heard_again for heard_again in again):
            self._loose.append(line)

    def resumed(self) -> list[bytes]:
        """Return the lines that a new engine has to hear first."""
        for id, _ in self._opening:
            if id is not None and id not in self._pending and id not in self._early:
                self._dropped.add(id)
        opening = {id for id, _ in self._opening}
        later = {id: line for id, (line, _) in self._early.items()} | self._streams
        later |= {id: request.line for id, request in self._pending.items()}
        loose, self._loose = self._loose, []
        self._pending = {id: request._replace(was_sent=True) for id, request in self._pending.items()}
        return (
            [line for _, line in self._opening]
            + [line for id, line in later.items() if id not in opening]
            + loose
        )

    def given_up(self, now: float) -> list[bytes]:
        """Return the errors of the requests whose time is over; an answer that comes later is dropped."""
        over = [(id, request) for id, request in self._pending.items() if request.ends <= now]
        for id, _ in over:
            del self._pending[id]
            self._dropped.add(id)
        return [_failed(id, request, SILENT) for id, request in over]

    @property
    def ends(self) -> float | None:
        """Return the moment when a request has waited too long; None while nothing waits."""
        return min((request.ends for request in self._pending.values()), default=None)

    @property
    def needs_engine(self) -> bool:
        """Return True where something waits for an engine."""
        return bool(self._pending or self._loose)

    def _answer(self, id: Id, method: str, message: Json, length: int, is_linked: bool) -> Json | None:
        """Return the answer that needs no engine. A linked engine knows the projects, which resources list."""
        answers = self._answers
        if answers is None:
            return None
        if (
            message.get("jsonrpc") != "2.0"
            or length > LONGEST
            or id in self._ids
            or len(self._ids) == REQUESTS
        ):
            self._answers = None
            return None
        is_first = answers.version is None
        answer = None if method == RESOURCES and is_linked else answers.to(id, method, message.get("params"))
        if answer is None and is_first:
            self._answers = None
        self._ids.add(id)
        return answer

    def _answer_no_more(self, message: Json, length: int) -> None:
        """Leave all to the engine from a line on that is no plain end of the handshake."""
        is_plain = message.get("jsonrpc") == "2.0" and "id" not in message and length <= LONGEST
        if self._answers is not None and is_plain and message.get("method") == INITIALIZED:
            self._answers.has_shaken_hands = self._answers.version is not None
        else:
            self._answers = None

    def _request(
        self, id: Id, method: str, params: Any, line: bytes, now: float, answer: Json | None, is_linked: bool
    ) -> tuple[bytes | None, bool]:
        is_first = not self._opening
        if method in KEPT_BY_ENGINE or (is_first and answer is not None):
            self._opening.append((id, line))
        if method == LISTEN:
            self._streams[id] = line
            if answer is not None:
                self._acknowledged.add(str(id))
                self._listener = (
                    id if "resourcesListChanged" in answer["params"]["notifications"] else self._listener
                )
        elif answer is None:
            params = params if isinstance(params, dict) else {}
            is_call, meta = method == "tools/call", params.get("_meta")
            writes = is_call and str(params.get("name")) not in self._reading_tools
            is_newest = isinstance(meta, dict) and _ERA in meta
            self._pending[id] = Request(line, is_call, writes, is_newest, now + PATIENCE, is_linked)
        elif is_first or method == RESOURCES:
            self._early[id] = (line, answer["result"])
        else:
            return _line(answer), False
        return (None if answer is None else _line(answer)), True

    def _correction(self, early: Json, result: object) -> bytes | None:
        """Tell the client what has become untrue of an early answer: the list of resources, which projects lengthen."""
        if "resources" not in early or result == early:
            return None
        listener = self._listener
        about = {} if listener is None else {"params": {"_meta": {SUBSCRIPTION: listener}}}
        return _line({"jsonrpc": "2.0", "method": RESOURCES_CHANGED, **about})


def session_of(server_flags: Mapping[str, object], environment: Mapping[str, str]) -> Session | None:
    """Return a session that answers with the tools that the settings leave; None where there is no tool of a name."""
    toolsets, tools, without = (
        [part.strip() for part in flags.value_of(name, server_flags, environment).split(",") if part.strip()]
        for name in ("toolsets", "tools", "exclude_tools")
    )
    by_toolset = read(LISTED)
    listed = [tool for members in by_toolset.values() for tool in members]
    left = offered(by_toolset, toolsets, tools, without, flags.is_on("read_only", server_flags, environment))
    names = {CORE, ALL, *by_toolset, *(tool["name"] for tool in listed)}
    if not left or not names.issuperset([*toolsets, *tools, *without]):
        return None
    reading = {tool["name"] for tool in listed if tool["annotations"]["readOnlyHint"]}
    leaves_all = flags.is_on("no_early_answers", server_flags, environment)
    return Session(None if leaves_all else FirstAnswers(left), reading)


def _message(line: bytes) -> Json:
    """Read a line; an empty message where it is none."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _has_lone_surrogate(message: Json) -> bool:
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):  # too deep to tell
        return True
    return False


def _line(message: Json) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _failed(id: Id, request: Request, problem: str) -> bytes:
    text = f"{problem} {UNKNOWN if request.writes and request.was_sent else TRY_AGAIN}"
    if not request.is_call:
        return _line({"jsonrpc": "2.0", "id": id, "error": {"code": _INTERNAL_ERROR, "message": text}})
    era = {"resultType": "complete"} if request.is_newest else {}
    content = [{"type": "text", "text": f"Error: {text}"}]
    return _line({"jsonrpc": "2.0", "id": id, "result": {"content": content, "isError": True, **era}})
