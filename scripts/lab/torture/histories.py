"""Random histories of one database, and a look for what is forgotten in the bytes of its file.

Each text carries words of its own, made of consonants that the tokenizer neither folds nor stems, so that any eight
letters of one in the file are a trace of it: also where a prefix is stored once for several words.
"""

import json
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction

LETTERS = "bcdfghjklmnpqrtvwxz"
LETTERS_IN_A_ROW = 8
_RUNS = re.compile(rb"[%s]{%d,}" % (LETTERS.encode(), LETTERS_IN_A_ROW))

Row = tuple[str, int]
"""A table and the id in it."""


def bytes_of(path: Path) -> bytes:
    """Read by another process: to close a handle on the file here would drop the locks of this one."""
    return subprocess.run(["cat", str(path)], capture_output=True, check=True).stdout


def pieces(marks: set[str]) -> set[bytes]:
    """Each eight letters of the words."""
    return {
        mark[start : start + LETTERS_IN_A_ROW].encode()
        for mark in marks
        for start in range(len(mark) - LETTERS_IN_A_ROW + 1)
    }


@dataclass
class History:
    """A database and what was written into it; `alive` and `gone` are the words that must and must not be there."""

    database: Database
    chance: random.Random
    rows: dict[Row, set[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    most: int = 5000
    """Characters of the longest text."""

    def step(self) -> None:
        """One random write; deletions are as frequent as insertions of any one kind of memory."""
        insert = self.chance.choice(
            [self._memory, self._memory, self._fact, self._turn, self._short, self._long]
        )
        kinds: list[Callable[[Transaction], None]] = [
            insert,
            insert,
            insert,
            self._change,
            self._forget,
            self._touch,
        ]
        marks, rows = set(self.gone), {row: set(words) for row, words in self.rows.items()}
        try:
            with self.database.write() as tx:
                for _ in range(self.chance.choice([1, 1, 1, 2, 8, 30])):
                    self.chance.choice(kinds)(tx)
        except BaseException:
            self.gone, self.rows = marks, rows
            raise

    def forget(self, share: float) -> None:
        """Delete a share of the rows, at least one, in one transaction."""
        with self.database.write() as tx:
            for _ in range(max(1, int(len(self.rows) * share))):
                self._forget(tx)

    def traces(self, path: Path) -> set[bytes]:
        """What the file holds of forgotten words."""
        found: set[bytes] = set()
        for run in set(_RUNS.findall(bytes_of(path).lower())):
            found.update(pieces({run.decode()}))
        return found & pieces(self.gone) - pieces(self.alive)

    def lost(self) -> list[Row]:
        """The kept rows that are not there or do not say what they should."""
        with self.database.read() as tx:
            return [
                row
                for row, marks in self.rows.items()
                if not marks <= _words(tx.rows(_READ[row[0]], (row[1],)))
            ]

    @property
    def alive(self) -> set[str]:
        return {mark for marks in self.rows.values() for mark in marks}

    def _mark(self) -> str:
        return "".join(self.chance.choices(LETTERS, k=16))

    def _text(self) -> tuple[str, str]:
        """A text with a word of its own somewhere in it, and that word."""
        mark = self._mark()
        words = [f"word{self.chance.randrange(300)}" for _ in range(self.chance.choice([0, 3, 30, 200, 900]))]
        words = " ".join(words)[: self.most - 20].split()
        words.insert(self.chance.randrange(len(words) + 1), mark)
        return " ".join(words), mark

    def _memory(self, tx: Transaction) -> None:
        text, mark = self._text()
        marks = [self._mark() for _ in range(3)]
        id = tx.value(
            "INSERT INTO memories (content, type, tags, metadata, project)"
            " VALUES (?, 'error', json_array(?), json_object('k', ?), ?) RETURNING id",
            (text, *marks),
        )
        self.rows["memories", id] = {mark, *marks}

    def _fact(self, tx: Transaction) -> None:
        text, mark = self._text()
        key = self._mark()
        id = tx.value(
            "INSERT INTO facts (scope, owner, key, value) VALUES ('global', '', ?, ?) RETURNING id",
            (f"current.{key}", json.dumps(" ".join([text] * self.chance.choice([1, 1, 4])))),
        )
        self.rows["facts", id] = {mark, key}

    def _turn(self, tx: Transaction) -> None:
        text, mark = self._text()
        summary, other = self._text()
        id = tx.value("INSERT INTO turns (message, summary) VALUES (?, ?) RETURNING id", (text, summary))
        self.rows["turns", id] = {mark, other}

    def _conversation(self, tx: Transaction) -> int:
        known = [id for table, id in self.rows if table == "conversations"]
        if known and self.chance.random() < 0.8:
            return self.chance.choice(known)
        name = self._mark()
        id = int(
            tx.value(
                "INSERT INTO conversations (name, created_at, cleaned_at) VALUES (?, ?, ?) RETURNING id",
                (name, tx.now, tx.now),
            )
        )
        self.rows["conversations", id] = {name}
        return id

    def _short(self, tx: Transaction) -> None:
        text, mark = self._text()
        id = tx.value(
            "INSERT INTO short_term_memories (conversation_id, text, said_at, created_at)"
            " VALUES (?, ?, ?, ?) RETURNING id",
            (self._conversation(tx), text, tx.now, tx.now),
        )
        words = [self._mark() for _ in range(self.chance.randrange(20))]
        for word in words:
            tx.execute(
                "INSERT INTO short_term_keywords (conversation_id, word, memory_id, weight)"
                " SELECT conversation_id, ?, id, 1.5 FROM short_term_memories WHERE id = ?",
                (word, id),
            )
        self.rows["short_term_memories", id] = {mark, *words}

    def _long(self, tx: Transaction) -> None:
        text, mark = self._text()
        name = self._mark()
        id = tx.value(
            'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger", created_at)'
            " VALUES (?, ?, ?, 'true', ?) RETURNING id",
            (self._conversation(tx), name, text, tx.now),
        )
        self.rows["long_term_memories", id] = {mark, name}

    def _change(self, tx: Transaction) -> None:
        """Write another text into a row. The one before stays in the history where there is one."""
        ids = [id for table, id in self.rows if table == "memories"]
        if not ids:
            return self._memory(tx)
        id = self.chance.choice(ids)
        text, mark = self._text()
        project = self._mark()
        before = str(tx.value("SELECT project FROM memories WHERE id = ?", (id,)))
        tx.execute("UPDATE memories SET content = ?, project = ? WHERE id = ?", (text, project, id))
        self.gone.add(before)
        self.rows["memories", id] = self.rows["memories", id] - {before} | {mark, project}
        return None

    def _touch(self, tx: Transaction) -> None:
        tx.execute(
            "UPDATE memories SET access_count = access_count + 1 WHERE id % 7 = ?",
            (self.chance.randrange(7),),
        )

    def _forget(self, tx: Transaction) -> None:
        """Delete a row, its history with it."""
        if not self.rows:
            return
        table, id = self.chance.choice(list(self.rows))
        if table == "conversations":
            held = [
                (other, row)
                for other in ("short_term_memories", "long_term_memories")
                for (row,) in tx.rows(f"SELECT id FROM {other} WHERE conversation_id = ?", (id,))
            ]
        else:
            held = []
        tx.execute(f"DELETE FROM {table} WHERE id = ?", (id,))
        if table == "facts":
            tx.execute("DELETE FROM fact_history WHERE fact_id = ?", (id,))
        for row in [(table, id), *held]:
            self.gone |= self.rows.pop(row)


_READ = {
    "memories": "SELECT m.content, m.tags, m.metadata, m.project, h.content FROM memories AS m"
    " LEFT JOIN memory_history AS h ON h.memory_id = m.id WHERE m.id = ?",
    "facts": "SELECT key, value FROM facts WHERE id = ?",
    "turns": "SELECT message, summary FROM turns WHERE id = ?",
    "conversations": "SELECT name FROM conversations WHERE id = ?",
    "short_term_memories": "SELECT m.text, k.word FROM short_term_memories AS m"
    " LEFT JOIN short_term_keywords AS k ON k.memory_id = m.id WHERE m.id = ?",
    "long_term_memories": "SELECT name, prompt FROM long_term_memories WHERE id = ?",
}


def _words(rows: list[tuple[object, ...]]) -> set[str]:
    return {word for row in rows for value in row for word in re.findall(r"[^\W_]+", str(value))}


def new(path: Path, seed: int, clock: Callable[[], datetime]) -> History:
    return History(Database(path, clock), random.Random(seed))
