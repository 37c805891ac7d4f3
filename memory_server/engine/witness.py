"""Knows of the sessions that hooks see what the user said and what tools returned, and so who said a text first.

It keeps sketches, in the memory of the engine alone, for hours at most; never a text. What an engine has not heard it
does not know: of a session that it did not see from its start, it calls nothing inferred.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory_server.domain import sketch, trust, worded_again
from memory_server.engine import fetching
from memory_server.hook.event import Event, Name
from memory_server.hook.written import OURS, TOOLS, texts
from memory_server.project import Project

MOST = 200
"""Outputs, and as many prompts, that are remembered: the latest."""

MOST_BYTES = 16_000_000
"""Bytes of all sketches."""

OLDEST = 12 * 3600.0
"""Seconds after which a sketch is forgotten."""

TOLD = 0.6
"""Share of a text's words that stand in one prompt from which on the user has said it."""

BESIDES = 0.2
"""Share of a text's words that the user did not say and an output did, from which on it says more than the user."""

SILENT = frozenset(
    ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "Task", "Agent", "TodoWrite"]
)
"""Tools that return what the model has written."""

PROGRAM = "memory-server"
"""In a command that prints what is stored: lines that are marked there are from outside."""

_SHELLS = frozenset(["Bash", "bash", "shell", "exec_command"])
_WAITERS = frozenset(["BashOutput", "TaskOutput"])
"""Tools that return what a command has printed that was begun before."""

_AGENTS = frozenset(["Task", "Agent"])
"""Tools that return what a subagent says: from outside, where one of its own tools fetched something."""

_BEGUN = re.compile(r"\bbackground\b.{0,30}?\bID:? ([\w-]+)")
_TAG = re.compile(r"\s*<[a-zA-Z][\w-]*>")
"""What a client has put before the model as if the user had said it begins with a tag."""

START = frozenset(["startup", "clear"])
"""The ways in which a session begins without anything that was said before."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sketch of something that was said, and its origin."""

    origin: str
    sketch: sketch.Sketch
    at: float


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
        self._keep(origin, text)

    def tell(self, answer: Mapping[str, Any]) -> None:
        """Take in what this server answers of texts from outside: a model may store them again in another shape."""
        by_origin: dict[str, list[str]] = {}
        for origin, text in _outside_in(answer):
            by_origin.setdefault(origin, []).append(text)
        for origin, parts in by_origin.items():
            self._keep(origin, "\n".join(parts))

    def _keep(self, origin: str, text: str) -> None:
        if not text.strip():
            return
        text_sketch = sketch.sketch(text, self.salt)
        with self._lock:
            self._utterances.append(Utterance(origin, text_sketch, self.now()))
            self._forget()

    def stamp(self, session: str | None, project: Project) -> trust.Stamp:
        """Return what stamps the texts of a session."""

        def stamped(text: str) -> str:
            with self._lock:
                is_whole = self._sessions.get(session or "", self._sessions.get(project.key))
                self._forget()
                utterances = tuple(self._utterances)
            sought = sketch.needle(text, self.salt)
            return _origin(sought, utterances) or (trust.INFERRED if is_whole else trust.UNKNOWN)

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
        """Forget the oldest."""
        since = self.now() - OLDEST
        latest: list[Utterance] = []
        room, of_user, of_tools = MOST_BYTES, MOST, MOST
        for utterance in reversed(self._utterances):
            is_of_user = utterance.origin == trust.TOLD
            of_user, of_tools = of_user - is_of_user, of_tools - (not is_of_user)
            room -= utterance.sketch.size
            if utterance.at >= since and room >= 0 and (of_user if is_of_user else of_tools) >= 0:
                latest.append(utterance)
        self._utterances = latest[::-1]


def _origin(sought: sketch.Needle, utterances: Sequence[Utterance]) -> str | None:
    """Return who said a text; None where nobody did who was heard."""
    if not len(sought.words):
        return None
    user = _User.of(sought, [prompt.sketch for prompt in utterances if prompt.origin == trust.TOLD])
    shares: dict[str, float] = {}
    for output in utterances:
        if output.origin == trust.TOLD:
            continue
        for part, match in sketch.overlaps(sought, output.sketch):
            if not trust.waits(output.origin) or user.says_less(sought, part, match, output.sketch):
                shares[output.origin] = max(match.share, shares.get(output.origin, 0.0))
    outside = [origin for origin in shares if trust.waits(origin)]
    most = max(outside, key=shares.__getitem__, default=None)
    is_short = len(sought.words) <= sought.enough
    if most is not None and not (is_short and shares.get(trust.SEEN, 0.0) >= shares[most]):
        return most
    if (origin := _of_code(sought, utterances)) is not None:
        return origin
    if user.has_told:
        return trust.TOLD
    return _worded_again(sought, utterances) or (trust.SEEN if trust.SEEN in shares else None)


@dataclass(frozen=True, slots=True)
class _User:
    """Parts of a text that stand in prompts: `matches` are the words and pairs of each prompt, `words` those with their
    signs in any prompt, `pairs` and `triples` likewise."""

    matches: Sequence[sketch.Match]
    words: sketch.Flags
    pairs: sketch.Flags
    triples: sketch.Flags

    @classmethod
    def of(cls, sought: sketch.Needle, prompts: Sequence[sketch.Sketch]) -> "_User":
        matches = [sketch.match(sought, prompt) for prompt in prompts]
        words, pairs, triples = (
            np.zeros(len(hashes), bool) for hashes in (sought.words, sought.pairs, sought.triples)
        )
        for match, prompt in zip(matches, prompts, strict=True):
            words |= match.words & sketch.signs(sought, prompt)
            pairs |= match.pairs
            triples |= sketch.standing_of(sought.triples, prompt)
        return cls(matches, words, pairs, triples)

    @property
    def has_told(self) -> bool:
        return self._best(slice(None)) is not None

    def says_less(
        self, sought: sketch.Needle, part: slice, match: sketch.Match, source: sketch.Sketch
    ) -> bool:
        """True if the user has not told a part that stands in an output, or the output has more of it, word by word."""
        best = self._best(part)
        if best is None:
            return True
        output_words = match.words[part] & (~sought.has_sign | sketch.signs(sought, source))[part]
        if np.count_nonzero(output_words & ~best.words[part]) >= BESIDES * len(output_words):
            return True
        between = slice(part.start, part.stop - 1)
        output_pairs, user_pairs = match.pairs[between], self.pairs[between]
        user_words = self.words[part]
        more = np.count_nonzero(output_words & ~user_words) + np.count_nonzero(output_pairs & ~user_pairs)
        less = np.count_nonzero(user_words & ~output_words) + np.count_nonzero(user_pairs & ~output_pairs)
        if (output_words & ~user_words).any():
            return bool(more > less)
        if not more and not less:
            triples = slice(part.start, max(part.start, part.stop - 2))
            user_triples = self.triples[triples]
            output_triples = sketch.standing_of(sought.triples, source)[triples]
            more, less = (
                np.count_nonzero(output_triples & ~user_triples),
                np.count_nonzero(user_triples & ~output_triples),
            )
        return len(output_words) >= sought.enough and bool(more and not less)

    def _best(self, part: slice) -> sketch.Match | None:
        """Return the prompt that tells a part; None where none does."""
        best = max(self.matches, key=lambda match: np.count_nonzero(match.words[part]), default=None)
        if best is None:
            return None
        words = best.words[part]
        return best if np.count_nonzero(words) >= (TOLD if len(words) > 1 else 1.0) * len(words) else None


def _of_code(sought: sketch.Needle, utterances: Sequence[Utterance]) -> str | None:
    """Return the origin from outside of a number, a code, an address or a lone name that nobody else has said; None
    where there is none."""
    codes = sought.codes if sought.name is None else np.array([*sought.codes, sought.name], np.uint32)
    if not len(codes):
        return None
    outside = [utterance for utterance in utterances if trust.waits(utterance.origin)]
    if not outside:
        return None
    is_known = np.zeros(len(codes), bool)
    for utterance in utterances:
        if not trust.waits(utterance.origin):
            is_known |= sketch.standing_of(codes, utterance.sketch)
    for utterance in reversed(outside):
        if (sketch.standing_of(codes, utterance.sketch) & ~is_known).any():
            return utterance.origin
    return None


def _worded_again(sought: sketch.Needle, utterances: Sequence[Utterance]) -> str | None:
    """Return the origin from outside that probably says a text in other words; None where none does."""
    outside = [utterance for utterance in utterances if trust.waits(utterance.origin)]
    inside = [utterance.sketch for utterance in utterances if not trust.waits(utterance.origin)]
    index = worded_again.likeliest(sought, [utterance.sketch for utterance in outside], inside)
    return None if index is None else outside[index].origin


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
