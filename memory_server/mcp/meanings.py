"""Guesses the meaning of wrong names and values: tools, parameters of other tools, values of closed sets.

A tool that deletes or replaces is only suggested, never run under another name: a client asks its user by the name of
the tool.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from memory_server.language.nearest import meant
from memory_server.language.text import by_word
from memory_server.mcp.forgiving.names import fold
from memory_server.mcp.forgiving.values import choice_of

FIND = ("recall", "memory_search")
"""The tools that find something, the best first. Only a tool that is listed is suggested."""

_Tools = tuple[str, ...]

VERBS: Mapping[str, str] = by_word(
    {
        "store": "store save add create new remember memorize record write note put insert keep log set register",
        "find": "find search lookup query recall retrieve ask look check",
        "get": "get read fetch open load show view",
        "list": "list all browse",
        "update": "update edit modify change replace rewrite patch",
        "delete": "delete forget remove erase drop clear purge",
    }
)
"""Words of a tool's name that name the action."""

NOUNS: Mapping[str, str] = by_word(
    {
        "fact": "fact facts key keys kv setting settings variable",
        "edge": "edge edges relation relations relationship relationships",
        "turn": "turn turns conversation conversations message messages chat history",
        "trigger": "trigger triggers prompt prompts longterm",
        "reminder": "reminder reminders alarm",
        "short": "shortterm",
    }
)
"""Words of a tool's name that name the object of the action; without one it is memories."""

TOOLS: Mapping[str, _Tools] = by_word(
    {
        ("memory_store",): "store:memory",
        ("memory_get",): "get:memory",
        ("memory_search",): "list:memory",
        ("memory_update",): "update:memory",
        ("memory_delete",): "delete:memory",
        FIND: "find:memory",
        ("write_memory",): "store:fact update:fact",
        ("read_memory",): "get:fact",
        ("list_memories",): "list:fact",
        ("delete_memory",): "delete:fact",
        (*FIND[:1], "read_memory"): "find:fact",
        ("graph_connect",): "store:edge update:edge delete:edge",
        ("graph_explore",): "find:edge get:edge list:edge",
        ("register_memory",): "store:turn",
        ("retrieve_memories",): "get:turn list:turn",
        ("delete_turn",): "delete:turn",
        (*FIND[:1], "retrieve_memories"): "find:turn",
        ("add_long_term_memory",): "store:trigger",
        ("search_long_term_memories",): "find:trigger",
        ("get_memory_context",): "get:trigger get:reminder",
        ("list_long_term_memories",): "list:trigger list:reminder find:reminder",
        ("update_long_term_memory",): "update:trigger",
        ("delete_long_term_memory",): "delete:trigger delete:reminder",
        ("remind",): "store:reminder update:reminder",
        ("add_short_term_memory",): "store:short",
        ("search_short_term_memories",): "find:short get:short",
        ("get_memory_stats",): "list:short",
        ("delete_short_term_memories",): "delete:short",
    }
)
"""The tools for an action and its object."""

OWN_WORDS: Mapping[str, _Tools] = by_word(
    {
        ("memory_related",): "related similar neighbours neighbors",
        ("smart_resume",): "resume briefing session context bootstrap",
        ("memory_stats",): "stats status statistics health",
        ("remind",): "remind",
        ("graph_connect",): "link connect relate",
        ("graph_explore",): "graph explore traverse walk",
    }
)
"""Words that name a tool alone."""

CHINESE: Mapping[str, _Tools] = by_word(
    {
        ("memory_store",): "记住 记下 保存 存储 添加",
        FIND: "搜索 查找 查询 检索 回忆",
        ("memory_delete",): "忘 删除",
        ("memory_update",): "更新 修改",
    }
)

ELSEWHERE: Mapping[str, Mapping[str, _Tools]] = {
    "memory_delete": {"key": ("delete_memory",), "query": FIND, "name": ("delete_long_term_memory",)},
    "memory_get": {"key": ("read_memory",), "query": FIND},
    "memory_related": {"query": FIND, "text": FIND},
    "memory_stats": {"conversation_id": ("get_memory_stats",)},
    "memory_update": {"key": ("write_memory",)},
    "read_memory": {"id": ("memory_get",), "ids": ("memory_get",), "query": (*FIND[:1], "retrieve_memories")},
    "list_memories": {"type": FIND[1:], "query": FIND},
    "delete_memory": {
        "pattern": ("list_memories",),
        "id": ("memory_delete",),
        "ids": ("memory_delete",),
        "name": (),
    },
    "delete_turn": {"memory_id": ("memory_delete",)},
    "smart_resume": {"query": FIND, "question": FIND},
    "retrieve_memories": {"type": FIND[1:], "tags": FIND[1:]},
    "get_memory_stats": {"project": ("memory_stats",)},
}
"""Arguments that a tool has not, and the tools that have them."""

_NO_WORDS = frozenset(
    {"mcp", "memory", "memories", "server", "entity", "entities", "node", "nodes", "observations"}
)
TRIALS = frozenset({"dryrun", "preview", "simulate", "trial", "testonly", "noop", "whatif"})
"""Arguments that ask to see only what would happen."""

_OF_MEMORY = _NO_WORDS | frozenset(
    "note notes knowledge info information statement observation item items to the a my all new by id in from start "
    "begin me project".split()
)
"""Words of a tool's name that say no more than that it is about memories."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PREFIX = re.compile(r"^(?:.*(?:__|[.:/])|mcp_[a-z0-9]+_(?=[a-z]+_))")
"""What a client puts before the name of a tool."""


def tool_for(name: str, listed: Collection[str]) -> str | None:
    """The listed tool that a wrong name probably means: by its letters, by its words, then by its spelling."""
    same = [tool for tool in listed if is_spelled(name, tool)]
    if same:
        return same[0]
    tools = _by_words(name)
    return first(tools, listed) if tools else meant(_PREFIX.sub("", name), list(listed))


def meant_tool(name: str, listed: Collection[str]) -> str | None:
    """The listed tool that a wrong name means without doubt: by the same words, or by a known verb and noun."""
    words = _words(name)
    same = [tool for tool in listed if _singular(tool) == _singular(name)]
    if not words:
        return tool_for(name, listed) if any(word in name for word in CHINESE) else None
    if same:
        return same[0] if len(same) == 1 else None
    vocabulary = {*VERBS, *NOUNS, *OWN_WORDS, *_OF_MEMORY}
    return tool_for(name, listed) if vocabulary.issuperset(words) else None


def is_spelled(name: str, tool: str) -> bool:
    """True if a name is a tool's but for case, marks and a prefix."""
    return fold(tool) in (fold(name), fold(_PREFIX.sub("", name)))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_PREFIX.sub("", name))]


def _singular(name: str) -> list[str]:
    """The words of a name in order of the alphabet, each memory as one."""
    return sorted(word.replace("memories", "memory") for word in _words(name))


def first(tools: Sequence[str], listed: Collection[str]) -> str | None:
    """The first of these tools that is listed."""
    return next((tool for tool in tools if tool in listed), None)


def finding(tool: str, listed: Collection[str]) -> str | None:
    """The listed tool that finds the ids which a tool takes."""
    return first(("retrieve_memories",) if tool == "delete_turn" else FIND, listed)


def elsewhere(tool: str, arguments: Collection[str], listed: Collection[str]) -> str | None:
    """The listed tool that takes an argument which this one does not know."""
    tools_by_name = {fold(name): tools for name, tools in ELSEWHERE.get(tool, {}).items()}
    tools_found = (first(tools_by_name.get(fold(argument), ()), listed) for argument in arguments)
    return next((tool for tool in tools_found if tool), None)


def value_for(parameter: str, value: object, values: Sequence[str]) -> str | None:
    """The value of a closed set that a wrong one probably means, by its meaning or by its spelling."""
    if not isinstance(value, str):
        return None
    return choice_of(parameter, value, values) or meant(value, values)


def _by_words(name: str) -> Sequence[str]:
    for word, tools in CHINESE.items():
        if word in name:
            return tools
    words = [word for word in _words(name) if word not in _NO_WORDS]
    for word in words:
        if word in OWN_WORDS:
            return OWN_WORDS[word]
    verb = next((VERBS[word] for word in words if word in VERBS), None)
    noun = next((NOUNS[word] for word in words if word in NOUNS), None)
    return TOOLS.get(f"{verb or 'find'}:{noun or 'memory'}", ()) if verb or noun else ()
