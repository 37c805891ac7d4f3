"""Account exports of Claude and ChatGPT, as a zip or unpacked: conversations.json, as turns.

A turn is what the person said and what came back. Its session is the conversation. Of a ChatGPT conversation that has
branches the one that was shown last counts.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal, TurnRecord
from memory_server.importing.opened import Format, Opened, leads_out
from memory_server.importing.values import filled, hashed, moment, objects, summary_of

CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
"""The files that hold the conversations: one, or several with numbers in a large export."""

_MEMORIES = re.compile(r"(?:^|/)(?:memories|projects)(?:/[^/]+)?\.json$")
"""The files that hold what Claude remembers, and its projects: one of each, or, in newer exports, a folder of them."""

_BOLD = re.compile(r"\*\*(.{1,100}?)\*\*:?|#{1,6} (.{1,100})")

Message = tuple[str, str, str, str]
"""Its author (user, assistant or another), text, moment and id."""


def fits_claude(opened: Opened) -> bool:
    return "chat_messages" in _first(opened) or any(True for _ in _remembered(opened))


def fits_chatgpt(opened: Opened) -> bool:
    first = _first(opened)
    return "mapping" in first and isinstance(first["mapping"], dict)


def claude(opened: Opened) -> Iterator[Record]:
    for number, conversation in enumerate(_conversations(opened), 1):
        id = str(conversation.get("uuid") or "")
        messages = conversation.get("chat_messages")
        if not id or not isinstance(messages, list):
            yield Refusal(f"conversation {number}", "has no id or no messages")
            continue
        parsed = [
            (
                "user" if message.get("sender") == "human" else "assistant",
                _text(message),
                *_when_and_id(message, "created_at"),
            )
            for message in messages
            if isinstance(message, dict)
        ]
        yield from turns_of("claude", id, str(conversation.get("name") or ""), parsed)
    yield from _remembered(opened)


def _remembered(opened: Opened) -> Iterator[Record]:
    """Yield what Claude remembers, of all and of each project, and what the person wrote into projects."""
    files = opened.files if opened.is_folder or opened.is_zip else [opened]
    if opened.is_folder:
        folders = [
            path
            for path in sorted(opened.path.iterdir())
            if path.is_dir() and not leads_out(path, opened.path)
        ]
        files = [*files, *(file for folder in folders for file in Opened(folder).files)]
    entries = [entry for file in files if _MEMORIES.search(file.name) for entry in _objects(file)]
    projects = [entry for entry in entries if "docs" in entry and "name" in entry]
    names = {str(project.get("uuid")): str(project["name"]) for project in projects}
    for entry in entries:
        yield from _paragraphs(entry, entry.get("conversations_memory"), None)
        by_project = entry.get("project_memories")
        for id, text in by_project.items() if isinstance(by_project, dict) else ():
            yield from _paragraphs(entry, text, names.get(id, id))
        for number, file in enumerate(objects(entry.get("memory_files")), 1):
            yield Refusal(
                f"memory file {number}", f"is of no form that is known: {sorted(file)}", elsewhere=True
            )
    for project in projects:
        yield from _project(project)


def _paragraphs(entry: dict[str, Any], text: Any, project: str | None) -> Iterator[Record]:
    """Yield each paragraph of what Claude remembers as a memory, under its heading in bold."""
    heading = ""
    for part in filter(None, map(str.strip, str(text or "").split("\n\n"))):
        title = _BOLD.fullmatch(part)
        if title:
            heading = (title[1] or title[2]).strip(" :")
            continue
        content = f"{heading}: {part}" if heading else part
        yield MemoryRecord(
            hashed(entry.get("account_uuid"), project, content), content, "preference", project, ("claude",),
            created_by="claude", metadata=filled(heading=heading),
        )  # fmt: skip


def _project(project: dict[str, Any]) -> Iterator[Record]:
    name, id = str(project["name"]), str(project.get("uuid") or project["name"])
    parts = [
        ("description", f"{name}: ", project, project.get("description")),
        ("instructions", "Instructions: ", project, project.get("prompt_template")),
    ]
    for doc in objects(project.get("docs")):
        part = str(doc.get("uuid") or doc.get("filename"))
        parts.append((part, f"{doc.get('filename')}\n", doc, doc.get("content")))
    for part, title, entry, text in parts:
        at = moment(entry.get("created_at"))
        if str(text or "").strip():
            yield MemoryRecord(
                f"{id}/{part}", f"{title}{text}", "learning", name, ("claude",), created_at=at, updated_at=at,
                created_by="claude", metadata={"part": part},
            )  # fmt: skip


def _objects(file: Opened) -> Iterable[dict[str, Any]]:
    """Return the objects of a file: it is a list of them, or one."""
    return file.items if file.json is None else [file.json]


def chatgpt(opened: Opened) -> Iterator[Record]:
    for number, conversation in enumerate(_conversations(opened), 1):
        id = str(conversation.get("conversation_id") or conversation.get("id") or "")
        mapping = conversation.get("mapping")
        if not id or not isinstance(mapping, dict):
            yield Refusal(f"conversation {number}", "has no id or no messages")
            continue
        shown = _shown(mapping, conversation.get("current_node"))
        yield from turns_of("chatgpt", id, str(conversation.get("title") or ""), shown)


def _shown(mapping: dict[str, Any], last: object) -> Iterator[Message]:
    """The messages from the first one to the one that was shown last."""
    path: list[dict[str, Any]] = []
    visited: set[object] = set()
    if last not in mapping:
        leaves = [id for id, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        last = leaves[-1] if leaves else None
    while last in mapping and last not in visited and isinstance(mapping[str(last)], dict):
        visited.add(last)
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


def turns_of(author: str, conversation: str, title: str, messages: Iterable[Message]) -> Iterator[Record]:
    """Yield the turns of a conversation: what the person said, and what came back."""
    question: list[Message] = []
    answer: list[Message] = []
    for message in messages:
        role, text, _, _ = message
        if not text.strip():
            continue
        if role == "user" and answer:
            yield _turn(author, conversation, title, question, answer)
            question, answer = [], []
        (question if role == "user" else answer).append(message)
    if question or answer:
        yield _turn(author, conversation, title, question, answer)


def _turn(
    author: str, conversation: str, title: str, question: list[Message], answer: list[Message]
) -> TurnRecord:
    first = (question or answer)[0]
    text = "\n".join(text for _, text, _, _ in question or answer)
    short = summary_of(text)
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
    written = [
        str(part.get("text") or "")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    attached = [
        f"[{file.get('file_name') or 'attachment'}]\n{file['extracted_content']}"
        for file in message.get("attachments") or []
        if isinstance(file, dict) and file.get("extracted_content")
    ]
    text = "\n".join(filter(str.strip, written)) or str(message.get("text") or "")
    return "\n".join([text, *attached]).strip()


def _when_and_id(message: dict[str, Any], field: str) -> tuple[str, str]:
    return moment(message.get(field)), str(message.get("uuid") or message.get("id") or "")


def _conversations(opened: Opened) -> Iterator[dict[str, Any]]:
    for file in _files(opened):
        yield from file.items


def _files(opened: Opened) -> list[Opened]:
    """Return the files of a folder or a zip that hold conversations; else the file itself."""
    if opened.is_folder or opened.is_zip:
        return [file for file in opened.files if CONVERSATIONS.fullmatch(file.member or file.path.name)]
    return [opened]


def _first(opened: Opened) -> dict[str, Any]:
    return next((item for file in _files(opened)[:1] for item in file.items), {})


CLAUDE = Format("claude", "an account export of Claude", fits_claude, claude)
CHATGPT = Format("chatgpt", "an account export of ChatGPT", fits_chatgpt, chatgpt)
