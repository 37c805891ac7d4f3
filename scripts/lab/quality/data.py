"""Reads the sets of an evaluation: stores of memories, and questions whose answers are known.

A set is JSON, gzip'd or not; a corpus is one store:

    {"name", "lang", "overall_excludes": [category, …],
     "corpora": [{"id",
                  "memories":  [{"id", "text", "time", "session", "type", "project"}],
                  "questions": [{"id", "text", "category", "gold": [[id, …], …], "stale": [id, …],
                                 "asked_at", "lang"}]}]}

`gold` lists pieces of evidence, and any one id of a piece will do. `stale` were true once. `lang` of a question,
`overall_excludes`, `project`, `session`, `stale` and `asked_at` may be left out.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_server.demo.log import DEMO_LOG

JSON = dict[str, Any]

_FORMS = ("%I:%M %p on %d %B, %Y", "%B-%d-%Y")
_CHINESE = re.compile(r"(\d+)年(\d+)月(\d+)日\D*(?:(\d+):(\d+))?")


@dataclass(frozen=True, slots=True)
class Memory:
    id: str
    text: str
    type: str
    time: datetime | None = None
    session: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are pieces of evidence, each a set of ids of which one will do; `stale` were true once.

    Without `counts` it is left out of the figures of its whole set.
    """

    id: str
    text: str
    category: str
    gold: tuple[frozenset[str], ...]
    stale: frozenset[str] = frozenset()
    lang: str = ""
    asked_at: datetime | None = None
    counts: bool = True

    @property
    def wanted(self) -> frozenset[str]:
        return frozenset().union(*self.gold)


@dataclass(frozen=True, slots=True)
class Store:
    """`number` is its place in its set."""

    set: str
    name: str
    number: int
    memories: tuple[Memory, ...]
    questions: tuple[Question, ...]


def read(path: Path) -> Iterator[Store]:
    """The stores of a file, or of all files of a folder: gzip'd or plain JSON."""
    if path.is_dir():
        for file in sorted([*path.glob("*.json.gz"), *path.glob("*.json")]):
            if file.name != "MANIFEST.json":
                yield from read(file)
        return
    raw = path.read_bytes()
    yield from stores(json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw))


def stores(data: JSON) -> Iterator[Store]:
    """The stores of one set."""
    left_out = frozenset(data.get("overall_excludes", ()))
    lang = data.get("lang", "")
    for number, corpus in enumerate(data["corpora"]):
        yield Store(
            data["name"],
            corpus["id"],
            number,
            tuple(map(_memory, corpus["memories"])),
            tuple(_question(question, lang, left_out) for question in corpus["questions"]),
        )


def demo() -> Store:
    """The demo's log: a question's evidence are the memories that hold one of the texts it expects."""
    lines = [json.loads(line) for line in DEMO_LOG.read_text(encoding="utf-8").splitlines()]
    stored = {str(number): line for number, line in enumerate(lines, start=1) if "content" in line}
    memories = [
        Memory(id, line["content"], line["type"], moment(line["date"]), project=line["project"])
        for id, line in stored.items()
    ]
    questions = []
    for number, line in enumerate(lines, start=1):
        if "ask" not in line:
            continue
        gold = frozenset(
            id for id, each in stored.items() if any(part in each["content"] for part in line["expect"])
        )
        category = f"{line['lang']}>{line['about']}"
        questions.append(Question(str(number), line["ask"], category, (gold,), lang=line["lang"]))
    return Store("demo", "demo", 0, tuple(memories), tuple(questions))


def moment(text: str | None) -> datetime | None:
    """A time as the sets write it: ISO-8601, `3:47 pm on 17 March, 2022`, `March-15-2024`, `2024年04月01日 周一 08:30`.

    Raises:
        ValueError: it is none of these.
    """
    if not text:
        return None
    if found := _CHINESE.match(text):
        year, month, day, hour, minute = (int(part or 0) for part in found.groups())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    for form in _FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _memory(row: JSON) -> Memory:
    return Memory(
        row["id"], row["text"], row["type"], moment(row["time"]), row.get("session"), row.get("project")
    )


def _question(row: JSON, lang: str, left_out: Iterable[str]) -> Question:
    return Question(
        row["id"],
        row["text"],
        row["category"],
        tuple(frozenset(piece) for piece in row["gold"]),
        frozenset(row.get("stale", ())),
        row.get("lang", lang),
        moment(row.get("asked_at") or row.get("time")),
        row["category"] not in left_out,
    )
