"""The toolset `facts` as assistants call it: real processes on one file, the official client, both wire eras."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult, TextContent

from memory_server.language.text import visible
from tests.conftest import ROOT, Servers, Sqlite, call
from tests.mcp.conftest import in_30_days, refusal
from tests.tokenizer import tokens_of

pytestmark = pytest.mark.anyio

LOOK_LIKE_JSON = [
    "75000",
    "null",
    '{"a":1}',
    "true",
    "[1, 2]",
    '"quoted"',
    "1e400",
    "NaN",
    "-0",
    " 75000 ",
    "",
    "{",
]
TEXTS = st.one_of(
    st.sampled_from(LOOK_LIKE_JSON), st.text(max_size=40).filter(lambda text: visible(text) == text)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXTS, parts, max_size=4),
    max_leaves=10,
)
SPECIAL_KEYS = [
    "a_b",
    "a%b",
    "a.b",
    "a?b",
    "a[b]",
    'a"b',
    "a'b",
    "数据库.端口",
    "a\\b",
    "--a",
    "a b",
    "😀",
    "{a}",
    "null",
]


@pytest.fixture
def key(project: str, client: Client) -> str:
    """A key of the test's own."""
    return f"{project[:100]}.k"


async def value_of(client: Client, key: str, **arguments: Any) -> Any:
    memory = (await call(client, "read_memory", key=key, **arguments))["memory"]
    return memory["value"] if memory else "no value"


# What each tool answers


async def test_write_answers_the_keys_of_its_contract(client: Client, key: str) -> None:
    written = await call(client, "write_memory", key=key, value=1)
    assert written == {
        "id": written["id"],
        "key": key,
        "scope": "project",
        "version": 1,
        "created": True,
        "updated_at": written["updated_at"],
    }
    again = await call(client, "write_memory", key=key, value=2)
    assert (again["id"], again["version"], again["created"]) == (written["id"], 2, False)


async def test_read_answers_one_memory_a_list_or_null(client: Client, key: str) -> None:
    assert await call(client, "read_memory", key=key) == {"memory": None}
    assert await call(client, "read_memory", pattern=f"{key}*") == {"memories": [], "more": 0}
    await call(client, "write_memory", key=key, value={"a": [None]}, tags=["x", "数据", "x"], ttl=3600)
    memory = (await call(client, "read_memory", key=key))["memory"]
    assert memory == {
        "key": key,
        "value": {"a": [None]},
        "scope": "project",
        "version": 1,
        "tags": ["x", "数据"],
        "updated_at": memory["created_at"],
        "updated_by": "tests",
        "created_at": memory["created_at"],
        "created_by": "tests",
        "access_count": 0,
        "expires_at": memory["expires_at"],
    }
    again = (await call(client, "read_memory", key=key))["memory"]
    assert again["access_count"] == 1
    assert again["accessed_at"] >= memory["created_at"]
    listed = await call(client, "read_memory", pattern=f"{key}*", tags=["X"])
    assert [each["key"] for each in listed["memories"]] == [key]
    assert await call(client, "read_memory", key=key, tags=["y"]) == {"memory": None}


async def test_list_answers_memories_and_how_many_more_there_are(client: Client, key: str) -> None:
    for number in range(3):
        await call(client, "write_memory", key=f"{key}.{number}", value=number)
    listed = await call(client, "list_memories", pattern=f"{key}.*", limit=2)
    assert ([each["value"] for each in listed["memories"]], listed["more"]) == ([0, 1], 1)


async def test_a_list_of_long_values_stays_of_a_size_that_a_model_can_read(client: Client, key: str) -> None:
    for number in range(3):
        await call(client, "write_memory", key=f"{key}.{number}", value="x" * 60_000)
    for tool in ("list_memories", "read_memory"):
        listed = await call(client, tool, pattern=f"{key}.*")
        assert (len(listed["memories"]), listed["more"]) == (1, 2)


async def test_delete_says_what_it_deleted_and_can_be_undone(client: Client, key: str) -> None:
    assert await call(client, "delete_memory", key=key) == {"deleted": False}
    await call(client, "write_memory", key=key, value="75000")
    deleted = await call(client, "delete_memory", key=key)
    assert deleted == {"deleted": True, "undo_until": in_30_days(deleted), "scope": "project"}
    gone = await call(client, "read_memory", key=key)
    assert gone["memory"] is None
    assert gone["note"].startswith(f"`{key}` was deleted 20")
    undone = await call(client, "delete_memory", key=key, undo=True)
    assert (undone["deleted"], undone["restored"]["value"], undone["restored"]["version"]) == (
        False,
        "75000",
        3,
    )
    assert await value_of(client, key) == "75000"


async def test_what_was_never_deleted_is_not_restored_and_its_history_is_named(
    client: Client, key: str
) -> None:
    assert await refusal(client, "delete_memory", key=key, undo=True) == (
        f"No deleted fact `{key}`. Call `read_memory` with key={key} and history=true to see what happened to it."
    )


async def test_the_history_names_each_version_newest_first(client: Client, key: str) -> None:
    for value in (1, "1"):
        await call(client, "write_memory", key=key, value=value)
    await call(client, "delete_memory", key=key)
    changes = (await call(client, "read_memory", key=key, history=True))["history"]
    assert [(each["version"], each["action"], each["value"], each["changed_by"]) for each in changes] == [
        (3, "deleted", "1", "tests"),
        (2, "written", "1", "tests"),
        (1, "written", 1, "tests"),
    ]


async def test_a_value_is_read_as_of_a_moment(client: Client, key: str) -> None:
    first = await call(client, "write_memory", key=key, value="old")
    then = first["updated_at"]
    while (await call(client, "write_memory", key=key, value="new"))["updated_at"] == then:
        pass
    memory = (await call(client, "read_memory", key=key, at=then))["memory"]
    assert (memory["value"], memory["version"], memory["updated_at"]) == ("old", 1, then)
    assert await value_of(client, key, at=then.replace("Z", "+00:00")) == "old"
    assert await value_of(client, key, at="2020-01-01") == "no value"
    assert await value_of(client, key, at="2100-01-01T00:00:00") == "new"


# Values keep their type


@settings(max_examples=40)
@given(VALUES)
async def test_any_json_value_comes_back_as_it_was(client: Client, value: Any) -> None:
    await call(client, "write_memory", key="round.trip", value=value)
    assert repr(await value_of(client, "round.trip")) == repr(value)


@pytest.mark.parametrize("text", LOOK_LIKE_JSON)
async def test_a_text_that_looks_like_json_stays_a_text(client: Client, key: str, text: str) -> None:
    await call(client, "write_memory", key=key, value=text)
    await call(client, "register_memory", message="m", summary="s", facts={f"{key}.r": text})
    await call(client, "write_memory", key=f"{key}.n", value={text: [text]})
    assert await value_of(client, key) == text
    assert await value_of(client, f"{key}.r") == text
    assert await value_of(client, f"{key}.n") == {text: [text]}


async def test_facts_sent_as_json_text_are_decoded_once(client: Client, key: str) -> None:
    facts = {f"{key}.a": "75000", f"{key}.b": 75000, f"{key}.c": '{"a":1}'}
    await call(client, "register_memory", message="m", summary="s", facts=json.dumps(facts))
    for each, value in facts.items():
        assert await value_of(client, each) == value


async def test_invisible_characters_are_stripped_from_values_names_and_keys(client: Client, key: str) -> None:
    await call(client, "write_memory", key=f"{key}\u200b", value={"a\u202e": ["b\x00", "\ufeffc"]})
    assert await value_of(client, key) == {"a": ["b", "c"]}


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("x" * 99_999, "has 100,001 characters of JSON, at most 100,000 are allowed"),
        ({"a": 1, "a\u200b": 2}, "differ in invisible characters only"),
        (json.loads("[" * 101 + "]" * 101), "nested more than 100 levels deep"),
    ],
)
async def test_a_value_that_cannot_be_kept_as_it_is_is_refused(
    client: Client, key: str, value: Any, complaint: str
) -> None:
    assert complaint in await refusal(client, "write_memory", key=key, value=value)
    assert complaint in await refusal(client, "register_memory", message="m", summary="s", facts={key: value})
    assert await value_of(client, key) == "no value"


@pytest.mark.parametrize(
    "value",
    ["x" * 99_998, "数" * 99_998, 10**4000, json.loads("[" * 100 + "]" * 100)],
    ids=["latin", "chinese", "huge number", "deep"],
)
async def test_a_value_at_the_limit_comes_back(client: Client, key: str, value: Any) -> None:
    await call(client, "write_memory", key=key, value=value)
    assert await value_of(client, key) == value


# Keys, patterns, ttl


@pytest.mark.parametrize("special", SPECIAL_KEYS)
async def test_special_characters_in_keys_are_ordinary(client: Client, project: str, special: str) -> None:
    folder = project[:60]
    await call(client, "write_memory", key=f"{folder}.aXb", value="decoy")
    await call(client, "write_memory", key=f"{folder}.{special}", value=1)
    assert await value_of(client, f"{folder}.{special}") == 1
    for pattern in (f"{folder}.{special}", f"{folder}.{special}*", f"*{folder}.{special}"):
        listed = await call(client, "list_memories", pattern=pattern)
        assert [each["key"] for each in listed["memories"]] == [f"{folder}.{special}"]


@pytest.mark.parametrize("key", ["k" * 200, "键" * 200])
async def test_a_key_at_the_limit_is_taken(client: Client, key: str) -> None:
    await call(client, "write_memory", key=key, value=1)
    assert await value_of(client, key) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"key": "k" * 201}, "key: String should have at most 200 characters"),
        ({"key": ""}, "key: String should have at least 1 character"),
        ({"key": " \u200b"}, "key: has no visible character"),
        ({"ttl": 0}, "ttl: Input should be greater than or equal to 1, got 0"),
        ({"ttl": -5}, "ttl: Input should be greater than or equal to 1, got -5"),
        ({"ttl": 3_153_600_001}, "ttl: Input should be less than or equal to 3153600000"),
        ({"ttl": 10**30}, "ttl: Input should be less than or equal to 3153600000"),
        ({"ttl": 1.5}, "ttl: must be seconds, or 90 minutes, 12h, 7d, 2 weeks, 3 months, until Friday"),
        (
            {"scope": "world"},
            'scope: must be one of global, project, session, shared, got "world"',
        ),
        ({"expectedVersion": -1}, "expectedVersion: Input should be greater than or equal to 0"),
        ({"tags": ["t"] * 11}, "tags: List should have at most 10 items"),
        ({"expires": 5}, "expires: unknown argument"),
    ],
)
async def test_what_a_write_cannot_mean_is_refused(
    client: Client, key: str, arguments: dict[str, Any], complaint: str
) -> None:
    assert complaint in await refusal(client, "write_memory", **{"key": key, "value": 1, **arguments})


async def test_the_longest_ttl_is_taken_and_a_write_without_one_ends_it(client: Client, key: str) -> None:
    await call(client, "write_memory", key=key, value=1, ttl=3_153_600_000)
    assert "expires_at" in (await call(client, "read_memory", key=key))["memory"]
    await call(client, "write_memory", key=key, value=1)
    assert "expires_at" not in (await call(client, "read_memory", key=key))["memory"]


@pytest.mark.parametrize("pattern", ["*" * 10_000, "a*" * 5_000, "x" * 10_000])
async def test_a_pattern_of_ten_thousand_characters_is_refused_by_its_length(
    client: Client, pattern: str
) -> None:
    assert "pattern: String should have at most 500 characters" in await refusal(
        client, "list_memories", pattern=pattern
    )


async def test_a_scope_alone_lists_what_is_in_it(server: Servers) -> None:
    async with server("--project", "shop") as client:
        for scope in ("project", "shared", "global"):
            await call(client, "write_memory", key=f"k.{scope}", value=scope, scope=scope)
        for scope in ("project", "shared", "global", "session"):
            listed = await call(client, "read_memory", scope=scope)
            assert [each["key"] for each in listed["memories"]] == [f"k.{scope}"] * (scope != "session")


async def test_a_star_in_a_key_is_a_pattern_for_a_read(client: Client, key: str) -> None:
    for name in ("a", "b"):
        await call(client, "write_memory", key=f"{key}.{name}", value=name)
    for name in ("key", "pattern"):
        listed = await call(client, "read_memory", **{name: f"{key}.*"})
        assert [each["value"] for each in listed["memories"]] == ["a", "b"]


@pytest.mark.parametrize("how", [{}, {"purge": True}])
async def test_a_star_in_a_key_deletes_nothing_and_names_what_it_fits(
    client: Client, key: str, how: dict[str, bool]
) -> None:
    for number in range(12):
        await call(client, "write_memory", key=f"{key}.{number:02}", value=number)
    refused = await refusal(client, "delete_memory", key=f"{key}.*", **how)
    assert f"`{key}.*` is a pattern: a deletion takes one key. It fits 12: `{key}.00`, `{key}.01`," in refused
    assert refused.endswith("…. Nothing was deleted.")
    assert "It fits none. Nothing" in await refusal(client, "delete_memory", key=f"{key}.x*", **how)
    assert (await call(client, "list_memories", pattern=f"{key}.*", limit=1))["more"] == 11


async def test_a_key_with_a_star_cannot_be_written(client: Client, key: str) -> None:
    complaint = f"`{key}*` holds `*`, which is for patterns. No key may hold it. Nothing was written."
    assert await refusal(client, "write_memory", key=f"{key}*", value=1) == complaint
    assert (
        await refusal(client, "register_memory", message="m", summary="s", facts={f"{key}*": 1}) == complaint
    )


async def test_a_key_with_a_star_from_before_can_still_be_deleted(server: Servers, sqlite: Sqlite) -> None:
    async with server("--project", "shop") as client:
        await call(client, "write_memory", key="a.b", value=1, scope="shared")
    sqlite(server.db, "INSERT INTO facts (scope, key, value) VALUES ('shared', 'a.*', '2')")
    async with server("--project", "shop") as client:
        listed = await call(client, "read_memory", key="a.*")
        assert [each["key"] for each in listed["memories"]] == ["a.*", "a.b"]
        assert await call(client, "delete_memory", key="a.*") == {
            "deleted": True,
            "scope": "shared",
            "undo_until": ANY,
        }
        assert [each["key"] for each in (await call(client, "list_memories"))["memories"]] == ["a.b"]


async def test_a_pattern_of_stars_only_costs_no_time(client: Client, key: str) -> None:
    await call(client, "write_memory", key="a" * 200, value=1)
    assert (await call(client, "list_memories", pattern="*a" * 249 + "*b"))["memories"] == []
    assert len((await call(client, "list_memories", pattern="*" * 500, limit=1))["memories"]) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"key": "a", "pattern": "b"}, "Give either `key`, or `pattern`, `scope` or `tags`"),
        ({"pattern": "a", "history": True}, "`history` and `at` need a `key`"),
        ({"key": "a", "history": True, "at": "2026-01-01"}, "Give either `history` or `at`"),
        (
            {"key": "a", "at": "someday"},
            "at: is not a date or time: write 2026-03-14, 2026-03-14T09:26:53Z, yesterday, 3 days ago, last week, "
            'November 3, 15.11.2026 or 7d, got "someday"',
        ),
        (
            {"key": "a", "at": "0001-01-01T00:00:00+23:00"},
            "at: is not a date or time: write 2026-03-14",
        ),
        (
            {"key": "never.written", "history": True},
            "`never.written` was never written. Call `read_memory` without a key to see the keys.",
        ),
    ],
)
async def test_a_read_that_asks_for_nothing_certain_is_refused(
    client: Client, arguments: dict[str, Any], complaint: str
) -> None:
    assert complaint in await refusal(client, "read_memory", **arguments)


@pytest.mark.parametrize("tokens", [49, 0, -1])
async def test_a_briefing_has_its_limits(client: Client, tokens: int) -> None:
    assert "max_tokens: must be a whole number, 50-8000" in await refusal(
        client, "smart_resume", max_tokens=tokens
    )
    for limit in (50, 8000):
        assert (await call(client, "smart_resume", max_tokens=limit))["token_count"] <= limit
    assert "include_context.0: must be one of project, current, shared" in await refusal(
        client, "smart_resume", include_context=["weather"]
    )


@pytest.mark.parametrize("parts", [[], ["project", "current", "shared"]])
async def test_the_whole_answer_of_a_briefing_keeps_the_limit(server: Servers, parts: list[str]) -> None:
    async with server("--project", "shop", name="Claude") as client:
        for number in range(60):
            await call(
                client, "write_memory", key=f"current.step{number}", value={"进度": number, "名称": "登录"}
            )
            await call(
                client,
                "memory_store",
                content=f'决定{number}: we "quote" and \n escape, 因为缓存在{number}分钟后过期',
                type="decision",
            )
        await call(client, "register_memory", message="m", summary="写完第一步。接下来：写第二步。")
    async with server("--project", "shop", name="Cursor") as client:
        for limit in (50, 100, 200, 500, 1500):
            result = await client.call_tool("smart_resume", {"max_tokens": limit, "include_context": parts})
            (block,) = result.content
            assert isinstance(block, TextContent)
            assert limit / 2 < tokens_of(block.text) <= limit
            answer = json.loads(block.text)
            assert answer["token_count"] == pytest.approx(tokens_of(block.text), rel=0.1)
            assert sorted(answer.get("context", {})) == sorted(parts)


async def test_a_short_briefing_tells_task_blocker_and_steps_whole_and_of_catalogues_the_number(
    server: Servers,
) -> None:
    task = "Move the order form to the new till. The printer is the hardest part. The tax adviser checks the receipts."
    steps = [
        "test the printer",
        "ask about taxes",
        "write receipts",
        "call Jansen",
        "order paper",
        "train Ola",
    ]
    async with server("--project", "bakery") as client:
        await call(client, "write_memory", key="current.task", value=task)
        await call(client, "write_memory", key="current.blocked", value="The licence key is missing.")
        await call(client, "write_memory", key="current.next_steps", value=steps)
        for prefix, number in (("product", 24), ("api", 13)):
            for place in range(number):
                await call(client, "write_memory", key=f"{prefix}.n{place}.price", value=f"{place}.50")
        for limit in (250, 300, 500):
            resumed = await call(client, "smart_resume", max_tokens=limit)
            assert resumed["briefing"].split("\n")[1:] == [
                "Blocked: The licence key is missing.",
                f"Current task: {task}",
                f"Under way: next steps: {'; '.join(steps)}.",
                "Also known: api.*: 13 keys. product.*: 24 keys.",
            ]


async def test_what_a_model_stores_about_the_user_is_in_the_briefing_of_each_project(server: Servers) -> None:
    about = ("Always answer me in English.", "I am allergic to nuts.", "My name is Jana.")
    async with server("--project", "shop") as client:
        for text, type in zip(about, ("preference", "learning", "learning"), strict=True):
            await call(client, "memory_store", content=text, type=type, project="")
        await call(client, "memory_store", content="SQLite has no booleans.", type="learning", project="")
        briefing = (await call(client, "smart_resume"))["briefing"]
    opening, told = briefing.split("\n")
    assert opening == "Project shop. Noted, perhaps not the user's word:"
    assert told.startswith("In all projects: ")
    assert [text for text in about if text not in told] == []
    assert "SQLite" not in told


@pytest.mark.parametrize(
    "path", ["/no/such", "relative/path", "/etc/passwd", "/a\x00b", "~nobody/x", "/" + "x" * 4000]
)
async def test_any_project_path_is_answered(client: Client, path: str) -> None:
    assert (await call(client, "smart_resume", project_path=path))["briefing"].startswith(
        ("Project", "This project")
    )


async def test_a_folder_that_does_not_exist_is_named_with_the_project_that_was_meant(
    server: Servers, tmp_path: Path
) -> None:
    shop, mistyped = tmp_path / "shop", tmp_path / "shoop"
    shop.mkdir()
    async with server("--project", str(shop)) as client:
        await call(client, "write_memory", key="current.task", value="here")
        note = (await call(client, "smart_resume", project_path=str(mistyped)))["note"]
        assert note.startswith("There is no folder `")
        assert note.endswith("/shoop`. Did you mean the project `shop`?")
        for path in (str(mistyped), f"/{'很长的名字' * 40}", "/" + "x" * 4000):
            (block,) = (
                await client.call_tool("smart_resume", {"project_path": path, "max_tokens": 50})
            ).content
            assert isinstance(block, TextContent)
            assert tokens_of(block.text) <= 50
        mistyped.mkdir()
        for path in (str(mistyped), str(shop)):
            assert "note" not in await call(client, "smart_resume", project_path=path)
        shop.rename(tmp_path / "moved")
        assert "note" not in await call(client, "smart_resume", project_path=str(shop))


async def test_another_path_and_session_are_resumed_when_asked_for(server: Servers, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link").symlink_to(other)
    async with server("--project", str(other), "--session", "s9") as client:
        await call(client, "write_memory", key="current.task", value="other project")
        await call(client, "write_memory", key="current.step", value="other session", scope="session")
    async with server("--project", "/srv/shop", "--session", "s1") as client:
        await call(client, "write_memory", key="current.task", value="here")
        for path in (str(other), f"{other}/", str(tmp_path / "link"), "./other"):
            resumed = await call(client, "smart_resume", project_path=path, session_id="s9")
            assert resumed["briefing"].split("\n")[1:] == [
                "Current task: other project.",
                "Under way: step: other session.",
            ]
        resumed = await call(client, "smart_resume", project_path=str(other))
        assert resumed["briefing"].split("\n")[1:] == ["Current task: other project."]
        resumed = await call(client, "smart_resume")
        assert resumed["briefing"].split("\n")[1:] == ["Current task: here."]
        resumed = await call(client, "smart_resume", project_path="/no/such/folder")
        assert resumed["briefing"] == "Project folder.\nNothing is stored for it yet."


async def test_a_secret_is_refused_wherever_it_hides(client: Client, key: str) -> None:
    token = "ghp_" + "a1B2" * 9
    assert await refusal(client, "write_memory", key=key, value={"a": [f"x\n{token}"]}) == (
        "This seems to contain a GitHub token, and every assistant can read a memory. Nothing was stored. "
        "Leave the secret out and say where it is kept. "
        "To store it anyway, the user must start memory-server with --allow-secrets."
    )
    assert await value_of(client, key) == "no value"


# Two assistants on one file


Assistants = dict[str, Client]


@pytest.fixture(scope="module")
async def assistants(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> AsyncIterator[Assistants]:
    """Claude and Codex in the project shop, Cursor in another, on one memory and in both eras."""
    server = Servers(tmp_path_factory.mktemp("assistants"), {**user_folders, "PYTHONPATH": str(ROOT)}, store)
    async with (
        server("--project", "shop", "--session", "s1", name="Claude") as claude,
        server("--project", "blog", "--session", "s2", name="Cursor", mode="legacy") as cursor,
        server("--project", "shop", "--session", "s3", name="Codex") as codex,
    ):
        yield {"Claude": claude, "Cursor": cursor, "Codex": codex}


async def test_scopes_isolate_and_share_between_assistants(assistants: Assistants) -> None:
    claude, cursor = assistants["Claude"], assistants["Cursor"]
    for scope in ("global", "project", "session", "shared"):
        await call(claude, "write_memory", key=f"k.{scope}", value=scope, scope=scope)
    for name, seen in {
        "Claude": ["k.global", "k.project", "k.session", "k.shared"],
        "Cursor": ["k.global", "k.shared"],
        "Codex": ["k.global", "k.project", "k.shared"],
    }.items():
        listed = await call(assistants[name], "list_memories", pattern="k.*")
        assert [each["key"] for each in listed["memories"]] == seen
    finding = (await call(cursor, "read_memory", key="k.shared"))["memory"]
    assert (finding["created_by"], finding["scope"]) == ("Claude", "shared")
    assert "Shared: k shared: shared (by Claude)." in (await call(cursor, "smart_resume"))["briefing"]
    assert await call(cursor, "delete_memory", key="k.project") == {"deleted": False}
    await call(cursor, "write_memory", key="k.project", value="of the blog")
    assert await value_of(claude, "k.project") == "project"
    written = await call(claude, "write_memory", key="k.session", value=1)
    assert written["hidden_by"] == "session"


async def test_a_conflicting_write_is_refused_with_the_current_value(assistants: Assistants) -> None:
    claude, cursor = assistants["Claude"], assistants["Cursor"]
    await call(claude, "write_memory", key="plan", value=["a"], scope="shared")
    await call(cursor, "write_memory", key="plan", value=["a", "b"], scope="shared", expectedVersion=1)
    refused = await refusal(
        claude, "write_memory", key="plan", value=["c"], scope="shared", expectedVersion=1
    )
    assert "`plan` is at version 2, not 1. Nothing was written." in refused
    assert 'It has the value ["a", "b"], written by Cursor' in refused
    assert refused.endswith("To replace this value, call `write_memory` again with expectedVersion=2.")
    assert await value_of(claude, "plan") == ["a", "b"]


async def test_two_assistants_that_write_at_once_lose_nothing(assistants: Assistants) -> None:
    """Each adds its own numbers to one list, ten times, and begins anew when the other was faster."""

    async def add(client: Client, name: str) -> None:
        for number in range(10):
            while True:
                memory = (await call(client, "read_memory", key="log"))["memory"]
                known, version = (memory["value"], memory["version"]) if memory else ([], 0)
                arguments = {"key": "log", "value": [*known, f"{name}{number}"], "scope": "shared"}
                result = await client.call_tool("write_memory", {**arguments, "expectedVersion": version})
                if isinstance(result, CallToolResult) and not result.is_error:
                    break

    async with anyio.create_task_group() as tasks:
        for name in ("Claude", "Cursor"):
            tasks.start_soon(add, assistants[name], name)
    log = await value_of(assistants["Codex"], "log")
    assert sorted(log) == sorted(f"{name}{number}" for name in ("Claude", "Cursor") for number in range(10))
    changes = (await call(assistants["Codex"], "read_memory", key="log", history=True))["history"]
    assert [each["version"] for each in changes] == list(range(20, 0, -1))


async def test_a_session_that_ends_is_resumed_by_the_next_one_that_may_only_read(server: Servers) -> None:
    async with server("--project", "shop", name="Claude") as client:
        await call(client, "write_memory", key="current.task", value="修复登录")
        await call(client, "write_memory", key="current.blockers", value=["等小王的密钥"])
        await call(client, "write_memory", key="finding", value="retries need a key", scope="shared")
        await call(client, "write_memory", key="current.step", value="of this session only", scope="session")
        await call(client, "memory_store", content="We use Flutter", type="decision")
    async with server("--project", "shop", "--read-only", name="Cursor") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"read_memory", "list_memories", "smart_resume", "retrieve_memories"} <= names
        assert not names & {"write_memory", "delete_memory", "register_memory"}
        resumed = await call(client, "smart_resume", project_path="shop", max_tokens=100)
        assert resumed == {
            "briefing": "Project shop. By Claude unless named:\nBlocked: 等小王的密钥。\nCurrent task: 修复登录。\n"
            "Decided: We use Flutter.\nShared: finding: retries need a key.",
            "token_count": resumed["token_count"],
        }
        asked = {"include_context": ["current"], "max_tokens": 200}
        resumed = await call(client, "smart_resume", project_path="shop", **asked)
        current = resumed["context"]["current"]
        assert {key: (each["value"], each["by"]) for key, each in current.items()} == {
            "current.blockers": (["等小王的密钥"], "Claude"),
            "current.task": ("修复登录", "Claude"),
        }
        assert list(resumed["context"]) == ["current"]
        for _ in range(2):
            assert (await call(client, "read_memory", key="finding"))["memory"]["access_count"] == 0
