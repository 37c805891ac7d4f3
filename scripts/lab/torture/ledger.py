"""Random writes through the tools, with the states that each row may then have: one, or two amid a write."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memory_server import stores
from memory_server.errors import MemoryServerError
from memory_server.where import Where
from torture.histories import LETTERS
from torture.wire import Answer

DELETED = "deleted"
GONE = "gone"
HALF = "half-written"
UNTOLD = "cannot be told"
"""What a refusal says where a database went away amid a commit: the write may or may not have been done."""
KINDS = ("memory", "memory", "memory", "fact", "turn", "short", "long")

State = str
"""The version that a row shows, DELETED (it can be brought back), GONE, or HALF."""

Seen = dict[str, tuple[State, int]]
"""What a file holds: of each word the state and the id of its row."""

Ask = Callable[[str, dict[str, Any]], Answer]


@dataclass(slots=True)
class Item:
    """A row known by a word of its own; `states` are those that it may have, `version` is the last text that it had."""

    kind: str
    word: str
    version: str
    conversation: str
    states: set[State] = field(default_factory=lambda: {GONE})
    id: int = 0

    def be(self, state: State) -> None:
        """It is known to have this state."""
        self.states = {state}
        if state not in (DELETED, GONE, HALF):
            self.version = state


@dataclass(frozen=True, slots=True)
class Call:
    """A call that writes, and the state of each item after it."""

    tool: str
    arguments: dict[str, Any]
    after: list[tuple[Item, State]]


@dataclass(slots=True)
class Ledger:
    """The writes of one thread."""

    chance: random.Random
    items: list[Item] = field(default_factory=list)
    pairs: list[tuple[Item, Item]] = field(default_factory=list)
    """A turn and the fact that were being written together when the server went: both must be there, or neither."""
    acknowledged: int = 0
    refusals: list[str] = field(default_factory=list)

    def step(self, ask: Ask) -> Call:
        """One random write. Raises what `ask` raises; then the write may or may not have been done."""
        call = self._chosen()
        before = [set(item.states) for item, _ in call.after]
        pairs = list(self.pairs)
        if call.tool == "register_memory":
            self.pairs.append((call.after[0][0], call.after[1][0]))
        for item, state in call.after:
            item.states |= {state}
        answer = ask(call.tool, call.arguments)
        self.pairs = pairs
        if isinstance(answer, str) and UNTOLD in answer:
            return call
        if isinstance(answer, str):
            self.refusals.append(f"{call.tool}: {answer}")
            for (item, _), states in zip(call.after, before, strict=True):
                item.states = states
            return call
        self.acknowledged += 1
        for item, state in call.after:
            item.be(state)
            if state == item.version and "id" in answer:
                item.id = answer["id"]
        return call

    def compare(self, stored: Seen, what: str) -> list[str]:
        """Says what the file does not hold as it must; from now on what it holds is what it must hold."""
        faults = []
        for item in self.items:
            state, id = stored.get(item.word, (GONE, 0))
            if state not in item.states:
                faults.append(f"{what}: {item.kind} {item.word} is {state}, not {' or '.join(item.states)}")
            item.be(state)
            item.id = id or item.id
        for turn, fact in self.pairs:
            if (GONE in turn.states) != (GONE in fact.states):
                faults.append(f"{what}: turn {turn.word} and fact {fact.word} were written in part")
        self.pairs.clear()
        return faults

    def _chosen(self) -> Call:
        settled = [item for item in self.items[-200:] if len(item.states) == 1]
        if not settled or self.chance.random() < 0.55:
            return self._create(self.chance.choice(KINDS))
        item = self.chance.choice(settled)
        (state,) = item.states
        if state in (GONE, HALF):
            return self._create(item.kind)
        if state == DELETED:
            return self._forget(item, self.chance.choice(["undo", "undo", "purge"]))
        if item.kind in ("memory", "fact", "long") and self.chance.random() < 0.6:
            return self._write(item, self._word())
        return self._forget(item, self.chance.choice(["", "", "purge"]))

    def _word(self) -> str:
        return "".join(self.chance.choices(LETTERS, k=12))

    def _filler(self) -> str:
        return " ".join(self._word() for _ in range(self.chance.choice([3, 10, 60])))

    def _item(self, kind: str) -> Item:
        item = Item(kind, self._word(), self._word(), f"torture-{self.chance.randrange(3)}")
        self.items.append(item)
        return item

    def _create(self, kind: str) -> Call:
        item = self._item(kind)
        if kind == "turn":
            fact = self._item("fact")
            arguments = {
                "message": f"{item.word} {item.version} {self._filler()}",
                "summary": self._filler(),
                "facts": {f"torture.{fact.word}": fact.version},
            }
            return Call("register_memory", arguments, [(item, item.version), (fact, fact.version)])
        return self._write(item, item.version)

    def _write(self, item: Item, version: str) -> Call:
        text = f"{item.word} {version} {self._filler()}"
        after = [(item, version)]
        match item.kind:
            case "memory" if item.id:
                return Call("memory_update", {"id": item.id, "content": text, "tags": [version]}, after)
            case "memory":
                return Call("memory_store", {"content": text, "type": "learning", "tags": [version]}, after)
            case "fact":
                return Call("write_memory", {"key": f"torture.{item.word}", "value": version}, after)
            case "short":
                messages = [{"role": "user", "content": text}]
                return Call(
                    "add_short_term_memory",
                    {"messages": messages, "conversation_id": item.conversation},
                    after,
                )
        arguments = {
            "name": item.word,
            "conversation_id": item.conversation,
            "prompt": text,
            "trigger": "false",
        }
        tool = "add_long_term_memory" if item.states == {GONE} else "update_long_term_memory"
        return Call(tool, arguments, after)

    def _forget(self, item: Item, way: str) -> Call:
        after = [(item, {"undo": item.version, "purge": GONE}.get(way, DELETED))]
        extra = {way: True} if way else {}
        match item.kind:
            case "memory":
                return Call("memory_delete", {"id": item.id, **extra}, after)
            case "turn":
                return Call("delete_turn", {"id": item.id, **extra}, after)
            case "fact":
                return Call("delete_memory", {"key": f"torture.{item.word}", **extra}, after)
            case "short":
                place = {"pattern": item.word, "conversation_id": item.conversation}
                return Call("delete_short_term_memories", {**place, **extra}, after)
        place = {"name": item.word, "conversation_id": item.conversation}
        return Call("delete_long_term_memory", {**place, **extra}, after)


def clock() -> datetime:
    return datetime.now(UTC)


def look(where: Where) -> tuple[Seen, list[str]]:
    """Reads a database that only ledgers have written: what it holds, and what is wrong with it."""
    return _read(where, lambda tx: dict(_rows(tx)))


def problems(where: Where) -> list[str]:
    """Says what is wrong with a database."""
    _, faults = _read(where, lambda _: {})
    return faults


def _read(where: Where, rows: Callable[[Any], Seen]) -> tuple[Seen, list[str]]:
    """`rows` gets a transaction of either store: both take a statement and give its rows."""
    database = stores.at(where, clock)
    try:
        database.open()
        faults = database.problems()
        with database.read() as tx:
            return {} if faults else rows(tx), faults
    except MemoryServerError as error:
        return {}, [str(error)]
    finally:
        database.close()


def _rows(tx: Any) -> Iterator[tuple[str, tuple[State, int]]]:
    alive: Seen = {}
    for id, content, tags in tx.rows("SELECT id, content, tags FROM memories"):
        word, version = content.split()[:2]
        alive[word] = (version if json.loads(tags) == [version] else HALF, id)
    for id, message in tx.rows("SELECT id, message FROM turns"):
        alive[message.split()[0]] = (message.split()[1], id)
    for id, text in tx.rows("SELECT id, text FROM short_term_memories"):
        alive[text.split()[1]] = (text.split()[2], id)
    for id, name, prompt in tx.rows("SELECT id, name, prompt FROM long_term_memories"):
        word, version = prompt.split()[:2]
        alive[name] = (version if word == name else HALF, id)
    for key, action in tx.rows("SELECT key, action FROM fact_history ORDER BY id"):
        yield key.removeprefix("torture."), (DELETED if action == "deleted" else HALF, 0)
    for id, key, value in tx.rows("SELECT id, key, value FROM facts"):
        alive[key.removeprefix("torture.")] = (json.loads(value), id)
    for id, kind, text in tx.rows("SELECT item_id, kind, parts FROM trash"):
        parts = json.loads(text)
        match kind:
            case "memory":
                word = parts["memories"][0]["content"].split()[0]
            case "turn":
                word = parts["turns"][0]["message"].split()[0]
            case "short_term":
                word = parts["short_term_memories"][0]["text"].split()[1]
            case _:
                word = parts["long_term_memories"][0]["name"]
        yield word, (DELETED, id)
        if word in alive:
            alive[word] = (HALF, id)  # in two places
    yield from alive.items()


def write_at_once(ledgers: list[Ledger], work: Callable[[Ledger], None]) -> None:
    """Let each ledger work in a thread of its own."""
    threads = [threading.Thread(target=work, args=(ledger,), daemon=True) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
