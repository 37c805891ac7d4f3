"""Plain JSONL, JSON lists and CSV: a memory a row. A column is known by its usual names; any other is metadata."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal
from memory_server.domain.fact import is_plain
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import hashed, importance, memory_type, moment, objects, texts

NAMES = {
    "content": "content text memory note body message value observation 内容 记忆 文本",
    "id": "id uuid key hash",
    "type": "type category kind 类型",
    "project": "project workspace namespace 项目",
    "tags": "tags tag labels keywords categories 标签",
    "importance": "importance priority weight 重要性",
    "created_at": "created_at created createdat date timestamp time create_time 日期 时间",
    "updated_at": "updated_at updated updatedat modified 更新",
    "author": "author created_by createdby user source 作者",
    "session": "session session_id conversation_id",
}
"""The usual names of each column, the first one first."""

UNIQUE = 16
"""Characters from which on an id is taken for one that no other file uses for something else."""


LISTS = ("results", "memories", "items", "data")
"""The usual names of a list inside an object, as what mem0 answers."""


def fits_jsonl(opened: Opened) -> bool:
    first = next((item for item in _items(opened) or [] if isinstance(item, dict)), opened.first)
    return _column(first, "content") is not None


def _items(opened: Opened) -> Iterable[Any] | None:
    """Return the items of a JSON list, or of the list inside an object; None for lines."""
    value = opened.json
    if value is None:
        return opened.values
    if _column(value, "content") is not None:
        return None
    return next((value[name] for name in LISTS if isinstance(value.get(name), list)), None)


def fits_csv(opened: Opened) -> bool:
    rows = _rows(opened.head)
    return bool(rows) and len(rows[0]) > 1 and _column(dict.fromkeys(rows[0]), "content") is not None


def jsonl(opened: Opened) -> Iterator[Record]:
    items = _items(opened)
    if items is not None:
        for number, item in enumerate(items, 1):
            yield _record(item, f"item {number}", opened.path.name)
        for number, relation in enumerate(objects((opened.json or {}).get("relations")), 1):
            words = " ".join(map(str, relation.values()))
            yield Refusal(f"relation {number}", f"its ends are no memories: {words}", elsewhere=True)
        return
    for number, line in enumerate(opened.lines, 1):
        if line.strip():
            try:
                yield _record(json.loads(line), f"line {number}", opened.path.name)
            except (ValueError, RecursionError):
                yield Refusal(f"line {number}", "is no JSON")


def csv_rows(opened: Opened) -> Iterator[Record]:
    names, *rows = _rows(opened.text) or [[]]
    for number, row in enumerate(rows, 2):
        if any(cell.strip() for cell in row):
            yield _record(dict(zip(names, row, strict=False)), f"row {number}", opened.path.name)


def _record(row: Any, where: str, file: str) -> Record:
    if not isinstance(row, dict) or not is_plain(row):
        return Refusal(where, "is no object that can be read")
    columns = _columns(tuple(row))

    def value(name: str) -> Any:
        column = columns[name]
        return None if column is None else row[column]

    content = value("content")
    if not isinstance(content, str) or not content.strip():
        return Refusal(where, "has no text")
    used = {column for column in columns.values() if column is not None}
    created_at = moment(value("created_at"))
    if not created_at:  # what is no date stays as it is
        used -= {columns["created_at"]}
    return MemoryRecord(
        _id(value("id"), file) or hashed(content, value("project")),
        content,
        memory_type(value("type")),
        project=str(value("project")) if value("project") else None,
        tags=tuple(texts(value("tags"))),
        importance=importance(value("importance")),
        metadata={name: cell for name, cell in row.items() if name not in used and cell not in (None, "")},
        created_at=created_at,
        updated_at=moment(value("updated_at")) or created_at,
        created_by=str(value("author")) if value("author") else None,
        session=str(value("session")) if value("session") else None,
    )


def _id(value: Any, file: str) -> str:
    """A short id, such as a number, names a row of one file alone; a long one is the same in every file."""
    id = "" if value is None else str(value)
    return id if not id or len(id) >= UNIQUE else f"{file}#{id}"


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> dict[str, str | None]:
    """Find the column for each of our fields; kept, because the rows of a file have few sets of columns."""
    return {field: _column(dict.fromkeys(names), field) for field in NAMES}


def _column(row: dict[str, Any], name: str) -> str | None:
    """The column of a row that has one of the usual names."""
    columns = {str(column).strip().lower().replace(" ", "_"): column for column in row if column is not None}
    return next((columns[usual] for usual in NAMES[name].split() if usual in columns), None)


def _rows(text: str) -> list[list[str]]:
    """The rows of a text with commas, semicolons or tabs; none where it is no such text."""
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    if mark not in first or first.lstrip().startswith(("{", "[", "#", "-", "SQLite")):
        return []
    try:
        return list(csv.reader(io.StringIO(text), delimiter=mark))
    except csv.Error:
        return []


JSONL = Format("jsonl", "JSON, a memory a line or in a list", fits_jsonl, jsonl)
CSV = Format("csv", "CSV, a memory a row", fits_csv, csv_rows)
