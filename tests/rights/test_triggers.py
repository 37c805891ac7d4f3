"""Triggers of several people at the one worker."""

from typing import Any

import anyio
import pytest
from mcp import Client

from memory_server.triggers import engine
from memory_server.triggers.javascript import sandbox
from tests.rights.conftest import Team
from tests.rights.prey import call

pytestmark = pytest.mark.anyio

SAID = [{"role": "user", "content": "hello", "timestamp": "2026-01-05T10:00:00Z"}]

ENDLESS = "if ([...messages].some(m => m.content === 'hello')) for (;;); false"

HOARDS = "if ([...messages].some(m => m.content === 'hello')) new Uint8Array(2 ** 26); false"

UNMARKED = "failures = 0, slow = (1 = 0), quarantined_until = NULL"

INNOCENT = "[...messages].length > 0"


async def add(client: Client, name: str, trigger: str) -> None:
    await call(
        client, "add_long_term_memory", name=name, prompt="p", trigger=trigger, conversation_id="default"
    )


async def search(client: Client) -> dict[str, Any]:
    return await call(client, "search_long_term_memories", messages=SAID, conversation_id="default")


@pytest.mark.parametrize("trigger", [ENDLESS, HOARDS])
async def test_triggers_of_one_neither_stop_nor_switch_off_those_of_another(
    team: Team, monkeypatch: pytest.MonkeyPatch, trigger: str
) -> None:
    monkeypatch.setattr(engine, "BUDGET", 6.0)  # so that a busy machine changes nothing
    monkeypatch.setattr(sandbox, "SECONDS", 0.2)
    async with team("ana") as ana, team("bob") as bob:
        for number in range(12):
            await add(ana, f"attack {number}", trigger)
        for number in range(3):
            await add(bob, f"innocent {number}", INNOCENT)
        done = False

        async def flood() -> None:
            while not done:
                await search(ana)
                team.change(
                    f"UPDATE long_term_memories SET {UNMARKED} WHERE name LIKE 'attack%'"
                )  # as if new

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(flood)
            for _ in range(4):
                found = await search(bob)
                assert (len(found["activated"]), found["errors"], found["skipped"]) == (3, [], [])
            done = True
    marked = "SELECT count(*) FROM long_term_memories WHERE name LIKE 'innocent%' AND (failures > 0 OR slow)"
    assert team.value(marked) == 0
