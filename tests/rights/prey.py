"""What ana has: every kind of thing, each with a secret word, and the words by which others look for it."""

from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextContent

OLD = "2026-01-05T10:00:00Z"


@dataclass
class Prey:
    """The ids of what is ana's own, and of what belongs to the project `shop`."""

    memory: int = 0
    other: int = 0
    merged: int = 0
    deleted: int = 0
    turn: int = 0
    deleted_turn: int = 0
    short_term: int = 0
    shop: int = 0
    shop_other: int = 0
    ids: dict[str, int] = field(default_factory=dict)


OWN = tuple(f"kumquat{number}" for number in range(1, 25))
"""The words of what is ana's own: nobody else may ever read one."""

KEY, CONVERSATION = OWN[9], OWN[17]
"""Two of them: the last part of the key of a fact, and the name of a conversation."""

OF_SHOP = tuple(f"rambutan{number}" for number in range(1, 6))
"""The words of what belongs to the project `shop`."""

HUNT = "lighthouse keeper oil lamp"
"""Words that everything has. Whoever searches for them must find only what is theirs."""


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, (tool, result.content)
    assert result.structured_content is not None
    return dict(result.structured_content)


async def told(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """All that a client reads of a call, whether it succeeds or not."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    texts = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return f"{texts}\n{result.structured_content}"


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "timestamp": OLD}]


async def fill(ana: Client) -> Prey:
    """Store something of every kind, edit it, delete it, ask for it."""
    prey, words = Prey(), iter(OWN)

    async def memory(text: str, project: str = "", **more: Any) -> int:
        stored = await call(
            ana, "memory_store", content=text, project=project, **{"type": "decision", **more}
        )
        assert stored["consolidated"] is False
        return int(stored["id"])

    prey.memory = await memory(
        f"The {HUNT} burns {next(words)} at dusk", tags=[next(words)], metadata={"why": next(words)}
    )
    prey.other = await memory(f"A ship saw the {HUNT} near {next(words)} rocks", type="learning")
    prey.merged = await memory(f"Bread for the {HUNT} comes with {next(words)} on Fridays", type="pattern")
    prey.deleted = await memory(f"The {HUNT} sold {next(words)} in winter", type="error")
    long = await memory(
        f"The {HUNT} wrote {next(words)}. " + "Nothing else happened. " * 300, type="observation"
    )
    assert long
    await call(ana, "memory_update", id=prey.merged, content=f"Milk for the {HUNT} comes with {next(words)}")
    await call(ana, "memory_delete", id=prey.deleted)
    prey.shop = await memory(f"The shop sells {OF_SHOP[0]} to the {HUNT}", "shop")
    prey.shop_other = await memory(f"Prices of {OF_SHOP[1]} doubled for the {HUNT}", "shop", type="learning")
    await call(ana, "graph_connect", sourceId=prey.memory, targetId=prey.other, relation="causes")
    await call(ana, "graph_connect", sourceId=prey.memory, targetId=prey.shop, relation="solves")
    await call(ana, "graph_connect", sourceId=prey.merged, targetId=prey.memory, relation="contradicts")
    await call(ana, "graph_connect", sourceId=prey.shop, targetId=prey.shop_other, relation="causes")
    for scope in ("global", "session"):
        await call(
            ana, "write_memory", key="current.task", value=f"trim the {HUNT} wick {next(words)}", scope=scope
        )
        await call(ana, "write_memory", key=f"own.{next(words)}", value=HUNT, scope=scope, tags=[next(words)])
    await call(ana, "write_memory", key="gone", value=f"{HUNT} {next(words)}", scope="global")
    await call(ana, "delete_memory", key="gone", scope="global")
    await call(ana, "write_memory", key="current.task", value=f"{HUNT} {OF_SHOP[2]}", scope="project")
    turn = {"message": f"We spoke of the {HUNT}", "summary": f"The {HUNT} needs {next(words)}"}
    prey.turn = (await call(ana, "register_memory", **turn, facts={OF_SHOP[3]: HUNT}))["id"]
    turn["summary"] = f"The {HUNT} forgot {next(words)}"
    prey.deleted_turn = (await call(ana, "register_memory", **turn))["id"]
    await call(ana, "delete_turn", id=prey.deleted_turn)
    for conversation in ({}, {"conversation_id": "default"}, {"conversation_id": next(words)}):
        text = f"the {HUNT} dreams of {next(words) if conversation else OWN[0]}"
        prey.short_term = (await call(ana, "add_short_term_memory", messages=said(text), **conversation))[
            "id"
        ]
        await call(
            ana,
            "add_long_term_memory",
            name="wick",
            prompt=f"Remember {OWN[1]}",
            trigger="match_keys(messages, ['lighthouse'])",
            **conversation,
        )
    await call(
        ana, "add_long_term_memory", name=OWN[2], prompt=HUNT, trigger="match_keys(messages, ['lamp'])"
    )
    await call(ana, "search_long_term_memories", messages=said(HUNT))
    for _ in range(2):
        await call(ana, "recall", query=f"Why was {OWN[3]} never stored by anybody at all?")
    await call(ana, "memory_search", query=HUNT)
    return prey
