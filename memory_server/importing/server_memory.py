"""The knowledge graph of @modelcontextprotocol/server-memory: JSONL with entities, their observations, and relations.

Each observation is a memory, `NAME: OBSERVATION`. An entity that has a relation, or no observation, is one too, and its
observations extend it. A relation is an edge and, because edges have few names, a memory with its words. Nothing has
a date.
"""

import json
from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record, Refusal
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, hashed, memory_type, relation

NAME = "server-memory"


def fits(opened: Opened) -> bool:
    first = opened.first
    return (first.get("type") == "entity" and "name" in first) or (
        first.get("type") == "relation" and "from" in first
    )


def records(opened: Opened) -> Iterator[Record]:
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for number, line in enumerate(opened.lines, 1):
        if line.strip():
            item = _item(line)
            if item is None:
                yield Refusal(f"line {number}", "is neither an entity nor a relation")
            else:
                (entities if item["type"] == "entity" else relations).append(item)
    names = {entity["name"] for entity in entities}
    joined = {end for item in relations for end in (item["from"], item["to"])}
    edges: list[EdgeRecord] = []
    for entity in entities:
        name, kind = str(entity["name"]), str(entity.get("entityType") or "")
        observations = [str(text) for text in entity.get("observations") or []]
        if name in joined or not observations:
            yield _memory(opened, _entity(name), f"{name} ({kind})" if kind else name, name, kind)
        for text in observations:
            id = hashed(name, text)
            yield _memory(opened, id, f"{name}: {text}", name, kind)
            if name in joined:
                edges.append(EdgeRecord(id, _entity(name), "extends"))
    for item in relations:
        source, target, verb = str(item["from"]), str(item["to"]), str(item.get("relationType") or "")
        if not {source, target} <= names:
            missing = source if source not in names else target
            yield Refusal(
                f"relation {source} {verb} {target}", f"there is no entity {missing}", elsewhere=True
            )
            continue
        words = f"{source} {verb.replace('_', ' ')} {target}"
        yield _memory(opened, hashed(source, verb, target), words, source, "relation")
        edges.append(EdgeRecord(_entity(source), _entity(target), relation(verb)))
    yield from edges


def _item(line: str) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(item, dict):
        return None
    needed = {"entity": ("name",), "relation": ("from", "to")}.get(str(item.get("type")), ())
    return item if needed and all(field in item for field in needed) else None


def _entity(name: str) -> str:
    return f"entity {hashed(name)}"


def _memory(opened: Opened, id: str, content: str, name: str, kind: str) -> MemoryRecord:
    return MemoryRecord(
        id,
        content,
        memory_type(kind),
        tags=(kind,) if kind else (),
        metadata=filled(entity=name),
        created_by=NAME,
        place=f"{opened.place}#{name}",
    )


FORMAT = Format(NAME, "the knowledge graph of server-memory", fits, records)
