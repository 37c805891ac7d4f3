"""Random histories of commands on one database: which command comes, and what the database may hold after it."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import apsw

from memory_server.sqlite import migrate
from memory_server.storage import packaged
from torture.book import Book, Step, becomes
from torture.judged import Judged
from torture.launcher import Fault
from torture.ledger import DELETED, GONE, UNTOLD, Item

STEPS = 7
"""Commands of a history, at most."""

Act = Callable[[], object]

_COPYING = threading.Lock()
"""Only one history copies at a time: while it does, PostgreSQL may stand still."""


@dataclass(slots=True)
class History(Judged):
    """Random commands on one database. `captured` is what hooks have kept."""

    captured: list[Item] = field(default_factory=list)

    def run(self) -> None:
        self.chance.choice([self._nothing_yet, self._few, self._few, self._old])()
        for _ in range(self.chance.randrange(2, STEPS)):
            choices = self._choices()
            name = self.chance.choices(list(choices), [weight for weight, _ in choices.values()])[0]
            _, act = choices[name]
            act()
            if self.faults:
                return
        self._look(True)

    def _choices(self) -> dict[str, tuple[int, Act]]:
        alive = [item for item in self.ledger.items if self._is(item, item.version)]
        by_hand = [item for item in alive if item.kind in ("memory", "turn", "fact") and item.id]
        choices: dict[str, tuple[int, Act]] = {
            "add": (2, lambda: self._do(self._add())),
            "fact": (1, self._fact),
            "import": (3, lambda: self._do(self._import())),
            "merge": (3, self._merge),
            "export": (1, lambda: self._do(self._export())),
            "compact": (2, lambda: self._do(Step(["compact"], after=self._overwritten))),
            "backup": (3, lambda: self._do(self._backup())),
            "start": (4, self._start),
            "doctor": (1, lambda: self._do(Step(["doctor"]))),
            "captured": (1, self._captured),
        }
        if not self._is_made():
            return {name: choices[name] for name in ("add", "fact", "import", "start")}
        if self.backups:
            choices["restore"] = (5, lambda: self._do(self._restore()))
        if by_hand:
            choices["forget"] = (3, lambda: self._do(self._forget(self.chance.choice(by_hand), False)))
            choices["purge"] = (3, lambda: self._do(self._forget(self.chance.choice(by_hand), True)))
        if self.forgotten is not None and not self.forgets_order:
            choices["undo"] = (6, lambda: self._do(self._undo()))
        if self.postgres is not None:
            choices["copy"] = (1, self._copy)
        return choices

    def _nothing_yet(self) -> None:
        self.told.append("no file")

    def _few(self) -> None:
        """A file with some rows and a backup of it."""
        self._do(self._import(8), "")
        self._do(self._backup(), "")

    def _old(self) -> None:
        """A file that an older release has made."""
        version = self.chance.randrange(1, len(_migrations()))
        self.told.append(f"a file of schema version {version}")
        connection = apsw.Connection(str(self.db))
        connection.pragma("journal_mode", "delete")
        for migration in _migrations()[:version]:
            connection.execute(migration.path.read_text(encoding="utf-8"))
            connection.execute(
                "INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, '2026-01-02T03:04:05.000Z')",
                (migration.version, migration.name),
            )
        connection.pragma("user_version", version)
        connection.pragma("application_id", migrate.APPLICATION_ID)
        for item, text in [self._item("memory") for _ in range(3)]:
            connection.execute(
                "INSERT INTO memories (content, type, tags) VALUES (?, 'learning', json_array(?))",
                (text, item.version),
            )
            self._be(item, item.version)
        connection.close()

    def _add(self) -> Step:
        item, text = self._item("memory")
        return Step(["add", text, "--tag", item.version], becomes([item]))

    def _fact(self) -> None:
        """With the right time, or it would expire at another one."""
        item, _ = self._item("fact")
        lives = ["--ttl", "259200"] if self.chance.random() < 0.5 else []
        kind = self._kind()
        step = Step(["fact", f"torture.{item.word}", item.version, *lives], becomes([item]))
        self._do(step, "" if kind == "clock" else kind)

    def _records(self, number: int) -> tuple[Path, list[Item]]:
        """A file of records for import."""
        made = [self._item("memory") for _ in range(number)]
        lines: list[dict[str, Any]] = [{"kind": "memory-server", "version": 1}]
        for item, text in made:
            record = {"kind": "memory", "id": item.word, "content": text, "tags": [item.version]}
            lines.append({**record, "type": "learning"})
        path = self.place / f"import-{self.commands}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path, [item for item, _ in made]

    def _import(self, number: int = 0) -> Step:
        path, items = self._records(number or self.chance.choice([1, 5, 40, 150, 350]))
        return Step(["import", str(path)], becomes(items), whole=False, after=lambda: path.unlink())

    def _merge(self) -> None:
        other = self.place / f"other-{self.commands}.db"
        path, items = self._records(self.chance.choice([1, 20, 120]))
        made = self._run(Step(["import", str(path), "--db", str(other)]), Fault("", "", False))
        if made.code == 0:
            self._do(Step(["merge", str(other)], becomes(items), whole=False))

    def _export(self) -> Step:
        path = self.place / self.chance.choice(["one.jsonl", "two.jsonl"])

        def complete() -> None:
            words = {line.split()[0] for line in re.findall(r'"content": "([^"]*)"', path.read_text())}
            memories = {item.word: item for item in self.ledger.items if item.kind == "memory"}
            lacking = [
                word for word, item in memories.items() if self._is(item, item.version) and word not in words
            ]
            extra = [word for word in words if word in memories and self._is(memories[word], GONE)]
            self.faults += [f"the export lacks {lacking}"] if lacking else []
            self.faults += [f"the export has {extra}"] if extra else []

        return Step(["export", str(path)], after=complete)

    def _backup(self) -> Step:
        path = self.place / f"backup-{self.chance.randrange(3)}.db"

        def complete() -> None:
            self.backups[path] = self._fitting(path, self.books, "the backup")
            self._overwritten(path)

        return Step(["backup", str(path)], after=complete)

    def _restore(self) -> Step:
        path = self.chance.choice(list(self.backups))
        before, theirs = list(self.books), self.backups[path][0]
        copies = self._kept_copies()

        def complete() -> None:
            made = self._kept_copies() - copies
            kept = next(iter(made), None)
            if kept is None or len(made) > 1:
                self.faults.append(f"restore kept {len(made)} copies")
                return
            late = {item.word: frozenset({GONE, item.version}) for item in self.meanwhile}
            (old,) = self._fitting(
                kept, [{**book, **late} for book in before], "the copy that restore has kept"
            )[:1]
            self._look()
            for item in self.meanwhile:
                if old.get(item.word) == self.books[0][item.word] == {GONE}:
                    self.faults.append(
                        f"{item.word} was acknowledged meanwhile and is neither here nor in {kept}"
                    )

        forced = ["--force"] if self.chance.random() < 0.5 else []
        return Step(
            ["restore", str(path), "--yes", *forced], partial(self._becomes_backup, theirs), after=complete
        )

    def _becomes_backup(self, theirs: Book, book: Book) -> Book:
        late = {item.word: frozenset({GONE, item.version}) for item in self.meanwhile}
        return {**dict.fromkeys(book, frozenset({GONE})), **theirs, **late}

    def _kept_copies(self) -> set[Path]:
        return {
            path
            for path in self.place.glob("memory.db.before-restore-*")
            if not path.name.endswith((".tmp", "-journal"))
        }

    def _forget(self, item: Item, purge: bool) -> Step:
        handle = {"memory": f"m{item.id}", "turn": f"t{item.id}"}.get(item.kind, f"f:torture.{item.word}")
        if not purge:
            return Step(["forget", handle], becomes([item], DELETED), after=partial(self._remember, item))
        self.due.add(item.word)
        return Step(["forget", handle, "--purge", "--yes"], becomes([item], GONE), after=self._overwritten)

    def _remember(self, item: Item) -> None:
        self.forgotten = item

    def _undo(self) -> Step:
        assert self.forgotten is not None
        item = self.forgotten
        return Step(["undo", "--last", "1", "--yes"], becomes([item]))

    def _captured(self) -> None:
        """A hook keeps a turn, and a person has all such erased."""
        item, text = self._item("short")
        item.conversation = "project:torture"  # a hook keeps it in the conversation of the project
        said = json.dumps({
            "session_id": "s1", "cwd": str(self.place), "hook_event_name": "Stop", "prompt": text,
            "last_assistant_message": "It is done now.",
        })  # fmt: skip
        self._do(
            Step(["hook", "Stop"], lambda book: {**book, item.word: frozenset({GONE, item.version})}),
            "",
            said,
        )
        self._look()
        self.captured.append(item)
        self.due |= {kept.word for kept in self.captured}
        self._do(Step(["hook", "forget", "all"], becomes(self.captured, GONE), after=self._overwritten))

    def _copy(self) -> None:
        """To PostgreSQL, and back into a file; what is broken off goes on."""
        assert self.postgres is not None
        place = self.postgres.place.given
        there = f"{place}{'&' if '?' in place else '?'}tenant=t{self.number}x{self.commands}"
        back = self.place / f"back-{self.commands}.db"
        before, late = list(self.books), list[Item]()
        with _COPYING:
            for step in (Step(["copy", str(self.db), there]), Step(["copy", there, str(back)])):
                done = self._do(step, "stall" if self.chance.random() < 0.3 else None)
                late += self.meanwhile
                if done.code and not self.faults:
                    again = self._do(step, "")
                    is_whole = UNTOLD in done.text and "is not empty" in again.text
                    if again.code and not is_whole:
                        self.faults.append(f"the copy does not go on: {again.text[-500:]}")
                if self.faults:
                    return
        either = {item.word: frozenset({GONE, item.version}) for item in late}
        self._fitting(back, [{**book, **either} for book in before], "the copy")


@cache
def _migrations() -> list[packaged.Migration]:
    return packaged.load(packaged.folder())
