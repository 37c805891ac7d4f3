"""Keeps what ended an error of a command, and tells it when the same error comes back.

What is open is in the memory of the engine alone; what ended it is a memory of the project, made by rule.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_server.domain import trust
from memory_server.domain.act import Act, Kind
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind as Trashable
from memory_server.domain.injection import Captured, Injected, Mention, Reminder
from memory_server.domain.memory import Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.mending import OpenError, Remedy, ShellLine, gist, line_of, remedy_of
from memory_server.domain.secrets import find_secret
from memory_server.language import sentences
from memory_server.language.tokens import estimate
from memory_server.services import projects
from memory_server.services.capturing import TAG, signed
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx
from memory_server.storage.words import Index

SESSIONS, OPEN, STEPS = 50, 8, 20
"""Sessions of which errors are open, errors of each, and steps after each, the latest."""

MOST = 200
"""Memories of this kind in a project; the oldest goes."""

MENDED = "mended"
"""The tag of what ended an error."""

IMPORTANCE = 3
"""Less than of what somebody said."""

HANDS = 8
"""Files that a session had under its hands last."""

TOKENS = 75
"""Tokens that are said of what ended an error."""


@dataclass(slots=True)
class _Session:
    open: list[OpenError] = field(default_factory=list)
    mended: list[Remedy] = field(default_factory=list)
    """What ended an error whose command then failed with another one: kept once the command succeeds."""
    hands: list[Path] = field(default_factory=list)
    """The files that were read or changed last."""


@dataclass(frozen=True, slots=True)
class MendingService:
    database: Database
    _sessions: OrderedDict[str, _Session] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begun(self, act: Act, caller: Caller) -> None:
        """Take in that a session reads or changes files."""
        if not act.paths or not caller.session:
            return
        with self._lock:
            session = self._of(caller.session)
            hands = [path for path in session.hands if path not in act.paths]
            session.hands = [*hands, *act.paths][-HANDS:]
            for path in act.paths if act.kind is Kind.CHANGES else ():
                _add_step(session, f"edited {_short(path.as_posix(), caller)}")

    def not_done(self, act: Act, caller: Caller) -> None:
        """Take in that an edit has failed: it ends no error."""
        if caller.session:
            with self._lock:
                edits = {f"edited {_short(path.as_posix(), caller)}" for path in act.paths}
                for error in self._of(caller.session).open:
                    error.steps = [step for step in error.steps if step not in edits]

    def failed(self, act: Act, output: str, caller: Caller) -> Reminder:
        """Take in that a command has failed. Return what ended the same error the last time, unless it was told."""
        line, error = line_of(act.command), gist(output)
        if not error or not line.program or not caller.session or find_secret(act.command, error):
            return Reminder()
        with self.database.read() as tx:
            at_home = projects.known(tx, caller)
            memory = _remedy_for(tx, line, error, at_home, is_outside=False)
            context = tx.hook_injections.since_the_briefing(caller.session)
        with self._lock:
            session = self._of(caller.session)
            was_tried = self._reopen(session, line, error, memory)
        if memory is None or (Injected.MEMORY, memory.id) in context:
            if memory is not None and was_tried:
                self._drop(memory, caller)
            return Reminder()
        return _said(memory)

    def succeeded(self, act: Act, caller: Caller, event: str) -> None:
        """Take in that a command has succeeded: keep what ended an error of it, else it may be what ends one."""
        line = line_of(act.command)
        if not line.commands or not caller.session:
            return
        with self._lock:
            session = self._of(caller.session)
            ended = [error for error in session.open if line.does(error.line)]
            session.open = [error for error in session.open if error not in ended]
            remedies = [remedy for error in ended if (remedy := error.remedy(line))]
            if ended:
                programs = {error.line.program for error in ended}
                remedies += [remedy for remedy in session.mended if remedy.program in programs]
                session.mended = [remedy for remedy in session.mended if remedy not in remedies]
            else:
                _add_step(session, line.text)
        for remedy in remedies:
            self._keep(remedy, caller, event)

    def under_way(self, session: str) -> tuple[list[Path], list[OpenError]]:
        """Return the files that a session had under its hands last, and the errors that nothing has ended yet."""
        with self._lock:
            state = self._sessions.get(session, _Session())
            return list(state.hands), list(state.open)

    def _of(self, session: str) -> _Session:
        state = self._sessions.setdefault(session, _Session())
        self._sessions.move_to_end(session)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        return state

    def _reopen(self, session: _Session, line: ShellLine, error: str, memory: Memory | None) -> bool:
        """Open an error; return True if what the memory tells was done since it was open, and did not end it."""
        before = next((e for e in session.open if e.line.does(line) and line.does(e.line)), None)
        was_tried = False
        if before is not None:
            session.open.remove(before)
            if before.error == error:
                remedy = remedy_of(memory.metadata) if memory else None
                was_tried = remedy is not None and set(remedy.steps) <= {*before.steps, line.text}
            elif remedy := before.remedy(None):
                session.mended = [*session.mended, remedy][-OPEN:]
        session.open = [*session.open, OpenError(line, error)][-OPEN:]
        return was_tried

    def _keep(self, remedy: Remedy, caller: Caller, event: str) -> None:
        """Store what ended an error; what ended it before is replaced where that was another thing. What has a step
        that somebody outside has said stands beside it, and waits to be confirmed."""
        if self.database.read_only or find_secret(str(remedy)):
            return
        origin = next(filter(trust.waits, map(caller.stamp, remedy.steps)), trust.SEEN)
        with self.database.write() as tx:
            caller = projects.settled(tx, caller)
            old = _remedy_for(tx, remedy, remedy.error, caller, is_outside=trust.waits(origin))
            if old is not None:
                if old.content != str(remedy):
                    tx.changes.keep_memory(old, caller)
                    new = replace(old, content=str(remedy), metadata=remedy.metadata, origin=origin)
                    tx.memories.replace(old, new, "rewritten")
                return
            draft = MemoryDraft(
                str(remedy), MemoryType.ERROR, caller.project.name or None, (TAG, MENDED), IMPORTANCE, remedy.metadata,
                origin=origin,
            )  # fmt: skip
            memory = tx.memories.insert(draft, signed(caller))
            tx.hook_captures.insert(Captured.MEMORY, memory.id, caller.session or "", event)
            _forget_oldest(tx, caller)

    def _drop(self, memory: Memory, caller: Caller) -> None:
        """Delete what did not hold."""
        with self.database.write() as tx:
            tx.trash.put(Trashable.MEMORY, [memory.id], caller)


def _said(memory: Memory) -> Reminder:
    remedy = remedy_of(memory.metadata)
    if remedy is None:
        return Reminder()
    day, before = memory.updated_at[:10], f"`{remedy.program}` failed with this error before"
    text = sentences.shortened(f"{day}: {before}. What ended it: {remedy.done}.", TOKENS) + f" [m{memory.id}]"
    return Reminder(text, (Mention(Injected.MEMORY, memory.id, estimate(text)),))


def _add_step(session: _Session, step: str) -> None:
    for error in session.open:
        error.steps = [*(before for before in error.steps if before != step), step][-STEPS:]


def _short(path: str, caller: Caller) -> str:
    folder = caller.folder.as_posix() if caller.folder else ""
    return path.removeprefix(f"{folder}/")


def _remedies(tx: Tx, caller: Caller) -> Iterator[Memory]:
    """Yield the remedies of a project, the latest first."""
    _, (rows,) = tx.word_hits.hits([MENDED])
    ids = tx.memories.own(rows[Index.MEMORY], caller.project.name)
    for memory in tx.memories.select([MemoryId(id) for id in sorted(ids, reverse=True)]):
        is_here = (memory.project or "") == caller.project.name
        if MENDED in memory.tags and is_here and not memory.superseded_by:
            yield memory


def _remedy_for(
    tx: Tx, line: ShellLine | Remedy, error: str, caller: Caller, *, is_outside: bool
) -> Memory | None:
    """Return what ended an error; `is_outside`: of what waits to be confirmed, which is not said."""
    for memory in _remedies(tx, caller):
        remedy = remedy_of(memory.metadata)
        is_meant = remedy is not None and (remedy.program, remedy.error) == (line.program, error)
        if is_meant and trust.waits(memory.origin) is is_outside:
            return memory
    return None


def _forget_oldest(tx: WriteTx, caller: Caller) -> None:
    if old := [memory.id for memory in _remedies(tx, caller)][MOST:]:
        tx.trash.put(Trashable.MEMORY, old, caller)
