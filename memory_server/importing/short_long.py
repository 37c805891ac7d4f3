"""The folders of memory-mcp-server: a folder for each conversation, with short-term and long-term memories as JSON; and
the file that its `backup_memories` writes of a conversation.

The server finds the keywords anew: ours know more spellings. Triggers are tried before they are kept.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import LongTermRecord, Record, Refusal, ShortTermRecord
from memory_server.importing.opened import Format, Opened, leads_out
from memory_server.importing.values import hashed, moment, objects

NAME = "memory-mcp-server"

SHORT, LONG = "short-term-memory.json", "long-term-memory.json"

BACKUP = ("conversation_id", "short_term", "long_term")
"""Members of a backup; the last two are as in the files."""

MOMENTS = ("timestamp", "time_stamp")
"""Names of the moment of a short-term memory, the later one first: it changed in November 2025."""


def fits(opened: Opened) -> bool:
    if opened.is_folder:
        return any(_folders(opened.path))
    if opened.json is not None:
        return set(BACKUP) <= opened.json.keys()
    first = next(iter(opened.items), {})
    is_short = {"text", "keywords"} <= first.keys() and not first.keys().isdisjoint(MOMENTS)
    return is_short or {"trigger", "prompt", "name"} <= first.keys()


def records(opened: Opened) -> Iterator[Record]:
    if opened.json is not None:
        conversation, *kinds = (opened.json[name] for name in BACKUP)
        for items in kinds:
            yield from _of_items(objects(items), opened.path.name, str(conversation))
        return
    if not opened.is_folder:
        yield from _of_items(opened.items, opened.path.name, opened.path.parent.name)
        return
    for folder in _folders(opened.path):
        names = [folder.name]
        for file in (folder / SHORT, folder / LONG):
            if file.is_file():
                opened_file = Opened(file)
                if opened_file.values is None:
                    yield Refusal(str(file), "is no JSON")
                names += filter(None, (str(item.get("conversation_id") or "") for item in opened_file.items))
                yield from _of_items(opened_file.items, file.name, names[-1])


def _folders(path: Path) -> Iterator[Path]:
    """The folder of a conversation, or those in the folder of all of them."""
    for folder in (path, *sorted(path.iterdir())):
        has_memories = (folder / SHORT).is_file() or (folder / LONG).is_file()
        if has_memories and not leads_out(folder, path):
            yield folder


def _of_items(items: Iterable[dict[str, Any]], file: str, conversation: str) -> Iterator[Record]:
    at_moment: Counter[tuple[str, str]] = Counter()
    for number, item in enumerate(items, 1):
        try:
            yield _long(item, conversation) if "trigger" in item else _short(item, conversation, at_moment)
        except KeyError as missing:
            yield Refusal(f"{file}, item {number}", f"has no {missing}")
        if item.get("modalities") or item.get("attachments"):
            yield Refusal(f"{file}, item {number}", "its images and sounds are left out", elsewhere=True)


def _short(item: dict[str, Any], conversation: str, at_moment: Counter[tuple[str, str]]) -> ShortTermRecord:
    """Return a short-term memory. Its id is its moment, and its number among those of one moment."""
    said_at = moment(next(filter(None, map(item.get, MOMENTS)), None))
    where = str(item.get("conversation_id") or conversation)
    at_moment[where, said_at] += 1
    return ShortTermRecord(
        hashed(where, said_at, at_moment[where, said_at]),
        where,
        str(item["text"]),
        min(100.0, max(0.0, float(item.get("score") or 0))),
        said_at,
        said_at,
        NAME,
        also=(hashed(where, said_at, item["text"]),),
    )


def _long(item: dict[str, Any], conversation: str) -> LongTermRecord:
    return LongTermRecord(
        conversation,
        str(item["name"]),
        str(item["prompt"]),
        str(item["trigger"]),
        item.get("createdContext") or None,
        item.get("updatedContext") or None,
        moment(item.get("createdAt")),
        moment(item.get("updatedAt")) or None,
        NAME,
    )


FORMAT = Format(NAME, "the folders of memory-mcp-server", fits, records)
