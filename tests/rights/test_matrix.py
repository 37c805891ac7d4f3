"""Nobody reads, counts, changes or notices what is somebody else's: by every tool, resource, prompt and completion.

The list of tools is the server's own: a tool that is not attacked here fails the test.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from memory_server.domain.caller import Person
from memory_server.mcp.completions import ARGUMENTS
from tests.rights.conftest import PEOPLE, Team
from tests.rights.prey import CONVERSATION, HUNT, KEY, OF_SHOP, OWN, Prey, fill, said, told

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

Calls = Sequence[dict[str, Any]]

WORDS = (HUNT, OWN[0], OWN[8], "*")
NEVER = 987_654_321
"""An id that no row has ever had."""

PLACES: tuple[dict[str, str], ...] = (
    {},
    {"conversation_id": "default"},
    {"conversation_id": "project:shop"},
    {"conversation_id": CONVERSATION},
)


def ids(prey: Prey) -> list[int]:
    return [prey.memory, prey.other, prey.merged, prey.deleted]


def on_ids(name: str, **more: Any) -> Callable[[Prey], Calls]:
    return lambda prey: [{name: id, **more} for id in ids(prey)]


def refs(prey: Prey) -> list[str]:
    """All that ana has, as `forget` names it."""
    facts = (f"f:{scope}{key}" for scope in ("", "global/", "session/") for key in ("gone", f"own.{KEY}"))
    said = (f"s{prey.short_term}", f"t{prey.turn}", f"t{prey.deleted_turn}")
    return [*(f"m{id}" for id in ids(prey)), *said, *facts, "w:wick", f"w:{OWN[2]}"]


def on_places(*calls: dict[str, Any]) -> Callable[[Prey], Calls]:
    return lambda _: [{**call, **place} for call in calls for place in PLACES]


def both(*attacks: Callable[[Prey], Calls]) -> Callable[[Prey], Calls]:
    return lambda prey: [call for attack in attacks for call in attack(prey)]


def each(*calls: dict[str, Any]) -> Callable[[Prey], Calls]:
    return lambda _: calls


SCOPES = ("global", "session", "shared", "project")

READS: dict[str, Callable[[Prey], Calls]] = {
    "recall": each(
        *({"query": word} for word in WORDS),
        {"query": HUNT, "project": "shop", "messages": said(HUNT)},
        {"query": HUNT, "project": "*", "max_tokens": 4000},
        {"query": HUNT, "project": ""},
    ),
    "memory_search": each(
        *(
            {"query": word, "mode": mode, "limit": 50}
            for word in ("", *WORDS)
            for mode in ("hybrid", "semantic", "keyword")
        ),
        {"query": HUNT, "project": "shop", "limit": 50},
        {"query": HUNT, "project": "", "limit": 50, "explain": True},
        {"query": HUNT, "project": "*", "limit": 50},
        {"query": HUNT, "tags": [OWN[1]]},
    ),
    "memory_get": lambda prey: [{"ids": ids(prey)}, *({"ids": [id]} for id in range(1, 12))],
    "memory_stats": each({}, {"project": "shop"}, {"project": ""}),
    "graph_explore": both(on_ids("memoryId", depth=4), on_ids("memoryId", direction="in")),
    "memory_related": both(on_ids("memoryId", limit=50), on_ids("memoryId", includeSemantic=False)),
    "read_memory": each(
        *(
            {"key": key, **scope}
            for key in ("current.task", "gone", f"own.{KEY}")
            for scope in ({}, *({"scope": each} for each in SCOPES))
        ),
        *({"key": key, "history": True} for key in ("gone", f"own.{KEY}")),
        {"key": "gone", "at": "2100-01-01T00:00:00Z"},
        {"pattern": "*"},
        {"tags": [OWN[10]]},
    ),
    "list_memories": each({}, *({"scope": scope} for scope in SCOPES), {"pattern": "own.*", "limit": 500}),
    "smart_resume": each(
        {"max_tokens": 8000},
        {"max_tokens": 8000, "project_path": "shop"},
        {
            "max_tokens": 8000,
            "session_id": "the same session",
            "include_context": ["project", "current", "shared"],
        },
    ),
    "retrieve_memories": each(
        *({"query": word, "limit": 50} for word in WORDS),
        {"query": HUNT, "project": "*"},
        {"query": HUNT, "project": "shop"},
    ),
    "search_short_term_memories": on_places({"recentMessages": said(HUNT)}),
    "get_memory_stats": on_places({}),
    "get_frequent_conversation": each({}),
    "list_long_term_memories": on_places({}, {"order": "new"}),
    "search_long_term_memories": on_places({"messages": said(HUNT)}),
    "get_memory_context": on_places({"name": "wick"}, {"name": OWN[2]}),
    "test_trigger": each({"trigger": "match_keys(messages, ['lighthouse'])", "messages": said(HUNT)}),
}

WRITES: dict[str, Callable[[Prey], Calls]] = {
    "memory_update": both(
        on_ids("id", content="It is mine now"), on_ids("id", project="blog"), on_ids("id", importance=1)
    ),
    "memory_delete": both(on_ids("id"), on_ids("id", undo=True), on_ids("id", purge=True)),
    "forget": lambda prey: [
        {"what": HUNT},
        *({"refs": [ref], **how} for ref in refs(prey) for how in ({"undo": True}, {}, {"purge": True})),
    ],
    "memory_store": lambda prey: [
        {"content": f"The {HUNT} burns {{}} at dusk", "type": "decision", "project": ""},
        *(
            {"content": "It is new", "type": "decision", "project": "", key: id}
            for id in ids(prey)
            for key in ("relatedTo", "supersedes")
        ),
    ],
    "graph_connect": lambda prey: [
        {"sourceId": one, "targetId": other, "relation": relation, **end}
        for one, other in ((prey.memory, prey.other), (prey.merged, prey.memory), (prey.memory, prey.shop))
        for relation in ("causes", "solves", "contradicts", "supersedes")
        for end in ({}, {"end": True})
    ],
    "write_memory": each(
        *({"key": "current.task", "value": "mine", "scope": scope} for scope in ("global", "session")),
        {"key": "current.task", "value": "mine", "scope": "global", "expectedVersion": 5},
    ),
    "delete_memory": each(
        *(
            {"key": key, "scope": scope, **how}
            for key in ("current.task", "gone", "own.*", f"own.{KEY}")
            for scope in ("global", "session")
            for how in ({"undo": True}, {}, {"purge": True})
        ),
    ),
    "register_memory": each({"message": f"The {HUNT}", "summary": f"About the {HUNT}"}),
    "delete_turn": lambda prey: [
        {"id": id, **how}
        for id in (prey.turn, prey.deleted_turn)
        for how in ({}, {"undo": True}, {"purge": True})
    ],
    "add_short_term_memory": on_places({"messages": said(f"we know the {HUNT}")}),
    "delete_short_term_memories": on_places(
        {"pattern": "/./", "dry_run": True},
        {"pattern": "dreams"},
        {"pattern": "dreams", "undo": True},
        {"pattern": "/dreams/", "purge": True},
    ),
    "cleanup_memories": on_places({}),
    "remind": each({"text": f"Fill the {HUNT}", "when": "tomorrow at 9"}),
    "add_long_term_memory": on_places({"name": "wick", "prompt": "mine", "trigger": "true"}),
    "update_long_term_memory": on_places({"name": OWN[2], "prompt": "mine"}),
    "delete_long_term_memory": on_places(
        *({"name": name, **how} for name in (OWN[2], "wick") for how in ({"undo": True}, {}, {"purge": True}))
    ),
}

RESOURCES = ("memory://resume", "memory://recent", "memory://project/shop", "memory://project/blog")


async def resources(client: Client, prey: Prey) -> str:
    """All that a client reads of resources."""
    addresses = [
        *RESOURCES,
        *(f"memory://memory/{id}" for id in ids(prey)),
        *(
            f"memory://fact/{scope}/{key}"
            for scope in SCOPES
            for key in ("current.task", f"own.{KEY}", "gone")
        ),
    ]
    found = [str(await client.list_resources())]
    for address in addresses:
        try:
            found.append(str(await client.read_resource(address)).replace(address, ""))
        except MCPError as error:
            found.append(str(error.error.message))
    return "\n".join(found)


async def prompts(client: Client) -> str:
    """All that a client reads of prompts."""
    asked: list[tuple[str, dict[str, str]]] = [
        ("resume", {}),
        ("resume", {"project": "shop"}),
        ("recall", {"about": HUNT}),
        ("review", {}),
        ("review", {"project": "shop"}),
        *(("review", place) for place in PLACES),
    ]
    found = []
    for name, arguments in asked:
        try:
            found.append(str(await client.get_prompt(name, arguments)))
        except MCPError as error:
            found.append(str(error.error.message))
    return "\n".join(found)


async def completions(client: Client) -> str:
    """All that a client is offered."""
    found = []
    for of, arguments in ARGUMENTS.items():
        ref: Any = (
            ResourceTemplateReference(type="ref/resource", uri=of)
            if "://" in of
            else PromptReference(type="ref/prompt", name=of)
        )
        for name in arguments:
            for written in ("", "1", "k", "s", "d", "o", OWN[0][:4], "own."):
                for known in (None, {"scope": "global"}, {"scope": "session"}):
                    found.append(
                        str((await client.complete(ref, {"name": name, "value": written}, known)).completion)
                    )
    return "\n".join(found)


def forbidden(name: str) -> tuple[str, ...]:
    """The words that a person must never read."""
    return (*OWN, *OF_SHOP) if name == "bob" else OWN


def watched(owner: str, name: str) -> Person:
    """The owner, with what this person must not change."""
    return Person(owner, frozenset({"shop"}) if name == "bob" else frozenset())


def leaks(text: str, arguments: object, name: str) -> list[str]:
    """The words that are told without being asked for."""
    asked = str(arguments)
    return [
        word
        for word in forbidden(name)
        if re.search(rf"{word}\b", text) and not re.search(rf"{word}\b", asked)
    ]


def test_every_tool_is_attacked(team: Team) -> None:
    assert set(team.tools) == set(READS) | set(WRITES)
    assert {name for name, tool in team.tools.items() if tool.reads_only} == set(READS)


@pytest.mark.parametrize(("owner", "name"), [("ana", "bob"), ("ana", "cyn"), ("cyn", "ana"), ("ana", "eve")])
async def test_nobody_reads_or_changes_what_is_somebody_elses(team: Team, owner: str, name: str) -> None:
    async with team(owner) as client:
        prey = await fill(client)
    team.embed()
    team.database.settle()
    before = team.seen(watched(owner, name))
    assert len({table for table, _ in before}) >= 20
    found: list[tuple[str, object, list[str]]] = []
    written: list[object] = []  # the conversations that this person has made meanwhile are this person's
    async with team(name) as client:
        for tool, attack in [*READS.items(), *WRITES.items(), *READS.items()]:
            for arguments in attack(prey):
                written += [arguments] if tool in WRITES else []
                text = await told(client, tool, arguments)
                found += [(tool, arguments, leaks(text, [arguments, *written], name))]
                assert "inside the server" not in text, (tool, arguments)
        found.append(("resources", "", leaks(await resources(client, prey), written, name)))
        found.append(("prompts", "", leaks(await prompts(client), written, name)))
        found.append(("completions", "", leaks(await completions(client), written, name)))
    assert [each for each in found if each[2]] == []
    team.database.settle()
    after = team.seen(watched(owner, name))
    assert {key: row for key, row in before.items() if after.get(key) != row} == {}
    assert after.keys() == before.keys()


@pytest.mark.parametrize("name", ["bob", "cyn"])
async def test_what_one_may_not_see_does_not_exist(team: Team, name: str) -> None:
    """The answer for an id of ana is the one for an id that never was."""
    async with team("ana") as ana:
        prey = await fill(ana)
    hers = [prey.memory, prey.other, prey.merged, prey.deleted, prey.turn, prey.deleted_turn, prey.short_term]
    different = []
    async with team(name) as client:
        for tool, attack in {**READS, **WRITES}.items():
            for arguments in attack(prey):
                named = {
                    key for key, value in arguments.items() if key.lower().endswith("id") and value in hers
                }
                if not named:
                    continue
                never = {
                    key: NEVER + hers.index(value) if key in named else value
                    for key, value in arguments.items()
                }
                one, other = await told(client, tool, arguments), await told(client, tool, never)
                for key in named:
                    one = re.sub(rf"\b{arguments[key]}\b", "ID", one)
                    other = re.sub(rf"\b{never[key]}\b", "ID", other)
                if one != other:
                    different.append((tool, arguments, one, other))
    assert different == []


@pytest.mark.parametrize("name", ["bob", "cyn"])
async def test_counts_are_those_of_what_one_sees(team: Team, name: str) -> None:
    """A file in which ana has much tells others the same as one in which she has nothing."""
    async with team(name) as client:
        empty = {tool: [await told(client, tool, each) for each in READS[tool](Prey())] for tool in COUNTING}
    async with team("ana") as ana:
        await fill(ana)
    if name == "cyn":
        return  # she sees what ana has stored for the shop
    async with team(name) as client:
        full = {tool: [await told(client, tool, each) for each in READS[tool](Prey())] for tool in COUNTING}
    assert full == empty


COUNTING = (
    "memory_stats",
    "get_memory_stats",
    "get_frequent_conversation",
    "list_memories",
    "smart_resume",
    "list_long_term_memories",
)


async def test_ana_sees_all_that_is_hers(team: Team) -> None:
    """Else nothing would be shown by what others do not see."""
    async with team("ana") as ana:
        prey = await fill(ana)
        text = "\n".join(
            [
                *[
                    await told(ana, tool, arguments)
                    for tool, attack in READS.items()
                    for arguments in attack(prey)
                ],
                await resources(ana, prey),
                await prompts(ana),
                await completions(ana),
            ]
        )
    used = {word for word in (*OWN, *OF_SHOP[:4]) if re.search(rf"{word}\b", text)}
    assert used >= set(OF_SHOP[:4])
    assert len(used & set(OWN)) >= 14, set(OWN) - used


@pytest.mark.parametrize("name", PEOPLE)
async def test_what_belongs_to_a_project_is_seen_by_those_who_have_it(team: Team, name: str) -> None:
    async with team("ana") as ana:
        prey = await fill(ana)
    async with team(name) as client:
        text = await told(client, "memory_get", {"ids": [prey.shop, prey.memory]})
    assert (OF_SHOP[0] in text) == (name != "bob")
    assert (OWN[0] in text) == (name == "ana")


@pytest.mark.parametrize("name", ["bob", "cyn"])
async def test_a_name_that_somebody_else_uses_is_as_unknown_as_any(team: Team, name: str) -> None:
    """The answer for a key, a name or a conversation of ana is the one for a name that nobody has ever used."""
    async with team("ana") as ana:
        prey = await fill(ana)
    hers = (KEY, OWN[2], CONVERSATION)
    asking = {
        tool: attack
        for tool, attack in {**READS, **WRITES}.items()
        if tool.split("_")[0] in UNMAKING or tool in READS
    }
    different = []
    async with team(name) as client:
        for tool, attack in asking.items():
            for arguments in attack(prey):
                for word in hers:
                    never = {key: _with(value, word, "neverwas") for key, value in arguments.items()}
                    if never == arguments:
                        continue
                    one, other = await told(client, tool, arguments), await told(client, tool, never)
                    if one.replace(word, "neverwas") != other:
                        different.append((tool, arguments, one, other))
    assert different == []


UNMAKING = ("delete", "update", "cleanup")
"""How the names of tools begin that make nothing new."""


def _with(value: object, word: str, other: str) -> object:
    return value.replace(word, other) if isinstance(value, str) else value
