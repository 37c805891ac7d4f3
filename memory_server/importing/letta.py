"""The agent file of Letta (`.af`): the blocks of its memory and the files it was given; and what was said, as turns.

The file has one agent, or, in newer versions, several, and their blocks apart. It has no archival passages. What the
person said is packed as JSON with its time, as are events, which nobody said; agents of earlier kinds reply with a call
of `send_message`, and think in the text beside it.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal
from memory_server.domain.fact import is_plain
from memory_server.importing.accounts import turns_of
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, hashed, moment, objects, parsed_json, texts

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
    owners = {id: str(agent.get("name")) for agent in agents for id in texts(agent.get("block_ids"))}
    for number, block in enumerate([*blocks, *objects(value.get("blocks"))], 1):
        if not str(block.get("value") or "").strip():
            yield Refusal(f"block {number}", "is empty", elsewhere=True)
        else:
            yield _block(opened, block, owners.get(str(block.get("id")), "") if len(agents) > 1 else "")
    for file in objects(value.get("files")):
        yield _file(opened, file)
    for agent in agents:
        parsed = [_message(message) for message in objects(agent.get("messages"))]
        name = str(agent.get("name") or "agent")
        shown = [message for message in parsed if message[0] in ("user", "assistant")]
        yield from turns_of(NAME, str(agent.get("id") or name), name, shown)


def _block(opened: Opened, block: dict[str, Any], agent: str) -> MemoryRecord:
    """Return a block; of several agents each may have one of the same name."""
    label, text = str(block.get("label") or "memory"), str(block["value"]).strip()
    more = block.get("metadata")
    return MemoryRecord(
        hashed(opened.place, *filter(None, [agent]), label),
        f"{label}: {text}",
        "preference" if label == "human" else "learning",
        tags=(label, *texts(block.get("tags"))),
        metadata={
            **(more if isinstance(more, dict) and is_plain(more) else {}),
            **filled(description=block.get("description"), agent=agent),
        },
        created_at=moment(block.get("created_at")),
        updated_at=moment(block.get("updated_at"), block.get("created_at")),
        created_by=NAME,
        place="#".join(filter(None, [opened.place, agent, label])),
    )


def _file(opened: Opened, file: dict[str, Any]) -> Record:
    name, text = str(file.get("file_name") or file.get("id")), str(file.get("content") or "").strip()
    if not text:
        return Refusal(f"file {name}", "has no text", elsewhere=True)
    at = moment(file.get("file_last_modified_date"), file.get("file_creation_date"))
    return MemoryRecord(
        hashed(opened.place, "file", name), f"{name}\n{text}", "learning", tags=("file",), created_at=at,
        updated_at=at, created_by=NAME, place=f"{opened.place}#{name}",
    )  # fmt: skip


def _message(message: dict[str, Any]) -> tuple[str, str, str, str]:
    content, role = message.get("content"), str(message.get("role"))
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))
    packed = parsed_json(text) if role == "user" else None
    if isinstance(packed, dict) and isinstance(packed.get("type"), str):
        text = str(packed.get("message") or "") if packed["type"] == "user_message" else ""
    if role == "assistant":
        text = "\n".join(_sent(message)) or text
    id = str(message.get("id") or hashed(message.get("created_at"), text))
    return role, text, moment(message.get("created_at")), id


def _sent(message: dict[str, Any]) -> Iterator[str]:
    """Yield what an agent sent to the person by a call of a tool."""
    for call in objects(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict) and function.get("name") == "send_message":
            arguments = parsed_json(function.get("arguments"))
            if isinstance(arguments, dict) and isinstance(arguments.get("message"), str):
                yield arguments["message"]


FORMAT = Format(NAME, "an agent file of Letta", fits, records)
