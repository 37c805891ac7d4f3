"""Parts that the answers of several tools share."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.answers.answer import field, made
from memory_server.domain import trust
from memory_server.domain.forgetting import Forgotten
from memory_server.errors import Invalid, Problem, told
from memory_server.language.tokens import weigh
from memory_server.mcp.hints import WORDS


def to_minutes(moment: str) -> str:
    """A stored moment, `2026-03-14T09:26:53.589Z`, as `2026-03-14 09:26`: still UTC, in fewer tokens."""
    return moment[:16].replace("T", " ")


MEMORY = "memory.id content=memory.excerpt memory.type"
"""What every answer says of a memory that it shows."""

SUPERSEDED_BY = "memory.superseded_by?"
"""In every answer that shows a memory: the id of the memory that superseded it."""

ORIGIN = field("origin?=memory.origin", trust.outside)
"""In every list that shows texts: where that comes from which waits to be confirmed."""

UNSAID = "Not said unasked until the user confirms it: `memory-server review`."
"""The note for what was written just now and is from outside."""


def unsaid(origin: str) -> str | None:
    """Say what follows from the origin of what was written; None where nothing does."""
    return UNSAID if trust.waits(origin) else None


def degraded(problems: Problem | Sequence[Problem]) -> str | None:
    """Say why an answer is not complete; None where it is."""
    return told([problems] if isinstance(problems, Problem) else problems, WORDS)


DEGRADED = field("degraded?", degraded)


@dataclass(frozen=True, slots=True)
class Deletion:
    """The result of a call that deletes or restores. Each tool adds what it restores."""

    forgotten: Forgotten = Forgotten(0, None)  # noqa: RUF009 - it is frozen


def _is_deleted(deletion: Deletion) -> bool:
    return bool(deletion.forgotten.number)


def _is_purged(deletion: Deletion) -> bool | None:
    forgotten = deletion.forgotten
    return True if forgotten.number and forgotten.undo_until is None else None


def _note(deletion: Deletion) -> str | None:
    return NOT_ERASED if deletion.forgotten.refused else also_in(deletion.forgotten)


DELETION = (
    made("deleted", _is_deleted),
    field("forgotten.undo_until?"),
    made("purged?", _is_purged),
    made("note?", _note),
)
"""`undo_until`: it can be restored until then; `purged`: it was erased for good; `note`: why not, or not everywhere."""

NOT_ERASED = (
    "Deleted, not erased: somebody else wrote it, or a part of it. Only its sole writer and the owner of the memory can "
    "erase it. Tell the user."
)
"""The note for what was to be erased and is not the person's alone."""


def also_in(forgotten: Forgotten) -> str | None:
    """The note for what was erased and may be in other files still."""
    if not forgotten.elsewhere:
        return None
    return f"These files may still hold it: {', '.join(forgotten.elsewhere)}. Tell the user, who can delete them."


def cost(answer: dict[str, Any]) -> float:
    """The estimated tokens of an answer as JSON."""
    return weigh(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def refuse_both(**flags: bool) -> None:
    """Raises Invalid where two flags are set that exclude each other."""
    names = [name for name, is_set in flags.items() if is_set]
    if len(names) > 1:
        raise Invalid(f"Give either `{'` or `'.join(names)}`, not both. Nothing was changed.")


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and the number of characters left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def cut(text: str, limit: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def elsewhere(conversations: Sequence[tuple[str, int]]) -> str | None:
    """The note for a conversation without memories: which conversations have some, and how many."""
    if not conversations:
        return None
    named = ", ".join(f"`{name}` ({number:,})" for name, number in conversations)
    return f"This conversation has none. These have some: {named}."
