"""Knows of the sessions that hooks see what the user said and what tools returned, and so who said a text first.

It keeps sketches, in the memory of the engine alone, for hours at most; never a text. What an engine has not heard it
does not know: of a session that it did not see from its start, it calls nothing inferred.
"""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_server.domain import sketch, trust
from memory_server.engine import attribution, fetching
from memory_server.engine.attribution import Utterance
from memory_server.hook.event import Event, Name
from memory_server.hook.written import OURS, TOOLS, texts
from memory_server.project import Project

MOST = 200
"""Outputs from outside, and as many of local tools and as many prompts, that are remembered: the latest."""

MOST_BYTES = 16_000_000
"""Bytes of all sketches."""

OLDEST = 12 * 3600.0
"""Seconds after which a sketch is forgotten."""

SILENT = frozenset(
    ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "Task", "Agent", "TodoWrite"]
)
"""Tools that return what the model has written."""

PROGRAM = "memory-server"
"""In a command that prints what is stored: lines that are marked there are from outside."""

_SHELLS = frozenset(["Bash", "bash", "shell", "exec_command"])
_AGENTS = frozenset(["Task", "Agent"])
"""Tools that return what a subagent says: from outside, where one of its own tools fetched something."""

_BEGUN = re.compile(r"\bbackground\b.{0,30}?\bID:? ([\w-]+)")
_TAG = re.compile(r"\s*<[a-zA-Z][\w-]*>")
"""What a client has put before the model as if the user had said it begins with a tag."""

START = frozenset(["startup", "clear"])
"""The ways in which a session begins without anything that was said before."""


@dataclass(slots=True)
class Witness:
    """`now` gives seconds, and `salt` is random. Several threads may call it."""

    now: Callable[[], float]
    salt: int
    _utterances: list[Utterance] = field(default_factory=list)
    _sessions: OrderedDict[str, bool] = field(default_factory=OrderedDict)
    """The sessions, and the projects, that hooks have seen: True where all of one was seen."""
    _places: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """The files, the commands in the background and the subagents that may tell what was fetched: each with its
    origin."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, event: Event, project: Project) -> None:
        """Take in what a hook tells."""
        with self._lock:
            origin, text = self._said(event)
            for name in filter(None, (event.session, project.key)):
                is_start = event.name is Name.START and event.source in START
                self._sessions[name] = is_start or self._sessions.get(name, False)
                self._sessions.move_to_end(name)
            while len(self._sessions) > MOST:
                self._sessions.popitem(last=False)
        self._keep(origin, text, event.session or "", project.key)

    def tell(self, answer: Mapping[str, Any]) -> None:
        """Take in what this server answers of texts from outside: a model may store them again in another shape."""
        by_origin: dict[str, list[str]] = {}
        for origin, text in _outside_in(answer):
            by_origin.setdefault(origin, []).append(text)
        for origin, parts in by_origin.items():
            self._keep(origin, "\n".join(parts))

    def _keep(self, origin: str, text: str, session: str = "", project: str = "") -> None:
        if not text.strip():
            return
        text_sketch, stated = sketch.sketch(text, self.salt), None
        if origin == trust.TOLD:
            stated = attribution.Stated.of(text, self.salt)
        with self._lock:
            self._utterances.append(Utterance(origin, text_sketch, self.now(), stated, session, project))
            self._forget()

    def stamp(self, session: str | None, project: Project) -> trust.Stamp:
        """Return what stamps the texts of a session."""

        def stamped(text: str) -> str:
            with self._lock:
                is_whole = self._sessions.get(session or "", self._sessions.get(project.key))
                self._forget()
                is_known = session in self._sessions
                utterances = [
                    utterance
                    for utterance in self._utterances
                    if utterance.origin != trust.TOLD
                    or (utterance.session == session if is_known else utterance.project == project.key)
                ]
            origin = attribution.origin(text, self.salt, utterances)
            return origin or (trust.INFERRED if is_whole else trust.UNKNOWN)

        return stamped

    def _said(self, event: Event) -> tuple[str, str]:
        """Return what was said at an event, with its origin; '' where nothing was."""
        if event.name is Name.PROMPT and not _TAG.match(event.prompt):
            return trust.TOLD, event.prompt
        if event.name not in (Name.WROTE, Name.FAILED):
            return trust.UNKNOWN, ""
        origin = origin_of(event.tool, event.arguments)
        if event.tool in _AGENTS:
            origin = next(map(self._places.get, self._places.keys() & event.output.splitlines()), None)
        if event.parent is not None and event.session and origin is not None and trust.waits(origin):
            self._places[event.session] = origin
        command = _command(event.arguments) if event.tool in _SHELLS else ""
        if origin is not None and trust.waits(origin) and command:
            fetched = fetching.read(command)
            files = fetching.whole(fetched.files if fetched else (), event.folder)
            places = [*files, *_BEGUN.findall(event.output)]
            self._places.update(dict.fromkeys(places, origin))
        elif origin == trust.SEEN and self._places:
            origin = self._fetched_before(event, command) or origin
        while len(self._places) > MOST:
            self._places.popitem(last=False)
        if PROGRAM in command and (outside := list(_outside_in(event.output))):
            return outside[0][0], "\n".join(text for _, text in outside)
        return (trust.UNKNOWN, "") if origin is None else (origin, event.output)

    def _fetched_before(self, event: Event, command: str) -> str | None:
        """Return the origin of the file, or of the command in the background, that a tool has read."""
        values = {str(value) for name, value in event.arguments.items() if name != "pattern"}
        names = fetching.files_of(command) if command else values
        paths = {*names, *fetching.whole(names, event.folder)}
        for place, origin in self._places.items():
            if any(fetching.is_same(path, place) for path in paths):
                return origin
        return None

    def _forget(self) -> None:
        """Forget the oldest: outputs of local tools before what is from outside, which they do not displace."""
        since, room, kinds = self.now() - OLDEST, MOST_BYTES, Counter[str]()
        remaining: set[int] = set()
        numbered = list(enumerate(self._utterances))[::-1]
        for number, utterance in sorted(numbered, key=lambda pair: pair[1].origin == trust.SEEN):
            kind = trust.WEB if trust.waits(utterance.origin) else utterance.origin
            kinds[kind] += 1
            room -= utterance.size
            if utterance.at >= since and room >= 0 and kinds[kind] <= MOST:
                remaining.add(number)
        self._utterances = [
            utterance for number, utterance in enumerate(self._utterances) if number in remaining
        ]


def origin_of(tool: str, arguments: Mapping[str, object]) -> str | None:
    """Return the origin of what a tool returns; None where it says nothing new."""
    if tool in SILENT:
        return None
    if tool.startswith("mcp__"):
        _, server, *names = tool.split("__")
        return None if server in OURS and TOOLS.issuperset(names) else trust.of_server(server)
    if tool == "ReadMcpResourceTool":
        server = str(arguments.get("server", ""))
        return (
            None if server in OURS and "memory://" in str(arguments.get("uri")) else trust.of_server(server)
        )
    if tool == "WebSearch":
        return trust.of_web("search")
    if tool == "WebFetch":
        return trust.of_web(fetching.host_of(_command(arguments)))
    fetched = fetching.read(_command(arguments)) if tool in _SHELLS else None
    return trust.SEEN if fetched is None else trust.of_web(fetched.host)


def _outside_in(value: object) -> Iterator[tuple[str, str]]:
    """Yield the texts from outside in an answer of this server, each with its origin: it is a field beside the text, or
    a mark in its line."""
    match value:
        case {"origin": str(origin)} if trust.waits(origin):
            yield origin, "\n".join(texts(value))
        case dict():
            for member in value.values():
                yield from _outside_in(member)
        case list():
            for member in value:
                yield from _outside_in(member)
        case str():
            for line in value.splitlines():
                if (marked := trust.marked(line)) is not None:
                    yield marked, line


def _command(arguments: Mapping[str, object]) -> str:
    return " ".join(value for value in arguments.values() if isinstance(value, str))
