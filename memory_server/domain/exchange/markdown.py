"""An export for people: a page of Markdown for each project."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from memory_server.domain.exchange.records import (
    EdgeRecord,
    FactRecord,
    LongTermRecord,
    MemoryRecord,
    Record,
    ShortTermRecord,
    TurnRecord,
)
from memory_server.domain.memory import MemoryType
from memory_server.domain.project import default_conversation

NOWHERE = "no project"
"""The page of what belongs to no project."""

_TITLES = {
    MemoryType.DECISION: "Decisions",
    MemoryType.PREFERENCE: "Preferences",
    MemoryType.PATTERN: "Patterns",
    MemoryType.LEARNING: "Learnings",
    MemoryType.ERROR: "Errors",
    MemoryType.OBSERVATION: "Observations",
}

_OTHERS = ("Facts", "Prompts", "Turns", "Short-term memories")


@dataclass(slots=True)
class _Page:
    """The lines of each section of a project."""

    sections: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, section: str, moment: str, line: str) -> None:
        self.sections.setdefault(section, []).append((moment, line))


def pages(records: Iterable[Record], titled: Callable[[str], str] = str) -> Iterator[tuple[str, str]]:
    """The name and the text of each page, by name; `titled` words a title. The newest is the first of its section."""
    by_project: dict[str, _Page] = {}
    outdated: set[str] = set()
    memories: list[MemoryRecord] = []
    for record in records:
        match record:
            case MemoryRecord():
                memories.append(record)
            case EdgeRecord() if record.relation == "supersedes" and record.valid_to is None:
                outdated.add(record.target)
            case FactRecord() if record.alive:
                where = record.owner if record.scope == "project" else ""
                value = json.dumps(record.steps[-1].value, ensure_ascii=False)
                scope = "" if record.scope == "project" else f" ({record.scope})"
                _page(by_project, where).add(
                    "Facts", record.steps[-1].changed_at, f"- `{record.key}`{scope}: {value}"
                )
            case TurnRecord():
                moment = record.occurred_at or record.created_at
                line = f"- {_day(moment)} {_indented(record.summary)}"
                _page(by_project, record.project).add("Turns", moment, line)
            case LongTermRecord():
                line = f"- **{record.name}**: {_indented(record.prompt)}\n  when `{' '.join(record.trigger.split())}`"
                line += "" if record.rule is None else f"; rule: {record.rule.state}"
                _page(by_project, _project(record.conversation)).add("Prompts", record.created_at, line)
            case ShortTermRecord():
                line = f"- {_day(record.said_at)} {_indented(record.text)}"
                _page(by_project, _project(record.conversation)).add(
                    "Short-term memories", record.said_at, line
                )
            case _:
                pass
    for memory in memories:
        moment = memory.occurred_at or memory.created_at
        line = _memory(memory, moment, memory.id in outdated)
        _page(by_project, memory.project or "").add(_TITLES[MemoryType(memory.type)], moment, line)
    for name in sorted(by_project):
        yield name or NOWHERE, _text(name or titled(NOWHERE), by_project[name], titled)


def _memory(memory: MemoryRecord, moment: str, outdated: bool) -> str:
    notes = [_day(moment), *(f"#{tag}" for tag in memory.tags)]
    if memory.importance != 5:
        notes.append(f"importance {memory.importance}")
    if memory.created_by:
        notes.append(f"by {memory.created_by}")
    text = _indented(memory.content)
    return f"- {'~~' + text + '~~ (outdated)' if outdated else text} ({', '.join(notes)})"


def _text(name: str, page: _Page, titled: Callable[[str], str]) -> str:
    parts = [f"# {name}"]
    for title in (*_TITLES.values(), *_OTHERS):
        lines = sorted(page.sections.get(title, ()), key=lambda entry: entry[0], reverse=True)
        if lines:
            parts.append("\n".join([f"## {titled(title)}", "", *(line for _, line in lines)]))
    return "\n\n".join(parts) + "\n"


def _page(by_project: dict[str, _Page], project: str) -> _Page:
    return by_project.setdefault(project, _Page())


def _project(conversation: str) -> str:
    """Whose conversation it is; one with a name of its own belongs to no project."""
    prefix = default_conversation("x")[:-1]
    return conversation.removeprefix(prefix) if conversation.startswith(prefix) else ""


def _day(moment: str) -> str:
    return moment[:10]


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
