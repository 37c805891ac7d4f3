"""Two people with two clients each: whose session, which project, who may write."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated

from memory_server.mcp.http.app import SESSIONS_OF_ONE
from tests.conftest import ERAS, Sqlite, call
from tests.http.conftest import Start, token
from tests.http.test_door import HELLO, JSON

pytestmark = pytest.mark.anyio


@pytest.mark.both_stores
async def test_two_people_with_two_clients_each_are_four_sessions(start: Start) -> None:
    with start() as http:
        tokens = {name: token(http.servers, name) for name in ("ada", "ben")}
        async with AsyncExitStack() as stack:
            clients = {
                (name, era): await stack.enter_async_context(http.client(given, era, "Claude Code"))
                for name, given in tokens.items()
                for era in ERAS
            }
            for who, client in clients.items():
                await call(client, "write_memory", key="current.task", value=list(who), scope="session")
            for who, client in clients.items():
                seen = await call(client, "read_memory", key="current.task", scope="session")
                assert seen["memory"]["value"] == list(who)


async def test_two_sessions_of_one_client_in_the_older_era_share_nothing(start: Start) -> None:
    with start() as http:
        async with http.client(mode="legacy") as one, http.client(mode="legacy") as other:
            await call(one, "write_memory", key="a", value=1, scope="session")
            assert (await call(other, "read_memory", key="a", scope="session"))["memory"] is None


async def test_in_the_newer_era_a_header_tells_sessions_apart(start: Start) -> None:
    with start() as http:
        async with (
            http.client(mode=ERAS[1], session="one") as one,
            http.client(mode=ERAS[1], session="two") as other,
            http.client(mode=ERAS[1], session="one") as again,
        ):
            await call(one, "write_memory", key="a", value=1, scope="session")
            assert (await call(other, "read_memory", key="a", scope="session"))["memory"] is None
            assert (await call(again, "read_memory", key="a", scope="session"))["memory"]["value"] == 1


def test_one_person_cannot_open_more_sessions_than_are_meant_for_one(start: Start) -> None:
    with start("--http-rate", "100000") as http:
        ada, ben = (
            {**JSON, "Authorization": f"Bearer {token(http.servers, name)}"} for name in ("ada", "ben")
        )
        with httpx2.Client(timeout=60) as client:
            codes = [
                client.post(http.url, json=HELLO, headers=ada).status_code for _ in range(SESSIONS_OF_ONE + 1)
            ]
            assert codes == [200] * SESSIONS_OF_ONE + [503]
            assert client.post(http.url, json=HELLO, headers=ben).status_code == 200


def test_a_session_of_somebody_else_does_not_exist(start: Start) -> None:
    with start() as http:
        ada, ben = (
            {**JSON, "Authorization": f"Bearer {token(http.servers, name)}"} for name in ("ada", "ben")
        )
        session = httpx2.post(http.url, json=HELLO, headers=ada).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for headers, status in ((ada, 200), (ben, 404)):
            answer = httpx2.post(http.url, json=ping, headers={**headers, "Mcp-Session-Id": session})
            assert answer.status_code == status
        assert httpx2.delete(http.url, headers={**ben, "Mcp-Session-Id": session}).status_code == 404
        assert httpx2.delete(http.url, headers={**ada, "Mcp-Session-Id": session}).status_code == 200


@pytest.mark.both_stores
async def test_who_may_only_read_sees_and_calls_the_tools_that_read(start: Start, era: str) -> None:
    with start() as http:
        token(http.servers, "ada")
        async with http.client(token(http.servers, "ben", "--read-only"), era) as client:
            listed = (await client.list_tools()).tools
            assert listed
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
            refusal = await client.call_tool("memory_store", {"content": "x", "type": "learning"})
            assert refusal.is_error
            assert "token may only read" in str(refusal.content)
            assert (await call(client, "memory_stats"))["total"] == 0
        async with http.client(token(http.servers, "cleo"), era) as client:
            assert len((await client.list_tools()).tools) > len(listed)


@pytest.mark.parametrize("written", ["商店", "%E5%95%86%E5%BA%97"])
async def test_the_header_names_the_project(start: Start, era: str, written: str) -> None:
    with start() as http:
        async with http.client(mode=era, project=written) as client:
            stored = await call(client, "memory_store", content="Prices end in nines", type="decision")
        async with http.client(mode=era) as client:
            without = await call(client, "memory_store", content="The sky is blue today", type="decision")
    assert (stored["project"], without.get("project")) == ("商店", None)


async def test_a_person_with_one_project_is_in_it(start: Start, era: str) -> None:
    with start() as http:
        async with http.client(token(http.servers, "ada", "--project", "shop"), era) as client:
            stored = await call(client, "memory_store", content="Prices end in nines", type="decision")
    assert stored["project"] == "shop"


async def test_a_path_of_a_client_is_a_name_and_is_not_looked_at(
    start: Start, sqlite: Sqlite, tmp_path: Path, era: str
) -> None:
    """The folder is there, inside a repository with a remote: the server must not learn that."""
    folder = tmp_path / "repository" / "inner"
    folder.mkdir(parents=True)
    git = tmp_path / "repository" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.com/acme/hidden.git\n')
    with start() as http:
        async with http.client(mode=era, project=str(folder)) as client:
            stored = await call(client, "memory_store", content="Prices end in nines", type="decision")
            named = await call(
                client, "memory_store", content="We ship on Fridays", type="decision", project=str(folder)
            )
            await call(client, "smart_resume", project_path=str(folder))
            await call(client, "register_memory", message="We spoke of ships", summary="Ships")
        assert http.end() == 0
    assert stored["project"] == named["project"] == "inner"
    assert "hidden" not in json.dumps(sqlite(http.servers.db, ".dump"))


async def test_another_servers_folder_is_no_project(start: Start) -> None:
    with start("--project", "of-the-server") as http:
        async with http.client() as client:
            stored = await call(client, "memory_store", content="The sky is blue today", type="decision")
    assert stored.get("project") is None


async def test_who_wrote_is_in_the_rows(start: Start, era: str) -> None:
    with start() as http:
        async with http.client(token(http.servers, "ada"), era, "Claude Code") as client:
            await call(client, "memory_store", content="The sky is blue today", type="decision")
    ((written, session),) = http.servers.rows("SELECT created_by, session FROM memories")
    assert "Claude Code" in written
    assert session.startswith("http-")


@pytest.mark.both_stores
async def test_a_stream_tells_a_person_only_what_this_person_may_see(start: Start) -> None:
    port = "memory://fact/shared/port"
    with start() as http:
        ada, ben = token(http.servers, "ada"), token(http.servers, "ben", "--project", "shop")
        async with (
            http.client(ada, ERAS[1]) as hers,
            http.client(ben, ERAS[1]) as his,
            hers.listen(resources_list_changed=True) as she_hears,
            his.listen(resources_list_changed=True, resource_subscriptions=[port]) as he_hears,
        ):
            await call(hers, "memory_store", content="We ship on Fridays", type="decision", project="secret")
            assert await anext(she_hears) == ResourcesListChanged()
            await call(hers, "write_memory", key="port", value=1, scope="shared")
            assert await anext(he_hears) == ResourceUpdated(port)
            await call(hers, "memory_store", content="Prices end in nines", type="decision", project="shop")
            assert await anext(he_hears) == ResourcesListChanged()
