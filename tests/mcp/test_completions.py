"""Completions of what a person types, through the real server in both eras."""

from collections.abc import AsyncIterator

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from memory_server.mcp.completions import ARGUMENTS
from tests.conftest import Servers, call

pytestmark = pytest.mark.anyio

MEMORY = ResourceTemplateReference(type="ref/resource", uri="memory://memory/{id}")
FACT = ResourceTemplateReference(type="ref/resource", uri="memory://fact/{scope}/{key}")
PROJECT = ResourceTemplateReference(type="ref/resource", uri="memory://project/{name}")
REVIEW = PromptReference(type="ref/prompt", name="review")


async def completed(
    client: Client, ref: PromptReference | ResourceTemplateReference, name: str, value: str, **known: str
) -> list[str]:
    """All values; there are no more."""
    found = (await client.complete(ref, {"name": name, "value": value}, known or None)).completion
    assert found.total == len(found.values)
    assert found.has_more is False
    return found.values


@pytest.fixture
async def shop(server: Servers, era: str) -> AsyncIterator[Client]:
    """A client in the project `shop`."""
    async with server("--project", "shop", mode=era) as client:
        yield client


async def test_keys_are_those_that_the_caller_sees_in_the_scope(shop: Client, server: Servers) -> None:
    for key, scope in (
        ("current.task", "project"),
        ("Current.Blocker", "global"),
        ("my.current", "project"),
        ("发布.日期", "project"),
    ):
        await call(shop, "write_memory", key=key, value=1, scope=scope)
    assert await completed(shop, FACT, "key", "CURR") == ["Current.Blocker", "current.task", "my.current"]
    assert await completed(shop, FACT, "key", "curr", scope="project") == ["current.task", "my.current"]
    assert await completed(shop, FACT, "key", "日期") == ["发布.日期"]
    assert await completed(shop, FACT, "scope", "s") == ["session", "shared"]
    async with server("--project", "elsewhere") as other:
        assert await completed(other, FACT, "key", "current") == ["Current.Blocker"]


@pytest.mark.both_stores
async def test_projects_conversations_and_ids(shop: Client) -> None:
    for project in ("acme/api", "shop", "Bishop", "商店"):
        for number in range(4):
            await call(
                shop,
                "memory_store",
                content=f"{number} is a number of {project}",
                type="learning",
                project=project,
            )
    assert await completed(shop, PROJECT, "name", "shop") == ["shop", "Bishop"]
    assert await completed(shop, REVIEW, "project", "商") == ["商店"]
    assert (await completed(shop, MEMORY, "id", ""))[:5] == ["8", "7", "6", "5", "16"]
    assert await completed(shop, MEMORY, "id", "m1") == ["16", "15", "14", "13", "12", "11", "10", "1"]
    said = [{"role": "user", "content": "the zebra escaped"}]
    for name in ("chat 1", "聊天"):
        await call(shop, "add_short_term_memory", messages=said, conversation_id=name)
    assert await completed(shop, REVIEW, "conversation_id", "") == ["聊天", "chat 1"]
    assert await completed(shop, REVIEW, "conversation_id", "聊") == ["聊天"]


async def test_a_hundred_at_most_and_how_many_there_are(shop: Client) -> None:
    for number in range(103):
        await call(shop, "write_memory", key=f"key.{number:03}", value=number)
    found = (await shop.complete(FACT, {"name": "key", "value": "key"})).completion
    assert found.values == [f"key.{number:03}" for number in range(100)]
    assert (found.total, found.has_more) == (103, True)
    for number in range(103):
        await call(shop, "memory_store", content=f"Lamp {number} is lit", type="observation")
    found = (await shop.complete(MEMORY, {"name": "id", "value": ""})).completion
    assert (len(found.values), found.total, found.has_more) == (100, 103, True)


async def test_what_is_free_text_has_no_completion(client: Client) -> None:
    recall = PromptReference(type="ref/prompt", name="recall")
    assert await completed(client, recall, "about", "the") == []


async def test_what_does_not_exist_is_told(client: Client) -> None:
    for ref, name, told in (
        (PromptReference(type="ref/prompt", name="dream"), "x", "No prompt or template `dream`."),
        (ResourceTemplateReference(type="ref/resource", uri="a://b"), "x", "No prompt or template `a://b`."),
        (FACT, "name", "`memory://fact/{scope}/{key}` has no argument `name`. It has: key, scope."),
    ):
        with pytest.raises(MCPError) as error:
            await client.complete(ref, {"name": name, "value": ""})
        assert error.value.error.code == -32602
        assert error.value.error.message.startswith(told)


async def test_the_arguments_are_those_of_the_prompts_and_templates(client: Client) -> None:
    prompts = {
        each.name: frozenset(one.name for one in each.arguments or ())
        for each in (await client.list_prompts()).prompts
    }
    templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
    assert {name: ARGUMENTS[name] for name in prompts} == prompts
    assert set(ARGUMENTS) == {*prompts, *templates}
    for uri in templates:
        assert all(f"{{{name}}}" in uri for name in ARGUMENTS[uri])
        assert uri.count("{") == len(ARGUMENTS[uri])
