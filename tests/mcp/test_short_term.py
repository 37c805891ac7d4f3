"""The toolset `short_term` as assistants call it: the real server over stdio, in both wire eras."""

from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.conftest import Servers, Sqlite, call, damage
from tests.mcp.conftest import erased, refusal, traces

pytestmark = pytest.mark.anyio

LONG_AGO = "2024-03-14T09:26:53Z"
LATER = "2024-03-14T09:46:53Z"
LATEST = "2024-03-14T10:46:53Z"
TOKEN = "ghp" + "_" + "a1B2" * 9


def user(content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content, **more}]


async def add(client: Client, conversation: str, content: str, said: Any = LONG_AGO) -> int:
    added = await call(
        client,
        "add_short_term_memory",
        messages=user(content, timestamp=said),
        conversation_id=conversation,
    )
    return int(added["id"])


async def search(client: Client, conversation: str, content: str) -> dict[str, Any]:
    return await call(
        client, "search_short_term_memories", recentMessages=user(content), conversation_id=conversation
    )


async def texts(client: Client, conversation: str) -> list[str]:
    """Of all memories of a conversation."""
    found = await call(
        client, "delete_short_term_memories", pattern="/./s", conversation_id=conversation, dry_run=True
    )
    return [each["text"] for each in found["matching"]]


# What each tool answers


async def test_adding_answers_the_id_and_the_keywords(client: Client, project: str) -> None:
    added = await call(
        client,
        "add_short_term_memory",
        messages=[
            {"role": "user", "content": "Deployments of the billing server", "timestamp": LONG_AGO},
            {"role": "assistant", "content": "数据库要重启", "name": "Claude"},
        ],
        conversation_id=project,
    )
    assert added.keys() == {"id", "keywords"}
    assert set(added["keywords"][:5]) == {"deployments", "billing", "server", "数据库", "重启"}
    assert await texts(client, project) == ["user: Deployments of the billing server\nClaude: 数据库要重启"]


async def test_a_search_answers_what_comes_back_and_why(client: Client, project: str) -> None:
    id = await add(client, project, "We deploy the billing server")
    found = await search(client, project, "any deployments?")
    ((memory,), nothing, none) = (found["top"], found["next"], found["flashback"])
    assert (nothing, none) == ([], [])
    parts = memory["parts"]
    assert memory == {
        "id": id,
        "text": "user: We deploy the billing server",
        "said_at": "2024-03-14T09:26:53.000Z",
        "tier": "top",
        "relevance": pytest.approx(parts["words"] + parts["age"] + parts["score"], abs=0.02),
        "parts": parts,
        "shared": ["deployments"],
    }
    assert (parts["age"], parts["score"]) == (-15, 0)
    again = (await search(client, project, "any deployments?"))["top"][0]
    assert again["parts"] == {**parts, "score": 5}


async def test_two_on_top_one_next_and_the_rest_by_chance(client: Client, project: str) -> None:
    ids = [
        await add(client, project, f"zebra {'stripes ' * number}", f"2024-03-14T{10 + number}:00:00Z")
        for number in range(5)
    ]
    found = await search(client, project, "zebra")
    assert [each["id"] for each in found["top"]] == ids[:2]
    assert [each["id"] for each in found["next"]] == ids[2:3]
    assert sorted(each["id"] for each in found["flashback"]) == ids[3:]
    assert {each["tier"] for each in found["flashback"]} == {"flashback"}


async def test_a_search_in_a_conversation_that_is_not_there_finds_nothing(
    client: Client, project: str
) -> None:
    found = await search(client, project, "deploy")
    assert (found["top"], found["next"], found["flashback"]) == ([], [], [])


async def test_weights_of_roles_decide_what_a_message_is_about(client: Client, project: str) -> None:
    messages = [
        *({"role": role, "content": word} for role, word in {"User": "alpha", "tool": "beta"}.items()),
        {"role": "system", "content": "gamma"},
    ]
    given: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["alpha", "beta", "gamma"]),
        ({"roleWeights": {" TOOL ": 9, "user": 0}}, ["beta", "gamma"]),
        ({"roleWeights": {"system": 100, "user": 0.5}}, ["gamma", "beta", "alpha"]),
        ({"roleWeights": {"system": 0, "user": 0, "tool": 0.01}}, []),
    ]
    for more, expected in given:
        added = await call(
            client, "add_short_term_memory", messages=messages, conversation_id=project, **more
        )
        assert added["keywords"] == expected


async def test_stats_count_what_there_is_and_what_was_removed(client: Client, project: str) -> None:
    await add(client, project, "alpha")
    await add(client, project, "beta", LATER)
    await search(client, project, "beta")
    stats = await call(client, "get_memory_stats", conversation_id=project)
    assert stats == {
        "memories": 2,
        "conversations": 1,
        "oldest": "2024-03-14T09:26:53.000Z",
        "newest": "2024-03-14T09:46:53.000Z",
        "scores": {"average": 2.5, "lowest": 0, "highest": 5},
        "removed_by_cleanups": 0,
        "last_cleanup": stats["last_cleanup"],
    }
    everywhere = await call(client, "get_memory_stats")
    assert everywhere["conversations"] >= 1
    assert everywhere["memories"] >= 2


async def test_a_cleanup_keeps_the_512_best_and_counts_what_it_removed(
    client: Client, project: str, module_server: Servers, sqlite: Sqlite
) -> None:
    await add(client, project, "alpha", "2023-01-01")
    sqlite(
        module_server.db,
        "INSERT INTO short_term_memories (conversation_id, text, said_at, keyed)"
        f" SELECT id, 'user: beta', '2024-01-01T00:00:00.000Z', 1 FROM conversations, generate_series(1, 512)"
        f" WHERE name = '{project}'",
    )
    for removed in (1, 0):
        cleaned = await call(client, "cleanup_memories", conversation_id=project)
        assert cleaned == {"removed": removed, "kept": 512}
    stats = await call(client, "get_memory_stats", conversation_id=project)
    assert (stats["memories"], stats["removed_by_cleanups"]) == (512, 1)
    assert (await call(client, "cleanup_memories"))["removed"] == 0
    assert "user: alpha" not in await texts(client, project)


async def test_the_most_frequent_conversation(server: Servers, era: str) -> None:
    async with server(mode=era) as client:
        assert await call(client, "get_frequent_conversation") == {"conversation_id": None, "memories": 0}
        for conversation in ("one", "二", "二"):
            await add(client, conversation, "alpha")
        assert await call(client, "get_frequent_conversation") == {"conversation_id": "二", "memories": 2}
        await call(client, "delete_short_term_memories", pattern="alpha", conversation_id="二")
        assert (await call(client, "get_frequent_conversation"))["conversation_id"] == "one"


# Deleting


async def test_a_dry_run_shows_what_would_go_and_then_it_goes(client: Client, project: str) -> None:
    ids = [await add(client, project, text) for text in ("the art of war", "a party", "Modern ART")]
    dry = await call(
        client, "delete_short_term_memories", pattern="art", conversation_id=project, dry_run=True
    )
    assert dry == {
        "deleted": 0,
        "would_delete": 2,
        "matching": [
            {"id": ids[0], "text": "user: the art of war"},
            {"id": ids[2], "text": "user: Modern ART"},
        ],
    }
    for deleted in (2, 0):
        gone = await call(client, "delete_short_term_memories", pattern="art", conversation_id=project)
        assert gone["deleted"] == deleted
        assert ("note" in gone) is (deleted == 0)
    assert await texts(client, project) == ["user: a party"]
    assert (await search(client, project, "art of war"))["top"] == []


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("/PART/i", ["user: 数据库"]),
        ("/PART/", ["user: a party", "user: 数据库"]),
        ("/^user: a/", ["user: 数据库"]),
        (r"/\u6570\u{636e}/", ["user: a party"]),
        ("數據", ["user: a party"]),
        ("/(a+)+$|x/", ["user: a party", "user: 数据库"]),
    ],
)
async def test_expressions_and_words_delete_what_holds_them(
    client: Client, project: str, pattern: str, left: list[str]
) -> None:
    for text in ("a party", "数据库"):
        await add(client, project, text)
    await call(client, "delete_short_term_memories", pattern=pattern, conversation_id=project)
    assert await texts(client, project) == left
    await call(client, "delete_short_term_memories", pattern="/./", conversation_id=project)


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("/[/", "pattern: is not a regular expression that RE2 accepts (missing ]: [)"),
        ("/(?=a)/", "RE2 has no lookaround and no backreferences"),
        ("/a/q", "pattern: has the unknown flag `q`"),
        ("", "pattern: must be a text of 1-500 characters"),
        ("a" * 501, "pattern: must be a text of 1-500 characters"),
        (" ", "pattern: has no visible character"),
        ("x" * 501, "pattern: must be a text of 1-500 characters"),
        (None, "pattern: missing"),
    ],
)
async def test_a_pattern_that_means_nothing_is_refused(
    client: Client, project: str, pattern: object, complaint: str
) -> None:
    await add(client, project, "alpha")
    for dry_run in (True, False):
        assert complaint in await refusal(
            client,
            "delete_short_term_memories",
            pattern=pattern,
            conversation_id=project,
            dry_run=dry_run,
        )
    assert await texts(client, project) == ["user: alpha"]


async def test_purged_text_is_no_longer_in_the_file(server: Servers, era: str) -> None:
    async with server(mode=era) as client:
        await add(client, "c", "Quetzalcoatlus flies at dawn")
        await add(client, "c", "the party")
        assert traces(server, "Quetzalcoatlus flies")
        assert traces(server, "quetzalcoatlus")
        await call(client, "delete_short_term_memories", pattern="dawn", conversation_id="c")
        assert traces(server, "Quetzalcoatlus")  # it can still be brought back
        await call(client, "delete_short_term_memories", pattern="dawn", conversation_id="c", purge=True)
        await erased(server, "Quetzalcoatlus", "quetzalcoatlus")
        assert traces(server, "the party")
    assert damage(server.db) == []


# Conversations


async def test_conversations_are_isolated(client: Client, project: str) -> None:
    names = [f"{project[:150]} {end}" for end in ("a", "A", "a ", "猫 🐈", "'; DROP TABLE x--", "%", "a\nb")]
    ids = {name: await add(client, name, "zebra") for name in names}
    for name in names:
        found = await search(client, name, "zebra")
        known = {each["id"] for tier in found.values() for each in tier}
        same = {ids[other] for other in names if other.strip() == name.strip()}
        assert known <= same
        assert known
    await call(client, "delete_short_term_memories", pattern="zebra", conversation_id=names[3])
    assert (await search(client, names[3], "zebra"))["top"] == []
    assert (await search(client, names[4], "zebra"))["top"] != []


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("k" * 199, None),
        ("猫" * 200, None),
        ("🐈" * 200, None),
        ("k" * 201, "conversation_id: String should have at most 200 characters"),
        (" \u200b", "conversation_id: has no visible character"),
    ],
)
async def test_an_id_has_1_to_200_characters(client: Client, name: str, complaint: str | None) -> None:
    if complaint is None:
        id = await add(client, name, "zebra")
        assert [each["id"] for each in (await search(client, name, "zebra"))["top"]] == [id]
        await call(client, "delete_short_term_memories", pattern="zebra", conversation_id=name)
        return
    calls: dict[str, dict[str, Any]] = {
        "add_short_term_memory": {"messages": user("x")},
        "search_short_term_memories": {"recentMessages": user("x")},
        "delete_short_term_memories": {"pattern": "x"},
        "get_memory_stats": {},
        "cleanup_memories": {},
    }
    for tool, arguments in calls.items():
        assert complaint in await refusal(client, tool, conversation_id=name, **arguments)


@pytest.mark.parametrize("tool", ["get_memory_stats", "cleanup_memories"])
async def test_an_unknown_conversation_is_named(client: Client, project: str, tool: str) -> None:
    text = await refusal(client, tool, conversation_id=project)
    assert text.startswith(f"No conversation `{project}` has short-term memories.")
    assert "`get_memory_stats` without conversation_id" in text


# What is refused and what is not


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"messages": []}, "No message holds any text"),
        ({"messages": user("")}, "No message holds any text"),
        ({"messages": user(" \u200b\n")}, "No message holds any text"),
        ({"messages": user(None)}, "No message holds any text"),
        ({"messages": ["hello", "bye"]}, "messages: is a list of texts, which does not say who said what"),
        ({"messages": 5}, "messages: must be a list of messages {role, content}, got 5"),
        ({"messages": user(True)}, "messages.0.content: must be one text, got true"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: missing"),
        ({"messages": [{"content": "x"}, {"content": "y"}]}, "messages.1.role: missing"),
        ({"messages": [{"role": "", "content": "x"}]}, "role: "),
        ({"messages": [{"role": None, "content": "x"}]}, "role: "),
        ({"messages": [{"role": "r" * 101, "content": "x"}]}, "role: String should have at most 100"),
        ({"messages": user("x", name=" ")}, "name: has no visible character"),
        (
            {"messages": user("x", timestamp="yesterday")},
            "timestamp: is not a date or time: write it as 2026-03-14 or 2026-03-14T09:26:53Z",
        ),
        ({"messages": user("x", timestamp=True)}, "timestamp: "),
        ({"messages": user("x", timestamp=10**20)}, "timestamp: is not a number of seconds or milliseconds"),
        (
            {"messages": user("x", timestamp=-(10**15))},
            "timestamp: is not a number of seconds or milliseconds",
        ),
        ({"messages": user("x") * 501}, "messages: List should have at most 500 items"),
        (
            {"messages": user("x" * 1_000_000)},
            "messages: have 1,000,000 characters, at most 200,000 are allowed: send only the latest",
        ),
        ({"messages": user("x" * 100_001) * 2}, "messages: have 200,002 characters"),
        ({"roleWeights": {"user": -1}}, "roleWeights.user: Input should be greater than or equal to 0"),
        ({"roleWeights": {"user": 101}}, "roleWeights.user: Input should be less than or equal to 100"),
        ({"roleWeights": {"user": "much"}}, "roleWeights.user: Input should be a valid number"),
        ({"roleWeights": {"user": None}}, "roleWeights.user: Input should be a valid number"),
        ({"roleWeights": {"user": "NaN"}}, "roleWeights.user: Input should be a finite number"),
        ({"roleWeights": {"user": "Infinity"}}, "roleWeights.user: "),
        ({"roleWeights": '{"user": NaN}'}, "roleWeights"),
        ({"roleWeights": [1]}, "roleWeights: "),
        ({"roleWeights": {f"r{i}": 1 for i in range(51)}}, "roleWeights: Dictionary should have at most 50"),
        ({"role_weight": {}}, "role_weight: unknown argument. Did you mean `roleWeights`?"),
        (
            {"conversationId": "c"},
            "conversation_id: is given twice, as `conversation_id` and as `conversationId`",
        ),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    client: Client, project: str, arguments: dict[str, Any], complaint: str
) -> None:
    given = {"messages": user("x"), "conversation_id": project, **arguments}
    assert complaint in await refusal(client, "add_short_term_memory", **given)
    assert "No conversation" in await refusal(client, "get_memory_stats", conversation_id=project)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        user(""),
        user(None),
        user("what is this about"),
        user("😀"),
        user("什么"),
        [{"role": "function", "content": "zzz"}],
        user("x") * 500,
        user("word " * 40_000),
        user("数" * 200_000),
        user("a" * 200_000),
        user("/".join("ab" for _ in range(60_000))),
    ],
    ids=[
        "none",
        "empty",
        "null",
        "stop words",
        "emoji",
        "chinese",
        "role",
        "500",
        "long",
        "run",
        "blob",
        "path",
    ],
)
async def test_a_search_with_any_messages_is_answered(
    client: Client, project: str, messages: list[dict[str, Any]]
) -> None:
    await add(client, project, "zebra")
    found = await call(client, "search_short_term_memories", recentMessages=messages, conversation_id=project)
    assert (found["top"], found["next"], len(found["flashback"])) == ([], [], 1)


async def test_a_message_without_content_beside_others_is_passed_over(client: Client, project: str) -> None:
    await call(
        client,
        "add_short_term_memory",
        messages=[*user("zebra", timestamp=LONG_AGO), {"role": "assistant", "content": None}],
        conversation_id=project,
    )
    ((memory,), _, _) = (await search(client, project, "zebra")).values()
    assert (memory["text"], memory["said_at"]) == ("user: zebra", "2024-03-14T09:26:53.000Z")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("2024-03-14T17:26:53+08:00", "2024-03-14T09:26:53.000Z"),
        ("2024-03-14", "2024-03-14T00:00:00.000Z"),
        (1_710_408_413_000, "2024-03-14T09:26:53.000Z"),
        (1_710_408_413, "2024-03-14T09:26:53.000Z"),
        ("1710408413", "2024-03-14T09:26:53.000Z"),
        ("2024/3/14", "2024-03-14T00:00:00.000Z"),
        ("2024年3月14日", "2024-03-14T00:00:00.000Z"),
        (1_710_408_413_000.75, "2024-03-14T09:26:53.000Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
    ],
)
async def test_a_moment_is_iso_text_or_a_number_since_1970(
    client: Client, project: str, given: object, said: str
) -> None:
    await add(client, project, "zebra", given)
    assert (await search(client, project, "zebra"))["top"][0]["said_at"] == said


@pytest.mark.parametrize("given", [None, "2999-01-01", 32_503_680_000_000])
async def test_what_is_said_now_or_later_is_too_fresh_to_come_back(
    client: Client, project: str, given: object
) -> None:
    await add(client, project, "zebra", given)
    found = await search(client, project, "zebra")
    assert found == {"top": [], "next": [], "flashback": [], "too_recent": 1}


async def test_a_long_memory_is_shown_as_far_as_a_model_needs(client: Client, project: str) -> None:
    await add(client, project, "zebra " + "x" * 10_000)
    found = await search(client, project, "zebra")
    assert found["top"][0]["text"].endswith("x… (8,512 more characters)")
    assert len(found["top"][0]["text"]) < 1_600


async def test_keywords_shown_are_few_and_short(client: Client, project: str) -> None:
    added = await call(
        client,
        "add_short_term_memory",
        messages=user("data " + "A1" * 50_000 + " " + " ".join(f"word{i}" for i in range(60))),
        conversation_id=project,
    )
    assert len(added["keywords"]) == 20
    assert max(map(len, added["keywords"])) <= 100


async def test_invisible_characters_are_not_kept(client: Client, project: str) -> None:
    await call(
        client,
        "add_short_term_memory",
        messages=[{"role": "us\u200ber", "content": "ze\u202ebra\x00", "name": "A\u200bda"}],
        conversation_id=f"{project}\u200b",
    )
    assert await texts(client, project) == ["Ada: zebra"]


async def test_a_secret_is_refused(client: Client, project: str) -> None:
    for messages in (
        user(f"use {TOKEN}"),
        [*user("hello"), {"role": "assistant", "content": "\u200b".join(TOKEN)}],
        user("hello", name=TOKEN),
    ):
        text = await refusal(client, "add_short_term_memory", messages=messages, conversation_id=project)
        assert "--allow-secrets" in text
        assert TOKEN not in text


async def test_a_read_only_server_offers_only_what_reads_and_raises_no_score(
    server: Servers, sqlite: Sqlite, era: str
) -> None:
    async with server(mode=era) as client:
        await add(client, "c", "zebra")
    async with server("--read-only", "--toolsets", "short_term", mode=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search_short_term_memories",
            "get_memory_stats",
            "get_frequent_conversation",
        ]
        for _ in range(2):
            (memory,) = (await search(client, "c", "zebra"))["top"]
            assert memory["parts"]["score"] == 0
        refused = await client.call_tool("cleanup_memories", {})
        assert isinstance(refused, CallToolResult)
        assert refused.is_error
    assert sqlite(server.db, "SELECT score FROM short_term_memories") == "0.0"


async def test_what_one_server_adds_another_finds(server: Servers) -> None:
    async with server(mode="legacy", name="Claude") as one, server(name="Cursor") as other:
        id = await add(one, "c", "zebra")
        assert [each["id"] for each in (await search(other, "c", "zebras"))["top"]] == [id]
        await call(other, "delete_short_term_memories", pattern="zebra", conversation_id="c")
        assert (await search(one, "c", "zebra"))["flashback"] == []


async def test_a_role_or_a_name_is_no_word_to_delete_by(client: Client, project: str) -> None:
    said = [
        {"role": "user", "content": "zebra\nnote: giraffe"},
        {"role": "assistant", "content": "yes", "name": "Bea"},
    ]
    await call(client, "add_short_term_memory", messages=said, conversation_id=project)
    for pattern, number in (
        ("user", 0),
        ("assistant", 0),
        ("Bea", 0),
        ("note", 1),
        ("/^user: /", 1),
        ("Zebra", 1),
    ):
        dry = await call(
            client, "delete_short_term_memories", pattern=pattern, conversation_id=project, dry_run=True
        )
        assert dry["would_delete"] == number, pattern


async def test_what_is_too_recent_to_come_back_is_counted(client: Client, project: str) -> None:
    said = [{"role": "user", "content": "Zoom with Priya is at four"}]
    await call(client, "add_short_term_memory", messages=said, conversation_id=project)
    found = await call(client, "search_short_term_memories", recentMessages=said, conversation_id=project)
    assert found == {"top": [], "next": [], "flashback": [], "too_recent": 1}


async def test_a_conversation_without_memories_tells_where_there_are_some(
    client: Client, project: str
) -> None:
    said = [{"role": "user", "content": "alpha"}]
    await call(client, "add_short_term_memory", messages=said, conversation_id=project)
    nowhere = {"conversation_id": f"not {project}"[:200]}
    found = await call(client, "search_short_term_memories", recentMessages=said, **nowhere)
    assert found["note"].startswith("This conversation has none. These have some: `")
    for dry_run in (True, False):
        gone = await call(client, "delete_short_term_memories", pattern="alpha", dry_run=dry_run, **nowhere)
        assert gone["note"] == found["note"]
    kept = await call(client, "delete_short_term_memories", pattern="alph", conversation_id=project)
    assert kept["deleted"] == 0
    assert "whole words" in kept["note"]
    stats = await call(client, "get_memory_stats")
    assert stats["by_conversation"][project] == 1
    assert "by_conversation" not in await call(client, "get_memory_stats", conversation_id=project)


async def test_a_message_that_is_none_is_told_what_one_is(client: Client, project: str) -> None:
    message = await refusal(client, "add_short_term_memory", messages=[5], conversation_id=project)
    assert message.startswith("messages.0: must be a message {role, content}, got 5\n")
