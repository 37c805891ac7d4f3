"""Account exports of Claude and ChatGPT, as a zip or unpacked: conversations.json, as turns.

A turn is what the person said and what came back. Its session is the conversation. Of a ChatGPT conversation that has
branches the one that was shown last counts.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memory_server.domain.exchange.records import Record, Refusal, TurnRecord
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import moment

CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
"""The files that hold the conversations: one, or several with numbers in a large export."""

LONGEST = 300
"""Characters of a summary."""

Said = tuple[str, str, str, str]
"""Who (user, assistant or another), what, when, and the message's id."""


def fits_claude(opened: Opened) -> bool:
    return "chat_messages" in _first(opened)


def fits_chatgpt(opened: Opened) -> bool:
    first = _first(opened)
    return "mapping" in first and isinstance(first["mapping"], dict)


def claude(opened: Opened) -> Iterator[Record]:
    for number, each in enumerate(_conversations(opened), 1):
        id = str(each.get("uuid") or "")
        messages = each.get("chat_messages")
        if not id or not isinstance(messages, list):
            yield Refusal(f"conversation {number}", "has no id or no messages")
            continue
        said = [
            (
                "user" if each.get("sender") == "human" else "assistant",
                _text(each),
                *_when_and_id(each, "created_at"),
            )
            for each in messages
            if isinstance(each, dict)
        ]
        yield from _turns("claude", id, str(each.get("name") or ""), said)


def chatgpt(opened: Opened) -> Iterator[Record]:
    for number, each in enumerate(_conversations(opened), 1):
        id = str(each.get("conversation_id") or each.get("id") or "")
        mapping = each.get("mapping")
        if not id or not isinstance(mapping, dict):
            yield Refusal(f"conversation {number}", "has no id or no messages")
            continue
        yield from _turns(
            "chatgpt", id, str(each.get("title") or ""), list(_shown(mapping, each.get("current_node")))
        )


def _shown(mapping: dict[str, Any], last: object) -> Iterator[Said]:
    """The messages from the first one to the one that was shown last."""
    path: list[dict[str, Any]] = []
    seen: set[object] = set()
    if last not in mapping:
        leaves = [id for id, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        last = leaves[-1] if leaves else None
    while last in mapping and last not in seen and isinstance(mapping[str(last)], dict):
        seen.add(last)
        path.append(mapping[str(last)])
        last = mapping[str(last)].get("parent")
    for node in reversed(path):
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        role = (message.get("author") or {}).get("role")
        content = message.get("content") or {}
        kind = content.get("content_type")
        if role in ("user", "assistant") and kind in ("text", "multimodal_text", "code"):
            parts = content.get("parts") or [content.get("text")]
            text = "\n".join(part for part in parts if isinstance(part, str) and part.strip())
            yield role, text, *_when_and_id(message, "create_time")


def _turns(author: str, conversation: str, title: str, said: Iterable[Said]) -> Iterator[Record]:
    question: list[Said] = []
    answer: list[Said] = []
    for each in said:
        if not each[1].strip():
            continue
        if each[0] == "user" and answer:
            yield _turn(author, conversation, title, question, answer)
            question, answer = [], []
        (question if each[0] == "user" else answer).append(each)
    if question or answer:
        yield _turn(author, conversation, title, question, answer)


def _turn(author: str, conversation: str, title: str, question: list[Said], answer: list[Said]) -> TurnRecord:
    first = (question or answer)[0]
    asked = "\n".join(text for _, text, _, _ in question or answer)
    short = asked if len(asked) <= LONGEST else f"{asked[:LONGEST].rstrip()}…"
    return TurnRecord(
        f"{conversation}/{first[3]}",
        "\n".join(f"{who}: {text}" for who, text, _, _ in (*question, *answer)),
        f"{title}: {short}" if title else short,
        session=conversation,
        created_at=first[2],
        created_by=author,
    )


def _text(message: dict[str, Any]) -> str:
    """The text of a message of Claude: its parts, without tools and thoughts; in older exports a field of its own."""
    parts = message.get("content")
    found = [
        str(part.get("text") or "")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    attached = [
        f"[{each.get('file_name') or 'attachment'}]\n{each['extracted_content']}"
        for each in message.get("attachments") or []
        if isinstance(each, dict) and each.get("extracted_content")
    ]
    text = "\n".join(filter(str.strip, found)) or str(message.get("text") or "")
    return "\n".join([text, *attached]).strip()


def _when_and_id(message: dict[str, Any], field: str) -> tuple[str, str]:
    return moment(message.get(field)), str(message.get("uuid") or message.get("id") or "")


def _conversations(opened: Opened) -> Iterator[dict[str, Any]]:
    for file in _files(opened):
        yield from file.items


def _files(opened: Opened) -> list[Opened]:
    """Those of a folder or a zip that hold conversations; else the file itself."""
    if opened.is_folder or opened.is_zip:
        return [each for each in opened.files if CONVERSATIONS.fullmatch(each.member or each.path.name)]
    return [opened]


def _first(opened: Opened) -> dict[str, Any]:
    return next((each for file in _files(opened)[:1] for each in file.items), {})


CLAUDE = Format("claude", "an account export of Claude", fits_claude, claude)
CHATGPT = Format("chatgpt", "an account export of ChatGPT", fits_chatgpt, chatgpt)
