"""Keeps what of the working tree a memory or a fact speaks of, and tells what has changed there since."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server import ground
from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.changed_ground import ChangedGround
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.secrets import redacted
from memory_server.ground import Anchor, Verdict
from memory_server.project import Project, project_of
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

if TYPE_CHECKING:
    from memory_server.domain.recall import Found  # it imports numpy, and a hook imports this

WAITING = 100
"""Texts that wait to be looked up in the working tree, the latest: an import is not looked up at all."""

FILES_READ = 20
"""Files, the last that a project's sessions have read, in which a name is looked for first."""

REMARKS = 2
"""Remarks on one text that are told."""

LOOKED_AT = 10
"""Texts of an answer, the first, of which the ground is looked at."""

SECONDS = 0.03
"""Seconds of CPU that an answer looks at the ground: what it does not reach, it says nothing of."""

Hears = Callable[[Memory | Fact, Caller], None]
"""Hears of each text that is new."""

REVIEWED, REVIEWING = 500, 1.0
"""Memories, the newest of a project, whose ground a review looks at, and the seconds of CPU that it takes for that."""

Anchored = dict[int, tuple[Anchor, ...]]
"""The anchors of memories or facts, by id."""


def unheard(_item: Memory | Fact, _caller: Caller) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A text that was just written in a session that works in a folder."""

    kind: Embedded
    id: int
    text: str
    updated_at: str
    project: str
    folder: Path
    read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroundService:
    """`woken` is set when there is something to look up, which a background job does: it reads files for a second."""

    database: Database
    woken: threading.Event = field(default_factory=threading.Event)
    _waiting: deque[_Written] = field(default_factory=lambda: deque(maxlen=WAITING))
    _files_read: dict[str, deque[str]] = field(default_factory=dict)
    """The files that sessions have read, the last one first, by the key of the project."""

    def written(self, item: Memory | Fact, caller: Caller) -> None:
        """Look up, soon, what a memory or a fact speaks of, where the session works in a folder of this machine."""
        if caller.folder is None or not caller.project.key:
            return
        if isinstance(item, Fact):
            kind, text = Embedded.FACTS, fact_text.of(item.key, item.value)
        else:
            kind, text = Embedded.MEMORIES, item.content
        self._waiting.append(
            _Written(
                kind,
                item.id,
                text,
                item.updated_at,
                caller.project.key,
                caller.folder,
                tuple(self._files_read.get(caller.project.key, ())),
            )
        )
        self.woken.set()

    def read(self, file: Path, project: Project) -> None:
        """Look first, for what is written in a project, into a file that a session there has just read or changed."""
        files = self._files_read.setdefault(project.key, deque(maxlen=FILES_READ))
        files.appendleft(str(file))

    def remark(self, memory: Memory, caller: Caller) -> str | None:
        """Return what has changed on the ground of a memory, in words; None where nothing is known to."""
        with self.database.read() as tx:
            anchors = anchored(tx, Embedded.MEMORIES, [memory.id], caller)
        return remarks(anchors, caller.folder).get(memory.id)

    def changed(self, caller: Caller) -> list[ChangedGround]:
        """Return the memories whose files have changed where a session works, the newest first."""
        with self.database.read() as tx:
            return changed_of(tx, caller)

    def keep(self, memory: Memory, caller: Caller) -> None:
        """Take what the files say now for the ground of a memory, which still holds."""
        self.written(memory, caller)
        self.observe()

    def observe(self) -> None:
        """Look up what waits, in the order in which it was written."""
        while self._waiting and not self.database.read_only:
            text = self._waiting.popleft()
            anchors = ground.observe(text.text, text.folder, read=text.read)
            if anchors:
                with self.database.write() as tx:
                    tx.anchors.keep(text.kind, text.id, text.updated_at, text.project, anchors)


def anchored(tx: Tx, kind: Embedded, ids: Sequence[int], caller: Caller) -> Anchored:
    """Return the anchors of memories or facts in the tree where a session works."""
    if caller.folder is None or not caller.project.key or not ids:
        return {}
    return tx.anchors.select(kind, ids, caller.project.key)


def outdated(tx: Tx, memories: Mapping[int, str]) -> set[int]:
    """Return those of these memories whose files have changed in the folder where their project was last used; each id
    comes with the name of the project.
    """
    folders = {listed.name: Path(listed.folder) for listed in tx.projects.select() if listed.folder}
    changed: set[int] = set()
    for name in set(memories.values()) & set(folders):
        caller = Caller(project=project_of(None, folders[name]), folder=folders[name])
        ids = [id for id, project in memories.items() if project == name]
        changed |= remarks(anchored(tx, Embedded.MEMORIES, ids, caller), caller.folder, REVIEWING).keys()
    return changed


def of_briefing(tx: Tx, memories: Sequence[Memory], facts: Sequence[Fact], caller: Caller) -> "Ground":
    """Return the ground of all that a briefing may tell."""
    of_memories, of_facts = tx.together(
        lambda: anchored(tx, Embedded.MEMORIES, [memory.id for memory in memories], caller),
        lambda: anchored(tx, Embedded.FACTS, [fact.id for fact in facts], caller),
    )
    return Ground(caller.folder, of_memories, of_facts)


@dataclass(slots=True)
class Ground:
    """The ground of the memories and facts that a session may be told, looked at when one is told, for 30 ms in all."""

    folder: Path | None
    of_memories: Anchored
    of_facts: Anchored
    _seconds: float = SECONDS
    _remarks: dict[tuple[bool, int], str] = field(default_factory=dict)

    def remark(self, item: Memory | Fact) -> str:
        """Return what has changed on the ground of a memory or a fact, in words; "" where nothing is known to."""
        is_fact = isinstance(item, Fact)
        anchors = (self.of_facts if is_fact else self.of_memories).get(item.id, ())
        name = is_fact, int(item.id)
        if anchors and name not in self._remarks and self._seconds > 0:
            begun = time.thread_time()
            self._remarks[name] = remarks({item.id: anchors}, self.folder, self._seconds).get(item.id, "")
            self._seconds -= time.thread_time() - begun
        return self._remarks.get(name, "")


def remarks(anchors: Anchored, folder: Path | None, seconds: float = SECONDS) -> dict[int, str]:
    """Return what has changed on the ground of memories or facts, in words, by id; nothing where all stands."""
    verdicts = _verdicts(anchors, folder, seconds)
    remarks_by_id = {id: _worded(of_text) for id, of_text in verdicts.items()}
    return {id: remark for id, remark in remarks_by_id.items() if remark}


def _worded(verdicts: Sequence[Verdict]) -> str:
    """Return the first remarks on a text, those on its values first; credentials in a line are left out."""
    values_first = sorted(verdicts, key=lambda verdict: not verdict.anchor.value)
    texts = dict.fromkeys(filter(None, map(ground.remark, values_first)))
    return redacted("; ".join(list(texts)[:REMARKS]))


def _verdicts(anchors: Anchored, folder: Path | None, seconds: float) -> dict[int, list[Verdict]]:
    """Look at the ground of memories or facts, in a folder; there is none outside a repository."""
    if folder is None or not anchors:
        return {}
    several = [(id, anchor) for id, of_text in anchors.items() for anchor in of_text]
    verdicts = ground.look([anchor for _, anchor in several], folder, seconds=seconds)
    by_id: dict[int, list[Verdict]] = {}
    for (id, _), verdict in zip(several, verdicts, strict=bool(verdicts)):
        by_id.setdefault(id, []).append(verdict)
    return by_id


def changed_of(tx: Tx, caller: Caller) -> list[ChangedGround]:
    """Return the memories whose files have changed in the tree where a session works, the newest first."""
    if caller.folder is None or not caller.project.key:
        return []
    memory_ids = [MemoryId(id) for id in tx.anchors.memories(caller.project.key, REVIEWED)]
    memories = [memory for memory in tx.memories.select(memory_ids) if not memory.superseded_by]
    anchors = anchored(tx, Embedded.MEMORIES, memory_ids, caller)
    verdicts = _verdicts(anchors, caller.folder, REVIEWING)
    changed = []
    for memory in memories:
        of_memory = [verdict for verdict in verdicts.get(memory.id, ()) if ground.remark(verdict)]
        if of_memory:
            renewed = ground.renewed(memory.content, of_memory)
            changed.append(ChangedGround(memory, _worded(of_memory), renewed))
    return changed


def with_remarks(hits: "Sequence[Found]", caller: Caller) -> "list[Found]":
    """Return the hits of an answer; of the first ones with what has changed on their ground since."""
    anchors = {place: hit.anchors for place, hit in enumerate(hits[:LOOKED_AT]) if hit.anchors}
    changed = remarks(anchors, caller.folder)
    if not changed:
        return list(hits)
    return [replace(hit, remark=changed.get(place)) for place, hit in enumerate(hits)]
