"""The agent file of Letta (`.af`): the blocks of its memory, and what was said, as turns. It has no archival passages.

The file has one agent, or, in newer versions, several and their blocks apart.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal
from memory_server.importing.accounts import turns_of
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, hashed, moment, objects, texts

NAME = "letta"


def fits(opened: Opened) -> bool:
    value = opened.json
    return value is not None and (
        {"core_memory", "messages"} <= value.keys() or {"agents", "blocks"} <= value.keys()
    )


def records(opened: Opened) -> Iterator[Record]:
    value = opened.json or {}
    agents = objects(value.get("agents", [value]))
    blocks = [block for agent in agents for block in objects(agent.get("core_memory"))]
    for number, block in enumerate([*blocks, *objects(value.get("blocks"))], 1):
        if not str(block.get("value") or "").strip():
            yield Refusal(f"block {number}", "is empty", elsewhere=True)
        else:
            yield _block(opened, block)
    for agent in agents:
        parsed = [_message(message) for message in objects(agent.get("messages"))]
        name = str(agent.get("name") or "agent")
        shown = [message for message in parsed if message[0] in ("user", "assistant")]
        yield from turns_of(NAME, str(agent.get("id") or name), name, shown)


def _block(opened: Opened, block: dict[str, Any]) -> MemoryRecord:
    label, text = str(block.get("label") or "memory"), str(block["value"]).strip()
    return MemoryRecord(
        hashed(opened.place, label),
        f"{label}: {text}",
        "preference" if label == "human" else "learning",
        tags=(label, *texts(block.get("tags"))),
        metadata=filled(description=block.get("description")),
        created_at=moment(block.get("created_at")),
        updated_at=moment(block.get("updated_at")) or moment(block.get("created_at")),
        created_by=NAME,
        place=f"{opened.place}#{label}",
    )


def _message(message: dict[str, Any]) -> tuple[str, str, str, str]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))
    id = str(message.get("id") or hashed(message.get("created_at"), text))
    return str(message.get("role")), text, moment(message.get("created_at")), id


FORMAT = Format(NAME, "an agent file of Letta", fits, records)
