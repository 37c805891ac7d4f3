"""A memory, a fact, a briefing or a list as a text of at most so many tokens, with its dates."""

import json
from collections.abc import Sequence
from typing import Any

from memory_server.domain import trust
from memory_server.domain.fact import Fact
from memory_server.errors import Problem, told
from memory_server.language.tokens import beginning, weigh
from memory_server.mcp.hints import WORDS
from memory_server.mcp.tools.answers import to_minutes
from memory_server.services.memories import Detailed

HEADROOM = 0.88
"""Share of a token limit that the estimate may fill. The real count is up to 12 % higher and must keep the limit."""


def of_memory(detailed: Detailed, limit: int) -> str:
    """Describe a memory: its kind, its text, then its earlier texts."""
    memory = detailed.memory
    about = [
        f"Memory {memory.id}",
        memory.type.value,
        f"project {memory.project}" if memory.project else "no project",
        f"importance {memory.importance}",
        *_tags(memory.tags),
    ]
    dates = [f"Stored {to_minutes(memory.created_at)}{_by(memory.created_by)}."]
    if memory.occurred_before:
        dates.insert(0, f"Occurred {to_minutes(memory.occurred_before)}.")
    if memory.updated_at != memory.created_at:
        dates.append(f"Changed {to_minutes(memory.updated_at)}.")
    lines = [", ".join(about), " ".join(dates)]
    if trust.waits(memory.origin):
        lines.append(f"From {memory.origin}: nobody whom the user knows has said it.")
    if memory.superseded_by:
        lines.append(f"Superseded by memory {memory.superseded_by}.")
    if memory.metadata:
        lines.append(f"Metadata: {_json(memory.metadata)}")
    lines += ["", memory.content]
    if detailed.earlier:
        lines += ["", "Earlier texts, the newest first:", *(f"- {text}" for text in detailed.earlier)]
    return cut("\n".join(lines), limit, "`memory_get` reads all of it.")


def of_fact(fact: Fact, limit: int) -> str:
    """Describe a fact, then its value: text as it is, anything else as JSON."""
    about = [f"Fact {fact.key}", f"scope {fact.home.scope}", f"version {fact.version}", *_tags(fact.tags)]
    dates = [f"Written {to_minutes(fact.updated_at)}{_by(fact.updated_by)}."]
    if fact.created_at != fact.updated_at:
        dates.append(f"First written {to_minutes(fact.created_at)}{_by(fact.created_by)}.")
    if fact.expires_at:
        dates.append(f"Expires {to_minutes(fact.expires_at)}.")
    if trust.waits(fact.origin):
        dates.append(f"From {fact.origin}: nobody whom the user knows has said it.")
    value = fact.value if isinstance(fact.value, str) else _json(fact.value)
    return cut(
        "\n".join([", ".join(about), " ".join(dates), "", value]), limit, "`read_memory` reads all of it."
    )


def cut(text: str, limit: int, more: str) -> str:
    """The text in at most so many tokens; where that is not all, the last line says so and what reads the rest."""
    room = HEADROOM * limit
    if weigh(text) <= room:
        return text
    shown = beginning(text, room - weigh(_rest(len(text), more)))
    return shown + _rest(len(text) - len(shown), more)


def with_problems(text: str, problems: Sequence[Problem]) -> str:
    """The text, then why it is not complete, if it is not."""
    wrong = told(problems, WORDS)
    return f"{text}\n\nNot complete: {wrong}" if wrong else text


def overhead(problems: Sequence[Problem]) -> float:
    """The tokens of what `with_problems` adds."""
    return weigh(with_problems("", problems))


def _rest(characters: int, more: str) -> str:
    return f"…\n\n{characters:,} more characters. {more}"


def _tags(tags: Sequence[str]) -> list[str]:
    return [f"tags {', '.join(tags)}"] if tags else []


def _by(author: str | None) -> str:
    return f" by {author}" if author else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
