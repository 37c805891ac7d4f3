"""Two people with two clients each over real HTTP: no tool, resource, prompt or completion of one reaches the other."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from memory_server.call import acting
from memory_server.domain.caller import Person
from memory_server.sqlite.database import Database
from memory_server.sqlite.rights import RIGHTS
from memory_server.stores import clock
from tests.conftest import ERAS
from tests.http.conftest import Http, Start, token
from tests.rights.prey import call, fill, told
from tests.rights.test_matrix import READS, WRITES, completions, leaks, prompts, resources

pytestmark = pytest.mark.anyio

DERIVED = frozenset(name for name in RIGHTS if "embed" in name)
"""Tables that background work fills meanwhile."""


def kept(http: Http) -> dict[str, list[tuple[Any, ...]]]:
    """What ana sees in the file: read by this process, beside the server."""
    database = Database(http.servers.db, clock)
    try:
        with acting.as_(Person("ana", frozenset({"shop"}))), database.read() as tx:
            return {name: tx.rows(f"SELECT * FROM {name}") for name in sorted(RIGHTS.keys() - DERIVED)}
    finally:
        database.close()


async def test_nobody_reaches_what_is_somebody_elses(start: Start) -> None:
    with start("--http-rate", "1000000") as http:
        ana, bob = (
            token(http.servers, *given)
            for given in (("ana", "--project", "shop"), ("bob", "--project", "blog"))
        )
        async with AsyncExitStack() as stack:
            hers, others = [
                [await stack.enter_async_context(http.client(each, era, "Claude Code")) for era in ERAS]
                for each in (ana, bob)
            ]
            prey = await fill(hers[0])
            assert len((await call(hers[1], "memory_get", ids=[prey.memory, prey.shop]))["memories"]) == 2
            for client in hers:  # what was read is counted before it is looked at
                await call(client, "memory_get", ids=[prey.memory])
            before = kept(http)
            found: list[tuple[str, list[str]]] = []
            written: list[object] = []
            for client in others:
                assert {tool.name for tool in (await client.list_tools()).tools} == set(READS) | set(WRITES)
                for tool, attack in [*READS.items(), *WRITES.items()]:
                    for arguments in attack(prey):
                        written += [arguments] if tool in WRITES else []
                        text = await told(client, tool, arguments)
                        found.append((tool, leaks(text, [arguments, *written], "bob")))
                for said in (await resources(client, prey), await prompts(client), await completions(client)):
                    found.append(("", leaks(said, written, "bob")))
            assert [each for each in found if each[1]] == []
            assert kept(http) == before
