"""The names of arguments: which parameter a written name means."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memory_server.mcp.forgiving.words import NAMES as FOREIGN

NEAR: Mapping[str, tuple[str, ...]] = {
    "at": ("as of", "date", "time", "when"),
    "content": ("text", "memory", "value", "note", "body", "info", "information", "statement", "message", "data"),
    "cooldown": ("pause", "min interval", "cooldown minutes"),
    "conversation_id": ("conversation", "conversation name", "conv id", "chat id", "thread", "thread id"),
    "createdContext": ("context",),
    "depth": ("max depth", "hops", "levels"),
    "direction": ("dir",),
    "dry_run": ("preview", "simulate"),
    "facts": ("key values", "data", "values"),
    "expectedVersion": ("if version",),
    "explain": ("why", "debug", "show scores", "with scores"),
    "history": ("include history", "show history", "with history", "versions"),
    "id": ("memory id", "ids"),
    "ids": ("id", "memory ids", "memory id"),
    "importance": ("priority", "weight", "importance score"),
    "includeGraph": ("graph", "edges", "include edges", "with graph"),
    "includeSemantic": ("semantic", "include similar", "with semantic"),
    "include_context": ("include", "context", "parts", "sections"),
    "key": ("name", "keys"),
    "kinds": ("kind", "types", "sources", "stores"),
    "limit": ("top k", "top n", "top", "k", "n", "count", "max", "max results", "n results", "num results", "page size",
              "size", "results", "number", "number of results", "how many", "max items", "max count", "take", "amount"),
    "memoryId": ("id", "memory", "node", "node id", "start id", "start node", "ids", "start", "from", "of",
                 "ref", "root"),
    "message": ("text", "content", "turn", "body", "user message"),
    "messages": ("recent messages", "message", "history", "chat history", "conversation history", "chat"),
    "metadata": ("meta", "attributes"),
    "minImportance": ("minimum importance", "importance min", "min priority", "importance"),
    "mode": ("search mode", "method", "search type"),
    "name": ("title", "id", "key", "label"),
    "occurred_at": ("date", "time", "timestamp", "happened at", "event date", "event time", "when", "at", "on", "day",
                    "datetime", "occurred", "happened"),
    "offset": ("skip",),
    "order": ("sort", "sort by", "order by", "ordering", "sort order"),
    "pattern": ("glob",),
    "project": ("project name", "project id", "workspace", "repo", "repository"),
    "project_path": ("path", "cwd", "directory", "folder", "project", "project name", "workspace", "repo"),
    "prompt": ("text", "content", "value", "instruction", "instructions", "reminder", "body"),
    "query": ("q", "text", "search", "search query", "search text", "search term", "question", "prompt", "keyword",
              "keywords", "phrase", "terms", "search for", "find", "ask", "term", "content", "input",
              "queries", "questions"),
    "recentMessages": ("messages", "message", "history", "chat history", "conversation history",
                       "chat"),
    "relatedTo": ("related", "related id", "related memory", "related memory id"),
    "relation": ("relations", "relation type", "relationship", "relationship type", "edge type", "predicate", "type",
                 "kind", "edge", "link type", "label"),
    "roleWeights": ("weights",),
    "session": ("session id",),
    "scope": ("level", "visibility"),
    "session_id": ("session",),
    "similar": ("include similar", "semantic", "with similar"),
    "since": ("after", "created after", "from", "start", "start date", "date from", "from date", "newer than",
              "start time", "begin"),
    "sleeps": ("should not wake", "should sleep", "negative", "negatives", "not"),
    "sourceId": ("source", "from", "from id", "subject", "source memory", "source memory id"),
    "strength": ("weight", "confidence"),
    "summary": ("gist", "abstract", "tldr", "title", "short", "brief", "headline"),
    "supersedes": ("replaces", "supersede", "replace", "overrides", "replaced", "replacing", "updates", "obsoletes"),
    "tags": ("tag", "label", "labels", "topics", "categories"),
    "summarizes": ("summarises", "summary of"),
    "targetId": ("target", "to", "to id", "object", "target memory", "target memory id"),
    "trigger": ("condition", "code", "js", "javascript", "expression", "script", "trigger condition"),
    "ttl": ("ttl seconds", "expires in", "expires in seconds", "duration", "lifetime", "time to live", "valid for",
            "keep for", "expire after", "expires after"),
    "type": ("types", "kind", "kinds", "category", "class"),
    "max_tokens": ("token budget", "token limit", "budget", "tokens"),
    "undo": ("restore", "undelete"),
    "until": ("before", "created before", "to", "end", "end date", "date to", "to date", "older than", "end time"),
    "updatedContext": ("context",),
    "wakes": ("should wake", "positive", "positives", "matches", "examples"),
    "when": ("at", "time", "date", "due", "on", "due date", "due at", "remind at", "topic", "schedule", "datetime",
             "day", "remind on", "deadline"),
    "value": ("content", "text", "data", "val", "fact"),
}  # fmt: skip
"""Other names of a parameter that mean only this one. `purge` has none: what erases for good is never guessed."""

NEAR_IN_A_TOOL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "remind": {
        "text": (
            "content",
            "what",
            "message",
            "prompt",
            "reminder",
            "task",
            "note",
            "about",
            "title",
            "body",
            "subject",
            "todo",
        )
    },
    "memory_store": {"tags": ("tag", "label", "labels", "topics", "categories", "keywords")},
    "search_long_term_memories": {"messages": (*NEAR["messages"], "text", "query", "question", "content")},
    "search_short_term_memories": {
        "recentMessages": (*NEAR["recentMessages"], "text", "query", "question", "content")
    },
    "add_short_term_memory": {"messages": (*NEAR["messages"], "text", "content", "turns")},
    "test_trigger": {"messages": (*NEAR["messages"], "text")},
    "forget": {
        "refs": ("ref", "id", "ids", "handle", "handles", "memory id", "memory ids", "memory", "memories"),
        "what": ("query", "text", "words", "content", "description"),
    },
    "delete_turn": {"id": ("turn id", "turn", "ids")},
    "delete_short_term_memories": {"pattern": ("text", "query", "keyword", "keywords", "words", "regex")},
}
"""The same where a tool has names of its own."""

SUGGESTED: Mapping[str, tuple[str, ...]] = {
    "content": ("updates", "fields", "changes"),
    "conversation_id": ("session id", "session"),
    "expectedVersion": ("version",),
    "key": ("pattern",),
    "offset": ("page",),
    "purge": ("permanent", "permanently", "hard", "hard delete"),
    "trigger": ("pattern",),
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


SHAPES = frozenset(
    "sort sortby sortorder order orderby ordering direction format outputformat responseformat verbose pretty limit "
    "topk k n count max maxresults numresults pagesize size threshold minscore scorethreshold similaritythreshold "
    "includescores includemetadata language lang rerank stream timeout".split()
)
"""What says how an answer shall look, not what shall be in it. A tool that only reads loses little with it."""

NOISE = frozenset(
    "a an the my new memory memories fact facts arg argument param parameter field input string str text name names "
    "value values list item items".split()
)
"""Words of a name that say nothing: `new_content`, `memory_tags`, `query_text` and `tag_list` are content, tags, query
and tags."""

EXACT = frozenset({"purge"})
"""Parameters that are found by their own name alone."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


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
    names = list(parameters)
    for forms in ({folded}, {fold(FOREIGN.get(folded, ""))}, _without_noise(written)):
        forms = forms - {""}
        same = [name for name in names if fold(name) in forms]
        if not same:
            same = [name for name in names if forms & near(tool, name)]
        if same:
            return same[0] if len(same) == 1 and (same[0] not in EXACT or fold(same[0]) == folded) else None
    return None


def _without_noise(written: str) -> set[str]:
    """Return the name without the words that say nothing. An id is left out: of which kind it is matters."""
    words = [word.lower() for word in _WORD.findall(written)]
    name = "".join(word for word in words if word not in NOISE) or "".join(words[-1:])
    is_rename = "new" in words and name in ("name", "key")
    return set() if is_rename or name in ("", "id", "ids") else {name}


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
        or (reads and folded in REMARKS | SHAPES)
        or (needs_none and folded in DUMMIES)
        or (value in (False, "false") and folded in map(fold, SUGGESTED["purge"]))
    )
