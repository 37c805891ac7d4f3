"""The resources: what is stored, as text, through the real server in both eras."""

import json
import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import TextResourceContents

from tests.conftest import Servers, Sqlite, call
from tests.mcp.conftest import tokens
from tests.mcp.test_protocol import (
    INITIALIZED,
    Wire,
    initialize,
    modern,
    request,
    tool,
)

pytestmark = pytest.mark.anyio

NAMED = ("memory://resume", "memory://recent")
TEMPLATES = ["memory://memory/{id}", "memory://fact/{scope}/{key}", "memory://project/{name}"]
KEYS = [
    "current.task",
    "发布 计划.第一步",
    "a/b/../c",
    "/etc/passwd",
    "50% & more?#x",
    "naïve key",
    "x%2Fy",
    "表/一 二",
]


async def read(client: Client, uri: str) -> str:
    """The text of a resource."""
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == uri
    assert content.mime_type == "text/plain"
    return content.text


async def refused(client: Client, uri: str) -> str:
    """What is said where a resource cannot be read: one line."""
    with pytest.raises(MCPError) as error:
        await client.read_resource(uri)
    assert error.value.error.code == -32602
    assert "\n" not in error.value.error.message
    return error.value.error.message


@pytest.fixture
async def shop(server: Servers, era: str) -> AsyncIterator[Client]:
    """A client in the project `shop`."""
    async with server("--project", "shop", mode=era) as client:
        yield client


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_server_says_what_it_is_and_what_it_offers(server: Servers, era: str) -> None:
    async with server(mode=era) as client:
        assert client.server_info is not None
        assert client.server_info.title == "Memory"
        offered = client.server_capabilities
        assert offered.resources is not None
        assert offered.resources.list_changed
        assert offered.prompts is not None
        assert offered.completions is not None
        for each in (await client.list_tools()).tools:
            assert each.title, each.name
            assert len(each.title) <= 30, each.title


async def test_the_list_names_the_two_of_this_project_and_one_for_each_project(shop: Client) -> None:
    listed = (await shop.list_resources()).resources
    assert tuple(each.uri for each in listed) == NAMED
    await call(shop, "memory_store", content="Stock is counted on Mondays", type="learning")
    await call(shop, "memory_store", content="The API is versioned", type="decision", project="acme/api 二")
    again = (await shop.list_resources(cache_mode="bypass")).resources
    assert tuple(each.uri for each in again) == (
        *NAMED,
        "memory://project/acme%2Fapi%20%E4%BA%8C",
        "memory://project/shop",
    )
    for each in again:
        assert each.title
        assert each.description
        assert each.mime_type == "text/plain"
        assert re.search(r"20\d\d-\d\d-\d\d", await read(shop, each.uri))
    found = (await shop.list_resource_templates()).resource_templates
    assert [each.uri_template for each in found] == TEMPLATES
    assert all(each.title and each.description for each in found)


async def test_the_briefing_is_that_of_the_project(shop: Client) -> None:
    *text, day = (await read(shop, "memory://resume")).splitlines()
    assert text == ["Project shop.", "Nothing is stored for it yet."]
    assert re.fullmatch(r"As of 20\d\d-\d\d-\d\d\.", day)
    await call(shop, "write_memory", key="current.task", value="move the till to Rust")
    await call(shop, "memory_store", content="We sell no fish", type="decision", project="other")
    said = await read(shop, "memory://resume")
    assert "move the till to Rust" in said
    assert "fish" not in said
    assert said == await read(shop, "memory://project/shop")
    assert "fish" in await read(shop, "memory://project/other")


async def test_what_is_new_comes_first_with_its_date_and_handle(shop: Client) -> None:
    assert "Nothing is stored" in await read(shop, "memory://recent")
    await call(
        shop, "memory_store", content="The till was blue", type="observation", occurred_at="2023-05-08"
    )
    await call(shop, "memory_store", content="The till is green", type="observation")
    await call(shop, "register_memory", message="We painted it", summary="The till was painted")
    await call(shop, "write_memory", key="till.colour", value="green")
    head, *lines = (await read(shop, "memory://recent")).splitlines()
    assert head == "Project shop, the newest first."
    assert lines[-1] == "2023-05-08: The till was blue [m1]"
    assert {line.rpartition(" [")[2] for line in lines[:-1]} == {"m2]", "t1]", "f till.colour]"}
    assert all(line.startswith("20") for line in lines)


async def test_a_memory_is_whole_with_dates_author_and_earlier_texts(shop: Client) -> None:
    stored = await call(
        shop,
        "memory_store",
        content="The till opens at 9",
        type="learning",
        tags=["till", "开门"],
        importance=8,
        occurred_at="2023-05-08",
        metadata={"door": "左"},
    )
    await call(shop, "memory_update", id=stored["id"], content="The till opens at 10")
    text = await read(shop, f"memory://memory/{stored['id']}")
    about, dates, metadata, *rest = text.splitlines()
    assert about == f"Memory {stored['id']}, learning, project shop, importance 8, tags till, 开门"
    assert dates.startswith("Occurred 2023-05-08 00:00. Stored 20")
    assert " by tests. Changed 20" in dates
    assert metadata == 'Metadata: {"door": "左"}'
    assert rest == [
        "",
        "The till opens at 10",
        "",
        "Earlier texts, the newest first:",
        "- The till opens at 9",
    ]
    newer = await call(
        shop, "memory_store", content="No till any more", type="decision", supersedes=stored["id"]
    )
    assert f"Superseded by memory {newer['id']}." in await read(shop, f"memory://memory/m{stored['id']}")


@pytest.mark.parametrize("key", KEYS)
async def test_a_key_survives_the_address(shop: Client, key: str) -> None:
    await call(shop, "write_memory", key=key, value={"开": [1, None]}, scope="global", tags=["t"])
    about, dates, _, value = (await read(shop, f"memory://fact/global/{quote(key, safe='')}")).splitlines()
    assert about == f"Fact {key}, scope global, version 1, tags t"
    assert dates.startswith("Written 20")
    assert dates.endswith(" by tests.")
    assert json.loads(value) == {"开": [1, None]}


async def test_a_key_may_stand_in_the_address_as_it_is(shop: Client) -> None:
    await call(shop, "write_memory", key="发布/a b", value="今天")
    assert (await read(shop, "memory://fact/project/发布/a b")).endswith("\n今天")


async def test_an_address_may_end_with_a_slash_or_have_another_case(shop: Client) -> None:
    await call(shop, "write_memory", key="port", value=1)
    for uri in ("memory://recent/", "Memory://recent"):
        assert "[f port]" in await read(shop, uri)


async def test_a_scope_reads_that_scope_alone(shop: Client) -> None:
    await call(shop, "write_memory", key="port", value=1, scope="global")
    assert "No fact `port` in the scope project." in await refused(shop, "memory://fact/project/port")
    await call(shop, "write_memory", key="port", value=2, ttl=3600)
    text = await read(shop, "memory://fact/project/port")
    assert text.endswith("\n2")
    assert "Expires 20" in text


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("memory://memory/41", "No memory 41. Call `recall` to find the id."),
        ("memory://memory/0", "No memory `0`: an id is a whole number. Call `recall` to find the id."),
        ("memory://memory/x", "No memory `x`: an id is a whole number. Call `recall` to find the id."),
        ("memory://memory/9" + "9" * 30, "an id is a whole number. Call `recall` to find the id."),
        ("memory://memory/%D9%A3", "No memory `٣`: an id is a whole number. Call `recall` to find the id."),
        (
            "memory://fact/project/a%20b",
            "No fact `a b` in the scope project. Call `read_memory` without a key to see the keys.",
        ),
        ("memory://fact/team/a", "No scope `team`: it is one of session, project, shared, global."),
        ("memory://fact/project", "No resource `memory://fact/project`. There are: `memory://resume`, "),
        ("memory://fact/project/", "No resource `memory://fact/project/`. There are: "),
        ("memory://fact", "No resource `memory://fact`. There are: "),
        ("memory://project/nowhere", "Nothing is stored of a project `nowhere`. `memory_stats` lists them."),
        ("memory://project/", "No resource `memory://project/`. There are: "),
        ("memory://", "No resource `memory://`. There are: "),
        ("file:///etc/passwd", "No resource `file:///etc/passwd`. There are: "),
        ("", "No resource ``. There are: "),
    ],
)  # fmt: skip
async def test_what_is_not_there_is_told_in_a_line_with_what_mends_it(
    client: Client, uri: str, told: str
) -> None:
    assert told in await refused(client, uri)


async def test_a_near_name_of_a_project_is_suggested(shop: Client) -> None:
    await call(shop, "memory_store", content="Stock is counted on Mondays", type="learning")
    assert "Did you mean `shop`?" in await refused(shop, "memory://project/shpo")


async def test_what_is_long_is_cut_to_the_tokens_that_an_answer_may_have(shop: Client) -> None:
    long = "".join(f"第{number}件：the till drawer number {number} was opened. " for number in range(3_000))
    await call(shop, "memory_store", content=long[:100_000], type="observation")
    await call(shop, "write_memory", key="log", value=long[:90_000])
    for number in range(120):
        await call(
            shop, "memory_store", content=f"Delivery {number} of {long[: 300 + number]}", type="learning"
        )
    for uri, most, rest in (
        ("memory://memory/1", 8_000, "more characters. `memory_get` reads all of it."),
        ("memory://fact/project/log", 8_000, "more characters. `read_memory` reads all of it."),
        ("memory://recent", 2_000, ""),
        ("memory://resume", 2_000, ""),
        ("memory://project/shop", 2_000, ""),
    ):
        text = await read(shop, uri)
        assert text.endswith(rest)
        assert 0.7 * most < tokens(text) <= most, uri


async def test_reading_changes_nothing(shop: Client, server: Servers, sqlite: Sqlite) -> None:
    await call(shop, "memory_store", content="The till opens at 9", type="learning")
    await call(shop, "write_memory", key="port", value=1)
    before = sqlite(server.db, "SELECT access_count FROM memories", "SELECT access_count FROM facts")
    for uri in (*NAMED, "memory://memory/1", "memory://fact/project/port", "memory://project/shop"):
        await read(shop, uri)
    after = sqlite(server.db, "SELECT access_count FROM memories", "SELECT access_count FROM facts")
    assert before == after


async def test_a_read_only_server_has_the_same_resources(server: Servers, era: str) -> None:
    async with server("--project", "shop", mode=era) as client:
        await call(client, "write_memory", key="port", value=1)
    async with server("--project", "shop", "--read-only", mode=era) as client:
        assert (await read(client, "memory://fact/project/port")).endswith("\n1")
        assert len((await client.list_resources()).resources) == 3


async def test_a_file_that_is_no_database_is_told_in_a_line(server: Servers, era: str) -> None:
    server.db.write_bytes(b"no database at all" * 100)
    async with server(mode=era) as client:
        for uri in (*NAMED, "memory://memory/1"):
            with pytest.raises(MCPError, match="is not a SQLite database"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="is not a SQLite database"):
            await client.list_resources()


# Changes


async def test_a_client_that_listens_hears_of_a_new_project_and_of_what_it_watches(server: Servers) -> None:
    watched = ["memory://fact/project/port", "memory://resume", "memory://memory/77"]
    async with (
        server("--project", "shop") as client,
        client.listen(resources_list_changed=True, resource_subscriptions=watched) as changes,
    ):
        await call(client, "memory_search", query="nothing")
        await call(client, "write_memory", key="port", value=1)
        heard = [await anext(changes) for _ in range(3)]
        assert heard == [
            ResourcesListChanged(),
            ResourceUpdated("memory://fact/project/port"),
            ResourceUpdated("memory://resume"),
        ]
        await call(client, "write_memory", key="port", value=2, scope="global")
        await call(client, "write_memory", key="port", value=2)
        assert await anext(changes) == ResourceUpdated("memory://fact/project/port")


def test_in_the_older_era_a_client_that_has_asked_for_the_list_hears_that_it_changed(server: Servers) -> None:
    with server.process() as process:
        wire = Wire(process)
        offered = wire.ask(initialize())["result"]["capabilities"]
        assert offered["resources"] == {"subscribe": False, "listChanged": True}
        wire.send(INITIALIZED)
        note = {"content": "Stock is counted on Mondays", "type": "learning"}
        assert "result" in wire.ask(tool("memory_store", 2, project="one", **note))
        assert len(wire.ask(request("resources/list", id=3))["result"]["resources"]) == 3
        told = wire.ask(tool("memory_store", 4, project="two", **note))
        assert told["method"] == "notifications/resources/list_changed"
        assert wire.answer()["id"] == 4
        assert "result" in wire.ask(tool("memory_store", 5, project="two", **note))
        process.communicate(timeout=20)


def test_a_stream_that_stays_open_does_not_keep_the_server_from_ending(server: Servers) -> None:
    with server.process() as process:
        wire = Wire(process)
        listen = request(
            "subscriptions/listen",
            id="s",
            notifications={"resourcesListChanged": True, "resourceSubscriptions": ["memory://resume", 5]},
        )
        assert "error" in wire.ask(modern(listen))
        listen["params"]["notifications"]["resourceSubscriptions"] = ["memory://resume"]
        assert wire.ask(modern(listen))["method"] == "notifications/subscriptions/acknowledged"
        process.communicate(timeout=20)
        assert process.returncode == 0
