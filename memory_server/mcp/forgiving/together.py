"""Reads arguments that mean something only together: a relation the other way round, a query left out."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from memory_server.language.nearest import meant
from memory_server.language.telling import telling
from memory_server.language.text import by_word
from memory_server.language.type_words import type_of
from memory_server.mcp.forgiving.names import fold
from memory_server.mcp.forgiving.values import choice_of

REVERSED: Mapping[str, str] = by_word(
    {
        "causes": "causedby",
        "solves": "solvedby fixedby resolvedby",
        "supersedes": "supersededby replacedby",
        "extends": "extendedby",
        "depends_on": "requiredby neededby usedby",
        "example_of": "hasexample",
        "summarizes": "summarizedby",
    }
)
"""Relations that are edges in the other direction."""

MUTUAL = frozenset({"related_to", "contradicts"})
"""Relations that say the same in both directions."""

_PAIRS = frozenset({"ids", "memoryids", "memories", "nodes"})
DETAILS = frozenset(
    "source url link author confidence reason origin file speaker title user userid agent agentid location person "
    "reference".split()
)
"""Arguments that say more about a memory: they are kept as its metadata."""

SUMMARY = 300
"""Characters of a message that stand for its summary."""

_BETWEEN = re.compile(r"[\s/:>|,;]+")
_KEY = re.compile(r"[\w.-]{1,200}")

_TAG = re.compile(r"\w[\w .&'/:>-]{0,49}")


def arrange(
    properties: Mapping[str, Any],
    required: Collection[str],
    arguments: dict[str, Any],
    unknown: dict[str, Any],
    notes: list[str],
) -> None:
    """Read what several arguments say together; what is read leaves `unknown`."""
    _relation(properties, arguments, notes)
    _pair(properties, arguments, unknown, notes)
    _details(properties, arguments, unknown, notes)
    if unknown:
        _key(required, arguments, unknown, notes)
    else:
        _query(properties, arguments, notes)
        _summary(required, arguments, notes)
        _type(properties, required, arguments, notes)


def _relation(properties: Mapping[str, Any], arguments: dict[str, Any], notes: list[str]) -> None:
    written = arguments.get("relation")
    relation = REVERSED.get(fold(written)) if isinstance(written, str) else None
    if relation is None:
        return
    if {"sourceId", "targetId"} <= arguments.keys():
        arguments["sourceId"], arguments["targetId"] = arguments["targetId"], arguments["sourceId"]
        arguments["relation"] = relation
        notes.append(f"relation: `{written}` was read as `{relation}` from the target to the source.")
    elif "direction" in properties and "direction" not in arguments:
        arguments |= {"relation": relation, "direction": "in"}
        notes.append(f"relation: `{written}` was read as `{relation}`, direction `in`.")


def _pair(
    properties: Mapping[str, Any], arguments: dict[str, Any], unknown: dict[str, Any], notes: list[str]
) -> None:
    """Read two ids as the ends of an edge whose direction says nothing."""
    written = next((name for name in unknown if fold(name) in _PAIRS), None)
    ids = unknown.get(written or "")
    relation = arguments.get("relation")
    is_mutual = isinstance(relation, str) and relation in MUTUAL
    if "targetId" not in properties or not is_mutual or not isinstance(ids, list):
        return
    if len(ids) == 2 and not {"sourceId", "targetId"} & arguments.keys():
        arguments["sourceId"], arguments["targetId"] = ids
        notes.append(f"`{written}` was read as `sourceId` and `targetId`.")
        del unknown[written or ""]


def _details(
    properties: Mapping[str, Any], arguments: dict[str, Any], unknown: dict[str, Any], notes: list[str]
) -> None:
    """Keep what is said about a memory as its metadata."""
    if not {"metadata", "type"} <= properties.keys() or not isinstance(arguments.get("metadata", {}), dict):
        return
    for name in [name for name in unknown if fold(name) in DETAILS]:
        arguments["metadata"] = {**arguments.get("metadata", {}), name: unknown.pop(name)}
        notes.append(f"`{name}` was stored in `metadata`.")


def _key(
    required: Collection[str], arguments: dict[str, Any], unknown: dict[str, Any], notes: list[str]
) -> None:
    """Read the only argument of another name as a key with its value."""
    if {"key", "value"} <= set(required) and not {"key", "value"} & arguments.keys() and len(unknown) == 1:
        ((key, value),) = unknown.items()
        if isinstance(value, dict):
            if len(value) != 1:
                return
            ((key, value),) = value.items()
        if _KEY.fullmatch(key):
            arguments |= {"key": key, "value": value}
            unknown.clear()
            notes.append(f"`{key}` was read as the key.")


def _query(properties: Mapping[str, Any], arguments: dict[str, Any], notes: list[str]) -> None:
    """Read a query that is left out as the last message, or beside filters as the empty one."""
    may_be_left_out = properties.get("query", {}).get("x-read") == "newest"
    if not may_be_left_out or arguments.get("query") or not arguments.keys() - {"query"}:
        return
    messages = arguments.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if isinstance(last, dict) and isinstance(last.get("content"), str) and last["content"].strip():
        arguments["query"] = last["content"][: properties["query"]["x-cut"]]
        notes.append("query: the last message was used.")
    elif "query" not in arguments:
        arguments["query"] = ""
        notes.append("query: left out, so the newest are listed.")


def _summary(required: Collection[str], arguments: dict[str, Any], notes: list[str]) -> None:
    """Use the message where its summary is left out: what tells most of it."""
    message = arguments.get("message")
    if (
        "summary" in required
        and not arguments.get("summary")
        and isinstance(message, str)
        and message.strip()
    ):
        arguments["summary"] = telling(message, SUMMARY)
        notes.append("summary: left out, the message was used.")


def _type(
    properties: Mapping[str, Any], required: Collection[str], arguments: dict[str, Any], notes: list[str]
) -> None:
    """Read the type that is left out from the words; one that is none as a tag."""
    values, content = properties.get("type", {}).get("enum", ()), arguments.get("content")
    if "type" not in required or not values or not isinstance(content, str) or not content.strip():
        return
    written = arguments.get("type", "")
    if not isinstance(written, str) or written in values:
        return
    if not written.strip():
        arguments["type"] = type_of(content)
        notes.append(f"type: left out, read as `{arguments['type']}`.")
        return
    words = [word for word in _BETWEEN.split(written.strip()) if word]
    types = {word: choice_of("type", word, values) for word in words}
    named = [type for type in types.values() if type]
    if len(named) > 1 or (not named and meant(written, values)) or not _TAG.fullmatch(written.strip()):
        return
    tags = [word for word in words if not types[word]] if named else [written.strip()]
    if not isinstance(arguments.get("tags", []), list):
        return
    arguments["type"] = named[0] if named else type_of(content)
    arguments["tags"] = [
        *arguments.get("tags", []),
        *(tag for tag in tags if tag not in arguments.get("tags", [])),
    ]
    notes.append(f"type: `{written}` was read as `{arguments['type']}`, with the tag `{', '.join(tags)}`.")
