"""The folders of memory-mcp-server: a folder for each conversation, with short-term and long-term memories as JSON.

The server finds the keywords anew: ours know more spellings. Triggers are tried before they are kept.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import LongTermRecord, Record, Refusal, ShortTermRecord
from memory_server.importing.opened import Format, Opened, leads_out
from memory_server.importing.values import hashed, moment

NAME = "memory-mcp-server"

SHORT, LONG = "short-term-memory.json", "long-term-memory.json"


def fits(opened: Opened) -> bool:
    if opened.is_folder:
        return any(_folders(opened.path))
    first = next(iter(opened.items), {})
    return {"time_stamp", "text", "keywords"} <= first.keys() or {"trigger", "prompt", "name"} <= first.keys()


def records(opened: Opened) -> Iterator[Record]:
    if not opened.is_folder:
        yield from _of_file(opened, opened.path.parent.name)
        return
    for folder in _folders(opened.path):
        names = [folder.name]
        for file in (folder / SHORT, folder / LONG):
            if file.is_file():
                opened_file = Opened(file)
                if opened_file.values is None:
                    yield Refusal(str(file), "is no JSON")
                names += filter(None, (str(item.get("conversation_id") or "") for item in opened_file.items))
                yield from _of_file(opened_file, names[-1])


def _folders(path: Path) -> Iterator[Path]:
    """The folder of a conversation, or those in the folder of all of them."""
    for folder in (path, *sorted(path.iterdir())):
        has_memories = (folder / SHORT).is_file() or (folder / LONG).is_file()
        if has_memories and not leads_out(folder, path):
            yield folder


def _of_file(opened: Opened, conversation: str) -> Iterator[Record]:
    at_moment: Counter[tuple[str, str]] = Counter()
    for number, item in enumerate(opened.items, 1):
        try:
            yield _long(item, conversation) if "trigger" in item else _short(item, conversation, at_moment)
        except KeyError as missing:
            yield Refusal(f"{opened.path.name}, item {number}", f"has no {missing}")


def _short(item: dict[str, Any], conversation: str, at_moment: Counter[tuple[str, str]]) -> ShortTermRecord:
    """Return a short-term memory. Its id is its moment, and its number among those of one moment."""
    said_at, where = moment(item["time_stamp"]), str(item.get("conversation_id") or conversation)
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
