"""The names of arguments: which parameter a written name means."""

from collections.abc import Iterable, Mapping
from typing import Any

NEAR: Mapping[str, tuple[str, ...]] = {
    "at": ("as of", "date", "time"),
    "content": ("text", "memory", "value", "note", "body", "new content", "new text", "info", "information"),
    "conversation_id": ("conversation", "conversation name", "conv id", "chat id", "thread", "thread id"),
    "createdContext": ("context",),
    "depth": ("max depth", "hops", "levels"),
    "direction": ("dir",),
    "dry_run": ("preview", "simulate"),
    "expectedVersion": ("if version",),
    "history": ("include history", "show history"),
    "id": ("memory id", "ids"),
    "ids": ("id", "memory ids", "memory id"),
    "importance": ("priority",),
    "key": ("name", "key name", "fact key", "memory key"),
    "kinds": ("kind",),
    "limit": ("top k", "k", "n", "count", "max", "max results", "n results", "num results", "page size", "size"),
    "memoryId": ("id", "memory", "node", "node id", "start id", "ids"),
    "message": ("text", "content"),
    "messages": ("recent messages", "message", "history", "chat history", "conversation history"),
    "metadata": ("meta", "attributes"),
    "minImportance": ("minimum importance", "importance min", "min priority"),
    "mode": ("search mode",),
    "name": ("title", "id", "memory name"),
    "occurred_at": ("date", "time", "timestamp", "happened at", "event date"),
    "offset": ("skip",),
    "pattern": ("glob", "key pattern"),
    "project": ("project name", "project id", "workspace", "repo", "repository"),
    "project_path": ("path", "cwd", "directory", "folder", "project", "project name", "workspace", "repo"),
    "prompt": ("text", "content", "value", "instruction", "instructions", "reminder"),
    "query": ("q", "text", "search", "search query", "search text", "search term", "question", "prompt", "keyword",
              "keywords", "phrase"),
    "recentMessages": ("messages", "message", "history", "chat history", "conversation history"),
    "relatedTo": ("related", "related id", "related memory", "related memory id"),
    "relation": ("relations", "relation type", "relationship", "relationship type", "edge type", "predicate"),
    "roleWeights": ("weights",),
    "session": ("session id",),
    "session_id": ("session",),
    "since": ("after", "created after", "from", "start", "start date", "date from", "from date"),
    "sourceId": ("source", "from", "from id", "source memory", "source memory id"),
    "strength": ("weight",),
    "supersedes": ("replaces", "supersede", "replace", "overrides"),
    "tags": ("tag", "label", "labels"),
    "summarizes": ("summarises", "summary of"),
    "targetId": ("target", "to", "to id", "target memory", "target memory id"),
    "trigger": ("condition", "code", "js", "javascript", "expression", "script", "trigger condition"),
    "ttl": ("ttl seconds", "expires in", "expires in seconds"),
    "type": ("types", "kind", "category", "memory type"),
    "max_tokens": ("token budget", "token limit", "budget", "tokens"),
    "undo": ("restore", "undelete"),
    "until": ("before", "created before", "to", "end", "end date", "date to", "to date"),
    "updatedContext": ("context",),
    "when": ("at", "time", "date", "due", "on", "due date", "remind at", "topic", "schedule"),
    "value": ("content", "text", "data", "val"),
}  # fmt: skip
"""Other names of a parameter that mean only this one. `purge` has none: what erases for good is never guessed."""

NEAR_IN_A_TOOL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "remind": {
        "text": ("content", "what", "message", "prompt", "reminder", "task", "note", "about", "title")
    },
    "forget": {
        "refs": ("ref", "id", "ids", "handle", "handles", "memory id", "memory ids"),
        "what": ("query", "text", "words", "content"),
    },
    "delete_turn": {"id": ("turn id", "turn", "ids")},
    "delete_short_term_memories": {"pattern": ("text", "query", "keyword", "keywords", "words", "regex")},
}
"""The same where a tool has names of its own."""

SUGGESTED: Mapping[str, tuple[str, ...]] = {
    "content": ("updates", "fields", "changes"),
    "conversation_id": ("session id", "session"),
    "expectedVersion": ("version",),
    "key": ("keys", "pattern"),
    "messages": ("query", "text"),
    "minImportance": ("importance",),
    "offset": ("page",),
    "pattern": ("prefix",),
    "purge": ("permanent", "permanently", "hard", "hard delete"),
    "query": ("queries",),
    "recentMessages": ("query", "text"),
    "since": ("time range", "date range"),
    "tags": ("keywords",),
    "trigger": ("keywords", "keys", "pattern"),
    "ttl": ("expires at", "expiry", "expires"),
}
"""Names that are refused, because they mean something else or could erase, and the parameter that may help."""

ENVELOPES = frozenset({"arguments", "args", "params", "parameters", "input", "kwargs"})
"""Names under which some clients send all arguments in one object."""

DUMMIES = frozenset({"randomstring", "dummy"})
"""What some editors send to a tool that needs no argument."""

LABELS = frozenset({"toolcallid"})
"""What some workflow programs add to each call."""

REMARKS = frozenset({"explanation", "reasoning", "thought"})
"""What some models add for their user. A tool that only reads loses nothing with them."""


def fold(name: str) -> str:
    """A name without case and without marks: `related_to` and `relatedTo` are the same."""
    return "".join(character for character in name.casefold() if character.isalnum())


def near(tool: str, parameter: str) -> set[str]:
    """The other names of a parameter, folded."""
    names = NEAR_IN_A_TOOL.get(tool, {}).get(parameter, NEAR.get(parameter, ()))
    return set(map(fold, names))


def parameter(tool: str, written: str, parameters: Iterable[str]) -> str | None:
    """The parameter of a tool that a written name means; None where it means none, or more than one."""
    folded = fold(written)
    same = [name for name in parameters if fold(name) == folded]
    if not same:
        same = [name for name in parameters if folded in near(tool, name)]
    return same[0] if len(same) == 1 else None


def suggested(written: str, parameters: Iterable[str]) -> str | None:
    """The parameter that may help instead of an unknown one, by meaning."""
    folded = fold(written)
    return next((name for name in parameters if folded in set(map(fold, SUGGESTED.get(name, ())))), None)


def is_idle(written: str, value: Any, *, reads: bool, needs_none: bool) -> bool:
    """True if an unknown argument asks for nothing."""
    folded = fold(written)
    return (
        value is None
        or folded in LABELS
        or (reads and folded in REMARKS)
        or (needs_none and folded in DUMMIES)
    )
