"""The names of arguments: which parameter a written name means."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memory_server.mcp.forgiving.words import NAMES as FOREIGN

NEAR: Mapping[str, str] = {
    "at": "as_of date time when",
    "content": "text memory value note body info information statement message data",
    "cooldown": "pause min_interval cooldown_minutes",
    "conversation_id": "conversation conversation_name conv_id chat_id thread thread_id",
    "createdContext": "context",
    "depth": "max_depth hops levels",
    "direction": "dir",
    "dry_run": "preview simulate",
    "facts": "key_values data values",
    "expectedVersion": "if_version",
    "explain": "why debug show_scores with_scores",
    "history": "include_history show_history with_history versions",
    "id": "memory_id ids",
    "ids": "id memory_ids memory_id",
    "importance": "priority weight importance_score",
    "includeGraph": "graph edges include_edges with_graph",
    "includeSemantic": "semantic include_similar with_semantic",
    "include_context": "include context parts sections",
    "key": "name keys",
    "kinds": "kind types sources stores",
    "limit": "top_k top_n top k n count max max_results n_results num_results page_size size results number "
    "number_of_results how_many max_items max_count take amount",
    "memoryId": "id memory node node_id start_id start_node ids start from of ref root",
    "message": "text content turn body user_message",
    "messages": "recent_messages message history chat_history conversation_history chat",
    "metadata": "meta attributes",
    "minImportance": "minimum_importance importance_min min_priority importance",
    "mode": "search_mode method search_type",
    "name": "title id key label",
    "occurred_at": "date time timestamp happened_at event_date event_time when at on day datetime occurred "
    "happened",
    "offset": "skip",
    "order": "sort sort_by order_by ordering sort_order",
    "pattern": "glob",
    "project": "project_name project_id workspace repo repository",
    "project_path": "path cwd directory folder project project_name workspace repo",
    "prompt": "text content value instruction instructions reminder body",
    "query": "q text search search_query search_text search_term question prompt keyword keywords phrase "
    "terms search_for find ask term content input queries questions",
    "recentMessages": "messages message history chat_history conversation_history chat",
    "relatedTo": "related related_id related_memory related_memory_id",
    "relation": "relations relation_type relationship relationship_type edge_type predicate type kind edge "
    "link_type label",
    "roleWeights": "weights",
    "session": "session_id",
    "scope": "level visibility",
    "session_id": "session",
    "similar": "include_similar semantic with_similar",
    "since": "after created_after from start start_date date_from from_date newer_than start_time begin",
    "sleeps": "should_not_wake should_sleep negative negatives not",
    "sourceId": "source from from_id subject source_memory source_memory_id",
    "strength": "weight confidence",
    "summary": "gist abstract tldr title short brief headline",
    "supersedes": "replaces supersede replace overrides replaced replacing updates obsoletes",
    "tags": "tag label labels topics categories",
    "summarizes": "summarises summary_of",
    "targetId": "target to to_id object target_memory target_memory_id",
    "trigger": "condition code js javascript expression script trigger_condition",
    "ttl": "ttl_seconds expires_in expires_in_seconds duration lifetime time_to_live valid_for keep_for "
    "expire_after expires_after",
    "type": "types kind kinds category class",
    "max_tokens": "token_budget token_limit budget tokens",
    "undo": "restore undelete",
    "until": "before created_before to end end_date date_to to_date older_than end_time",
    "updatedContext": "context",
    "wakes": "should_wake positive positives matches examples",
    "when": "at time date due on due_date due_at remind_at topic schedule datetime day remind_on deadline",
    "value": "content text data val fact",
}
"""Other names of a parameter that mean only this one. `purge` has none: what erases for good is never guessed."""

NEAR_IN_A_TOOL: Mapping[str, Mapping[str, str]] = {
    "remind": {"text": "content what message prompt reminder task note about title body subject todo"},
    "memory_store": {"tags": "tag label labels topics categories keywords"},
    "search_long_term_memories": {"messages": f"{NEAR['messages']} text query question content"},
    "search_short_term_memories": {"recentMessages": f"{NEAR['recentMessages']} text query question content"},
    "add_short_term_memory": {"messages": f"{NEAR['messages']} text content turns"},
    "test_trigger": {"messages": f"{NEAR['messages']} text"},
    "forget": {
        "refs": "ref id ids handle handles memory_id memory_ids memory memories",
        "what": "query text words content description",
    },
    "delete_turn": {"id": "turn_id turn ids"},
    "delete_short_term_memories": {"pattern": "text query keyword keywords words regex"},
}
"""The same where a tool has names of its own."""

SUGGESTED: Mapping[str, str] = {
    "content": "updates fields changes",
    "conversation_id": "session_id session",
    "expectedVersion": "version",
    "key": "pattern",
    "offset": "page",
    "purge": "permanent permanently hard hard_delete",
    "trigger": "pattern",
    "ttl": "expires_at expiry expires",
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


LOOKS = frozenset(
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
    return _folded(NEAR_IN_A_TOOL.get(tool, {}).get(parameter, NEAR.get(parameter, "")))


def _folded(names: str) -> set[str]:
    return set(map(fold, names.split()))


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
    return next((name for name in parameters if folded in _folded(SUGGESTED.get(name, ""))), None)


def is_idle(written: str, value: Any, *, reads: bool, needs_none: bool) -> bool:
    """True if an unknown argument asks for nothing."""
    folded = fold(written)
    return (
        value is None
        or folded in LABELS
        or (reads and folded in REMARKS | LOOKS)
        or (needs_none and folded in DUMMIES)
        or (value in (False, "false") and folded in _folded(SUGGESTED["purge"]))
    )
