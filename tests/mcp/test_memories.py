"""The toolset `memories` as a model calls it: a real process, the official client, both wire eras."""

import json
import re
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.conftest import Servers, call, eventually
from tests.mcp.conftest import in_30_days, refusal

pytestmark = pytest.mark.anyio

NOTE = {"content": "The staging proxy listens on port 8443", "type": "learning"}
FAMILY = "👩‍👩‍👧‍👦"


async def answer(client: Client, tool: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text and the structured facts of one success."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert result.structured_content is not None
    return block.text, result.structured_content


# What each tool answers


async def test_store_answers_the_keys_of_its_contract(client: Client, project: str) -> None:
    stored = await call(client, "memory_store", **NOTE, project=project, importance=7)
    assert stored == {
        "id": stored["id"],
        "type": "learning",
        "importance": 7,
        "project": project,
        "consolidated": False,
        "embeddingQueued": stored["embeddingQueued"],
        "similar": [],
    }
    assert stored["embeddingQueued"] in (True, False)  # True while the embedder is loaded


async def test_importance_is_five_unless_given(client: Client, project: str) -> None:
    assert (await call(client, "memory_store", **NOTE, project=project))["importance"] == 5


async def test_search_answers_the_keys_of_its_contract(client: Client, project: str) -> None:
    stored = await call(client, "memory_store", **NOTE, project=project, tags=["ops", "代理"])
    found = await call(client, "memory_search", query="staging proxy", project=project)
    (hit,) = found["results"]
    assert hit == {
        **NOTE,
        "id": stored["id"],
        "tags": ["ops", "代理"],
        "project": project,
        "created_at": hit["created_at"],
        "score": hit["score"],
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", hit["created_at"])
    assert found["embedder"].startswith("hashing:")


async def test_a_hit_says_only_what_is_not_usual_and_why_it_was_found_when_asked(
    client: Client, project: str
) -> None:
    await call(client, "memory_store", **NOTE, importance=6, project=project)
    asked = {"query": "staging proxy", "project": project}
    (hit,) = (await call(client, "memory_search", **asked))["results"]
    assert sorted(hit) == ["content", "created_at", "id", "importance", "project", "score", "type"]
    (hit,) = (await call(client, "memory_search", **asked, explain=True))["results"]
    assert sorted(hit["why"]) == ["decay", "meaning", "words"]


async def test_the_project_of_the_caller_is_not_named_in_its_hits(server: Servers) -> None:
    async with server("--project", "ledger") as client:
        await call(client, "memory_store", content="The staging proxy is slow", type="error")
        await call(client, "memory_store", content="The staging proxy is old", type="error", project="other")
        found = (await call(client, "memory_search", query="staging proxy"))["results"]
        assert [hit.get("project") for hit in found] == [None, "other"]


async def test_search_shows_when_a_memory_occurred_and_what_else_the_question_asks_for(
    client: Client, project: str
) -> None:
    await call(client, "memory_store", **NOTE, project=project, occurred_at="2023-05-08T14:00:00+02:00")
    asked = "staging proxy in May 2023"
    found = await call(client, "memory_search", query=asked, project=project, explain=True)
    (hit,) = found["results"]
    assert hit["occurred_at"] == "2023-05-08 12:00"
    assert "date" in hit["why"]["also"]
    assert 0 <= hit["score"] <= 1


async def test_search_shows_what_solves_a_hit_inside_it(client: Client, project: str) -> None:
    error = await call(
        client, "memory_store", content="npm install fails with EACCES", type="error", project=project
    )
    text = (
        "The folder belonged to root: take it over with chown, then npm install works as before for all users of "
        "the machine, also for those who log in by ssh and have another home"
    )
    fix = await call(client, "memory_store", content=text, type="learning", project=project)
    await call(client, "graph_connect", sourceId=fix["id"], targetId=error["id"], relation="solves")
    found = await call(client, "memory_search", query="npm install fails with EACCES", project=project)
    assert [hit["id"] for hit in found["results"]] == [error["id"]]
    (linked,) = found["results"][0]["linked"]
    assert (linked["id"], linked["relation"]) == (fix["id"], "solves")
    assert linked["content"].endswith("…")
    assert f"{text} ".startswith(f"{linked['content'].removesuffix('…')} ")


async def test_search_shows_the_part_of_a_long_memory_that_fits(client: Client, project: str) -> None:
    filler = "Nothing of interest happened, and the day went by as others do. "
    content = f"{filler * 60}The staging proxy listens on port 8443. {filler * 60}"
    stored = await call(client, "memory_store", content=content, type="learning", project=project)
    found = await call(client, "memory_search", query="staging proxy port", project=project)
    (hit,) = found["results"]
    assert (hit["id"], hit["part"]) == (stored["id"], "3 of 5")
    assert "The staging proxy listens on port 8443." in hit["content"]
    assert len(hit["content"]) <= 2_200
    (memory,) = (await call(client, "memory_get", ids=[stored["id"]]))["memories"]
    assert memory["content"] == content.strip()


async def test_an_empty_query_lists_the_newest_page_by_page(client: Client, project: str) -> None:
    days = ("2024-02-01", "2024-03-01", "2024-01-01")
    ids = [
        (
            await call(
                client, "memory_store", content=each, type="learning", project=project, occurred_at=each
            )
        )["id"]
        for each in days
    ]

    async def listed(**wanted: Any) -> list[int]:
        found = await call(client, "memory_search", **{"query": "", "project": project, **wanted})
        return [hit["id"] for hit in found["results"]]

    assert await listed() == [ids[1], ids[0], ids[2]]
    assert await listed(query="*", limit=2) == [ids[1], ids[0]]
    assert await listed(limit=2, offset=2) == [ids[2]]
    assert await listed(since="2024-01-15", until="2024-02-15") == [ids[0]]
    assert await listed(type="error") == []


async def test_a_limit_shows_unlikely_memories_too_and_without_one_they_are_left_out(
    client: Client, project: str
) -> None:
    things = (
        "cat",
        "violin",
        "tea",
        "rain",
        "bread",
        "clock",
        "lamp",
        "boat",
        "chess",
        "moss",
        "salt",
        "wool",
    )
    for thing in things:
        await call(
            client,
            "memory_store",
            content=f"Notes on {thing}",
            type="learning",
            project=project,
            session=thing,
        )
    question = {"query": "violin", "project": project}
    likely = (await call(client, "memory_search", **question))["results"]
    assert likely[0]["content"] == "Notes on violin"
    assert all(hit["score"] >= 0.05 for hit in likely[1:])
    every = (await call(client, "memory_search", **question, limit=12))["results"]
    assert len(likely) < len(every) == 12
    assert every[0]["id"] == likely[0]["id"]


async def test_an_answer_says_that_nothing_in_it_is_likely(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content="The cat is grey", type="learning")
        found = await call(client, "memory_search", query="kernel version")
        assert all(hit["score"] < 0.15 for hit in found["results"])
        assert found["note"] == "No memory is likely to answer this."
        assert "note" not in await call(client, "memory_search", query="grey cat")


async def test_get_answers_memories_in_the_order_asked_and_the_ids_that_are_missing(
    client: Client, project: str
) -> None:
    first = await call(client, "memory_store", **NOTE, project=project, metadata={"a": [1, None, "ä"]})
    second = await call(
        client, "memory_store", content="Unrelated: the cat is grey", type="error", project=project
    )
    found = await call(client, "memory_get", ids=[second["id"], 999_999, first["id"], second["id"]])
    assert [memory["id"] for memory in found["memories"]] == [second["id"], first["id"]]
    assert found["missing"] == [999_999]
    memory = found["memories"][1]
    assert memory == {
        **NOTE,
        "id": first["id"],
        "tags": [],
        "project": project,
        "importance": 5,
        "metadata": {"a": [1, None, "ä"]},
        "access_count": 0,
        "created_at": memory["created_at"],
        "updated_at": memory["created_at"],
        "accessed_at": None,
        "created_by": "tests",
    }


async def test_update_answers_the_memory_as_it_is_now(client: Client, project: str) -> None:
    id = (await call(client, "memory_store", **NOTE, project=project, tags=["old"]))["id"]
    changed = {
        "content": "The staging proxy listens on port 9443",
        "type": "decision",
        "tags": ["new"],
        "importance": 9,
        "metadata": {"by": "me"},
    }
    updated = await call(client, "memory_update", id=id, **changed)
    assert {key: updated[key] for key in changed} == changed
    assert updated["earlier"] == [NOTE["content"]]
    (whole,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert whole == updated


async def test_update_leaves_what_is_not_given(client: Client, project: str) -> None:
    id = (await call(client, "memory_store", **NOTE, project=project, tags=["kept"], metadata={"k": 1}))["id"]
    (before,) = (await call(client, "memory_get", ids=[id]))["memories"]
    after = await call(client, "memory_update", id=id, importance=1)
    assert after == {**before, "importance": 1, "updated_at": after["updated_at"]}


async def test_update_to_an_empty_project_tags_and_metadata_empties_them(
    client: Client, project: str
) -> None:
    id = (await call(client, "memory_store", **NOTE, project=project, tags=["a"], metadata={"k": 1}))["id"]
    after = await call(client, "memory_update", id=id, project="", tags=[], metadata={})
    assert (after["project"], after["tags"], after["metadata"]) == (None, [], {})
    assert (await call(client, "memory_delete", id=id))["deleted"] is True


async def test_delete_answers_deleted_and_the_memory_is_gone(client: Client, project: str) -> None:
    id = (await call(client, "memory_store", **NOTE, project=project))["id"]
    deleted = await call(client, "memory_delete", id=id)
    assert deleted == {"deleted": True, "undo_until": in_30_days(deleted)}
    assert await call(client, "memory_get", ids=[id]) == {"memories": [], "missing": [id]}
    assert (await call(client, "memory_search", query="staging proxy", project=project))["results"] == []


async def test_stats_count_by_type_and_project(client: Client, project: str) -> None:
    await call(client, "memory_store", **NOTE, project=project)
    await call(client, "memory_store", content="Unrelated: the cat is grey", type="error", project=project)
    await call(client, "memory_search", query="cat", project=project)
    stats = await call(client, "memory_stats", project=project)
    assert stats == {
        "total": 2,
        "by_type": {"error": 1, "learning": 1},
        "by_project": {project: 2},
        "embeddings": {"embedder": stats["embeddings"]["embedder"], "embedded": 2, "waiting": 0},
        "database_bytes": stats["database_bytes"],
        "since_start": stats["since_start"],
    }
    assert stats["database_bytes"] > 50_000
    assert (await call(client, "memory_stats"))["total"] >= 2


async def test_a_restatement_is_consolidated_and_a_near_miss_is_named(client: Client, project: str) -> None:
    spent = {"type": "observation", "project": project}
    first = await call(client, "memory_store", content="I spent $15.82 at the corner shop", **spent)
    again = await call(client, "memory_store", content="I spent $15.82 at the corner shop!", **spent)
    other = await call(client, "memory_store", content="I spent $24.01 at the corner shop", **spent)
    assert (again["id"], again["consolidated"], again["importance"]) == (first["id"], True, 6)
    assert other["consolidated"] is False
    assert other["similar"] == [
        {"id": first["id"], "content": "I spent $15.82 at the corner shop!", "differs": "15.82 → 24.01"}
    ]


async def test_what_is_stored_in_the_first_second_is_compared_and_told_with_a_later_answer(
    server: Servers,
) -> None:
    old, new = (
        "The gate code of the allotment is 4711",
        "The allotment gate has a new code since Monday: 9034",
    )
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_store", content=old, type="learning")
        stored = await call(client, "memory_store", content=new, type="learning")
        told = [f"m2 may replace m{id} (" for id in stored.get("maybe_supersedes", [])]

        async def is_told() -> bool:
            told.append((await call(client, "memory_stats")).get("note", ""))
            return any("m2 may replace m1 (" in note for note in told)

        await eventually(is_told, "the model is loaded, and the comparison made")
        briefing = await call(client, "smart_resume")
        assert "9034 (may replace m1)" in briefing["briefing"]
        assert "note" not in await call(client, "memory_stats")


async def test_a_fact_that_a_memory_may_replace_is_named_by_its_handle(server: Servers) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "write_memory", key="allotment.gate_code", value="4711")
        await call(
            client, "memory_search", query="the gate"
        )  # waits for the model, and for what is embedded first
        stored = await call(
            client, "memory_store", content="The gate code of the allotment is 9034 now", type="learning"
        )
        assert stored["maybe_supersedes"] == ["f allotment.gate_code"]
        assert [similar["id"] for similar in stored["similar"]] == ["f allotment.gate_code"]
        again = await call(
            client,
            "memory_store",
            content="The gate code of the allotment is 9034 now",
            type="learning",
            supersedes="allotment.gate_code",
        )
        assert "`allotment.gate_code` was read as the fact `f allotment.gate_code`" in again["note"]
        assert (again["id"], again["consolidated"]) == (stored["id"], True)
        assert (await call(client, "read_memory", key="allotment.gate_code"))["memory"] is None


@pytest.mark.parametrize("written", [1, "1", "m1", "[m1]"])
async def test_what_is_superseded_is_named_by_its_id_or_its_handle(client: Client, written: object) -> None:
    old = await call(client, "memory_store", content="Tea at four", type="decision", project=f"tea {written}")
    named = written if isinstance(written, int) else str(written)
    named = old["id"] if isinstance(named, int) else named.replace("1", str(old["id"]))
    new = await call(
        client,
        "memory_store",
        content="Coffee at five",
        type="decision",
        project=f"tea {written}",
        supersedes=named,
    )
    ((read,),) = [(await call(client, "memory_get", ids=[old["id"]]))["memories"]]
    assert read["superseded_by"] == new["id"]


async def test_what_is_no_handle_of_anything_supersedes_nothing(client: Client) -> None:
    text = await refusal(
        client, "memory_store", content="Tea at four", type="decision", supersedes="w standup"
    )
    assert "supersedes: names no memory, fact or turn: write an id, `f KEY` or `t12`" in text


async def test_a_memory_supersedes_another_in_one_call_and_what_may_be_outdated_is_named(
    client: Client, project: str
) -> None:
    rule = {"type": "decision", "project": project}
    old = await call(
        client, "memory_store", content="The gateway of the shop times out after 30 seconds", **rule
    )
    new = await call(
        client, "memory_store", content="The gateway of the shop times out after 60 seconds", **rule
    )
    assert new["maybe_supersedes"] == [old["id"]]
    last = await call(
        client,
        "memory_store",
        content="The gateway of the shop times out after 90 seconds",
        supersedes=new["id"],
        **rule,
    )
    (superseded,) = (await call(client, "memory_get", ids=[new["id"]]))["memories"]
    assert superseded["superseded_by"] == last["id"]
    text = await refusal(client, "memory_store", content="It is unlimited", supersedes=987_654, **rule)
    assert "No memory 987654. Call `recall` to find the id." in text


async def test_where_only_a_part_may_be_outdated_that_part_is_named(client: Client, project: str) -> None:
    priced = {"type": "observation", "project": project}
    at = "At the market in Bonn on Saturdays the rye loaf costs"
    old = await call(client, "memory_store", content=f"{at} 4.20, the spelt loaf costs 4.80", **priced)
    new = await call(client, "memory_store", content=f"{at} 4.60", **priced)
    assert [(similar["id"], similar["part"]) for similar in new["similar"]] == [(old["id"], f"{at} 4.20")]
    assert "maybe_supersedes" not in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The turnover of 2023 was 210,000 euros.", "The turnover of 2024 was 230,000 euros."),
        ("Node 3 of the cluster has 64 GB.", "Node 5 of the cluster has 128 GB."),
    ],
)
async def test_what_is_true_of_two_years_or_two_things_outdates_nothing(
    client: Client, project: str, old: str, new: str
) -> None:
    await call(client, "memory_store", content=old, type="observation", project=project)
    stored = await call(client, "memory_store", content=new, type="observation", project=project)
    assert not stored["consolidated"]
    assert "maybe_supersedes" not in stored
    assert not any("part" in similar for similar in stored["similar"])


async def test_an_update_says_that_another_memory_says_the_same(client: Client, project: str) -> None:
    note = {"type": "learning", "project": project}
    first = await call(client, "memory_store", content="The staging proxy listens on port 8443", **note)
    other = await call(client, "memory_store", content="The lighthouse is closed in winter", **note)
    updated = await call(
        client, "memory_update", id=other["id"], content="The staging proxy listens on port 8443!"
    )
    assert updated["note"] == f"Memory {first['id']} says the same. Delete one of the two."
    assert updated["earlier"] == ["The lighthouse is closed in winter"]


async def test_a_relation_is_written_only_to_a_memory_that_exists(client: Client, project: str) -> None:
    first = await call(client, "memory_store", **NOTE, project=project)
    text = await refusal(
        client, "memory_store", content="It answers", type="error", project=project, relatedTo=987_654
    )
    assert text == "No memory 987654. Call `recall` to find the id."
    await call(
        client, "memory_store", content="It answers", type="error", project=project, relatedTo=first["id"]
    )
    assert (await call(client, "memory_stats", project=project))["total"] == 2


async def test_the_same_facts_come_as_structure_and_as_compact_text_in_utf8(
    client: Client, project: str
) -> None:
    content = "用户身份 café ありがとう 🚀 “quoted” </tag>"
    id = (await call(client, "memory_store", content=content, type="pattern", project=project))["id"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_store", {**NOTE, "project": project}),
        ("memory_search", {"query": "用户身份", "project": project}),
        ("memory_get", {"ids": [id, 999_999]}),
        ("memory_update", {"id": id, "importance": 2}),
        ("memory_stats", {}),
        ("memory_delete", {"id": id}),
    ]
    for tool, arguments in calls:
        text, facts = await answer(client, tool, **arguments)
        assert text == json.dumps(facts, ensure_ascii=False, separators=(",", ":")), tool
        if tool in ("memory_search", "memory_get", "memory_update"):
            assert json.dumps(content, ensure_ascii=False) in text, tool


async def test_filters_narrow_a_search(client: Client, project: str) -> None:
    words = {"content": "proxy port", "project": project}
    ids = [
        (await call(client, "memory_store", **{**words, **each}))["id"]
        for each in (
            {"type": "learning", "tags": ["A"], "importance": 3},
            {"type": "error", "tags": ["b", "c"], "importance": 8},
            {"type": "error", "project": f"{project}/other"},
        )
    ]

    async def found(**wanted: Any) -> set[int]:
        result = await call(client, "memory_search", query="proxy port", **wanted)
        return {hit["id"] for hit in result["results"]} & set(ids)

    assert await found() == set(ids)
    assert await found(project="*") == set(ids)
    assert await found(project=project) == set(ids[:2])
    assert await found(project="") == set()
    assert await found(type="error", project=project) == {ids[1]}
    assert await found(tags=["a"]) == {ids[0]}
    assert await found(tags=["c", "A"]) == set(ids[:2])
    assert await found(minImportance=8, project=project) == {ids[1]}
    assert len(await found(limit=1)) <= 1
    for mode in ("hybrid", "semantic", "keyword"):
        assert await found(mode=mode, project=project, limit=10) == set(ids[:2])


async def test_a_search_counts_one_access_and_reading_counts_none(client: Client, project: str) -> None:
    id = (await call(client, "memory_store", **NOTE, project=project))["id"]
    await call(client, "memory_search", query="staging proxy", project=project)
    await call(client, "memory_get", ids=[id])
    (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["access_count"] == 1
    assert memory["accessed_at"] is not None
    assert memory["updated_at"] == memory["created_at"]


# Limits: at, below and above


def _tags(number: int, length: int = 3) -> list[str]:
    return [f"{i:0{length}}" for i in range(number)]


ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"content": "x"}),
    ("memory_store", {"content": "x" * 100_000}),
    ("memory_store", {"content": "𠮷" * 100_000}),
    ("memory_store", {"content": f"  {'x' * 99_990} \n"}),
    ("memory_store", {"tags": []}),
    ("memory_store", {"tags": _tags(10)}),
    ("memory_store", {"tags": _tags(1, 50)}),
    ("memory_store", {"importance": 1}),
    ("memory_store", {"importance": 10}),
    ("memory_store", {"project": "p" * 200}),
    ("memory_store", {"metadata": {}}),
    ("memory_store", {"metadata": {"a": "x" * (10_000 - len('{"a": ""}'))}}),
    ("memory_store", {"metadata": {"a": "\n" * 4_000}}),
    ("memory_store", {"occurred_at": "2023-05-08"}),
    ("memory_store", {"session": "s" * 200}),
    ("memory_search", {"query": ""}),
    ("memory_search", {"query": " "}),
    ("memory_search", {"query": "*"}),
    ("memory_search", {"query": "x"}),
    ("memory_search", {"query": "x" * 500}),
    ("memory_search", {"limit": 1}),
    ("memory_search", {"limit": 50}),
    ("memory_search", {"offset": 0}),
    ("memory_search", {"offset": 100_000}),
    ("memory_search", {"since": "2023-05-08", "until": "2023-05-09T12:00:00+02:00"}),
    ("memory_search", {"minImportance": 1}),
    ("memory_search", {"minImportance": 10}),
    ("memory_get", {"ids": [1]}),
    ("memory_get", {"ids": list(range(1, 21))}),
    ("memory_get", {"ids": [2**63 - 1]}),
]


def _name(value: object) -> str:
    return next(iter(value), "missing") if isinstance(value, dict) else str(value)[:24]


@pytest.mark.parametrize(("tool", "arguments"), ACCEPTED, ids=_name)
async def test_a_value_at_its_limit_is_accepted(
    client: Client, project: str, tool: str, arguments: dict[str, Any]
) -> None:
    base = {
        "memory_store": {**NOTE, "project": project},
        "memory_search": {"query": "proxy"},
        "memory_get": {},
    }
    await call(client, tool, **{**base[tool], **arguments})


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("memory_store", {"content": ""}, 'content: String should have at least 1 character, got ""'),
    (
        "memory_store",
        {"content": "x", "metadata": {"k": json.loads("[" * 100 + "]" * 100)}},
        "metadata: nested more than 100 levels deep",
    ),
    ("memory_store", {"content": " \n\t"}, 'content: has no visible character, got " \\n\\t"'),
    ("memory_store", {"content": "\u200b\u202e\x00"}, "content: has no visible character"),
    ("memory_store", {"content": "x" * 100_001}, "content: String should have at most 100000 characters"),
    ("memory_store", {"content": "𠮷" * 100_001}, "content: String should have at most 100000 characters"),
    ("memory_store", {"content": None}, "content: missing. `memory_store` needs it."),
    ("memory_store", {"content": ["a", 1]}, "content: must be one text, got 1"),
    ("memory_store", {"content": {}}, "content: must be one text, got {}"),
    ("memory_store", {"content": True}, "content: must be one text, got true"),
    ("memory_store", {"type": "desicion"}, "type: must be one of observation, decision, learning"),
    ("memory_store", {"type": 5}, "type: must be one of"),
    ("memory_store", {"project": "p" * 201}, "project: String should have at most 200 characters"),
    ("memory_store", {"tags": _tags(11)}, "tags: List should have at most 10 items"),
    ("memory_store", {"tags": _tags(1, 51)}, "tags.0: String should have at most 50 characters"),
    ("memory_store", {"tags": ["ok", ""]}, 'tags.1: String should have at least 1 character, got ""'),
    ("memory_store", {"tags": ["\u200b"]}, "tags.0: has no visible character"),
    ("memory_store", {"tags": [["a", "b"]]}, 'tags.0: must be one text, got ["a", "b"]'),
    ("memory_store", {"tags": [None]}, "tags.0: must be one text, got null"),
    ("memory_store", {"tags": {"a": 1}}, 'tags: must be a list, such as ["a", "b"], got {"a": 1}'),
    ("memory_store", {"importance": 0}, "importance: must be a whole number, 1-10, got 0"),
    ("memory_store", {"importance": 20}, "importance: must be a whole number, 1-10, got 20"),
    ("memory_store", {"importance": 10.5}, "importance: must be a whole number, 1-10, got 10.5"),
    ("memory_store", {"importance": True}, "importance: must be a whole number, 1-10, got true"),
    ("memory_store", {"importance": 10**30}, "importance: must be a whole number, 1-10, got 1000"),
    (
        "memory_store",
        {"occurred_at": "some day"},
        "occurred_at: is not a date or time: write 2026-03-14",
    ),
    ("memory_store", {"session": "s" * 201}, "session: String should have at most 200 characters"),
    ("memory_store", {"session": "\u200b"}, "session: has no visible character"),
    ("memory_store", {"relatedTo": 0}, "relatedTo: Input should be greater than or equal to 1, got 0"),
    ("memory_store", {"metadata": "x"}, 'metadata: must be an object, such as {"a": 1}, got "x"'),
    ("memory_store", {"metadata": ["a"]}, 'metadata: must be an object, such as {"a": 1}, got ["a"]'),
    (
        "memory_store",
        {"metadata": {"a": "x" * (10_001 - len('{"a": ""}'))}},
        "metadata: has more than 10,000 characters of JSON",
    ),
    ("memory_search", {"query": None}, "query: missing. `memory_search` needs it."),
    ("memory_search", {"limit": 0}, "limit: must be a whole number, 1-50, got 0"),
    ("memory_search", {"offset": -1}, "offset: must be a whole number, 0-100000, got -1"),
    (
        "memory_search",
        {"offset": 100_001},
        "offset: must be a whole number, 0-100000, got 100001",
    ),
    ("memory_search", {"since": "some week"}, "since: is not a date or time: write 2026-03-14"),
    ("memory_search", {"until": True}, "until: is not a date or time"),
    ("memory_search", {"limit": True}, "limit: must be a whole number, 1-50, got true"),
    (
        "memory_search",
        {"mode": "fuzzy"},
        'mode: must be one of hybrid, semantic, keyword, got "fuzzy"',
    ),
    ("memory_search", {"type": "desicion"}, "type: must be one of"),
    (
        "memory_search",
        {"minImportance": 0},
        "minImportance: must be a whole number, 1-10, got 0",
    ),
    (
        "memory_search",
        {"minImportance": 11},
        "minImportance: must be a whole number, 1-10, got 11",
    ),
    ("memory_get", {"ids": []}, "ids: must be a list of 1-20, such as [12], got []"),
    ("memory_get", {"ids": list(range(1, 22))}, "ids: List should have at most 20 items"),
    ("memory_get", {"ids": [0]}, "ids.0: Input should be greater than or equal to 1, got 0"),
    ("memory_get", {"ids": [2**63]}, "ids.0: Input should be less than or equal to 9223372036854775807"),
    ("memory_get", {"ids": [True]}, "ids.0: must be an id, such as 12, got true"),
    ("memory_get", {"ids": [1.5]}, "ids.0: must be an id, such as 12, got 1.5"),
    ("memory_delete", {"id": None}, "id: missing. `memory_delete` needs it."),
    ("memory_delete", {"id": -1}, "id: Input should be greater than or equal to 1, got -1"),
    ("memory_delete", {"id": 2**63}, "id: Input should be less than or equal to 9223372036854775807"),
    (
        "memory_update",
        {"id": 1, "content": "x" * 100_001},
        "content: String should have at most 100000 characters",
    ),
    ("memory_update", {"id": 1, "tags": _tags(11)}, "tags: List should have at most 10 items"),
    (
        "memory_update",
        {"id": 1, "importance": 0},
        "importance: must be a whole number, 1-10, got 0",
    ),
    ("memory_store", {}, "content: missing. `memory_store` needs it."),
    ("memory_update", {"importance": 3}, "id: missing. `memory_update` needs it."),
    (
        "memory_store",
        {"colour": "red"},
        "colour: unknown argument. There are: content, type, project, tags, importance, relatedTo, supersedes, "
        "metadata, occurred_at, session, ",
    ),
    ("memory_store", {"caller": {}}, "caller: unknown argument."),
    ("memory_store", {"self": 1}, "self: unknown argument."),
    ("memory_stats", {"projct": "a"}, "projct: unknown argument. Did you mean `project`?"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED, ids=_name)
async def test_a_bad_argument_is_refused_in_one_line_that_names_it(
    client: Client, tool: str, arguments: dict[str, Any], message: str
) -> None:
    base: dict[str, dict[str, Any]] = {"memory_store": NOTE, "memory_search": {"query": "proxy"}}
    given = {**base.get(tool, {}), **arguments} if arguments else {"type": "learning"}
    text = await refusal(client, tool, **given)
    line, works = text.splitlines()
    assert line.startswith(message)
    assert len(line) < 400
    assert works.startswith(("This call works", "This call finds the id: "))


async def test_a_refused_memory_is_not_stored(client: Client, project: str) -> None:
    for bad in ({"importance": 20}, {"tags": [""]}, {"relatedTo": 987_654}, {"metadata": "x"}, {"colour": 1}):
        await refusal(client, "memory_store", **{**NOTE, "project": project, **bad})
    assert (await call(client, "memory_stats", project=project))["total"] == 0


async def test_each_bad_field_has_a_line_of_its_own(client: Client) -> None:
    text = await refusal(
        client, "memory_store", type="desicion", importance=20, tags=["", "x" * 51], colour=1
    )
    fields = [line.partition(":")[0] for line in text.splitlines()[:-1]]
    assert fields == ["content", "type", "tags.0", "tags.1", "importance", "colour"]


async def test_null_means_not_given_where_a_parameter_is_optional(client: Client, project: str) -> None:
    optional = dict.fromkeys(["tags", "importance", "relatedTo", "metadata", "occurred_at", "session"])
    stored = await call(client, "memory_store", **NOTE, **optional, project=project)
    assert stored["importance"] == 5
    optional = dict.fromkeys(["type", "tags", "minImportance", "limit", "mode", "since", "until", "offset"])
    found = await call(client, "memory_search", query="staging proxy", project=project, **optional)
    assert [hit["id"] for hit in found["results"]] == [stored["id"]]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_numbers_that_json_has_not_are_refused(client: Client, value: str) -> None:
    text = await refusal(client, "memory_store", **NOTE, metadata=f'{{"a": [{value}]}}')
    assert text.startswith("metadata: contains a number that JSON cannot represent")


async def test_text_and_numbers_beyond_all_measure_are_refused_and_not_a_crash(client: Client) -> None:
    deep = "[" * 900 + "]" * 900
    assert (await refusal(client, "memory_store", **NOTE, tags=deep)).startswith("tags")
    assert (await refusal(client, "memory_store", **NOTE, metadata=f'{{"a": {deep}}}')).startswith("metadata")
    assert (await refusal(client, "memory_store", **NOTE, metadata='{"a": 1' + "0" * 5000 + "}")).startswith(
        "metadata"
    )
    assert (await refusal(client, "memory_store", **NOTE, tags='["a\\ud800"]')).startswith(
        "tags: is not a JSON list"
    )


async def test_unknown_tools_and_ids_are_named_with_what_mends_them(client: Client) -> None:
    assert (await refusal(client, "memory_stor")).startswith(
        "No tool `memory_stor`. Did you mean `memory_store`? There are: recall, forget, memory_store, memory_search"
    )
    assert (await refusal(client, "zzz")).startswith(
        "No tool `zzz`. There are: recall, forget, memory_store, memory_search"
    )
    expected = "No memory 999999. Call `recall` to find the id."
    assert await refusal(client, "memory_update", id=999_999, importance=3) == expected
    assert (
        await refusal(client, "memory_delete", id=999_999)
        == "No memory 999999. Call `recall` to find the id."
    )
    assert (
        await refusal(client, "memory_update", id=1)
        == "Nothing to update. Give at least one of content, type, tags, importance, project, metadata."
    )


# Arguments that come as JSON text, and text that looks like JSON


async def test_lists_and_objects_sent_as_json_text_are_accepted(client: Client, project: str) -> None:
    stored = await call(
        client, "memory_store", **NOTE, project=project, tags='["a", "b"]', metadata='{"k": {"n": 1.5}}'
    )
    found = await call(client, "memory_get", ids=f"[{stored['id']}]")
    assert (found["memories"][0]["tags"], found["memories"][0]["metadata"]) == (["a", "b"], {"k": {"n": 1.5}})


@pytest.mark.parametrize("content", ['{"a": 1}', '["a"]', "75000", "true", '"quoted"'])
async def test_content_that_looks_like_json_stays_text(client: Client, project: str, content: str) -> None:
    id = (await call(client, "memory_store", content=content, type="pattern", project=project))["id"]
    (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["content"] == content


async def test_a_query_that_looks_like_json_is_searched_as_text(client: Client, project: str) -> None:
    id = (await call(client, "memory_store", content='{"port": 8443}', type="pattern", project=project))["id"]
    for query in ('{"port": 8443}', "8443", '["port"]'):
        found = await call(client, "memory_search", query=query, project=project, mode="keyword")
        assert [hit["id"] for hit in found["results"]] == [id], query


# Secrets

SECRETS = {
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE",
    "an API key (sk-…)": "sk-" + "proj-" + "aB3xK9mQ2vLw" * 3,
    "a GitHub token": "ghp" + "_" + "a1B2" * 9,
    "an AWS access key": "AKIA" + "QWZXCVBM48271935",
    "a Slack token": "xoxb" + "-4829173650-a7Kd92",
    "a Google API key": "AIza" + "bC4dE" * 7,
    "a JSON web token": "eyJ" + "hbGciOiJIUzI1" + ".eyJ" + "zdWIiOiIxMjM0" + ".SflKxwRJSMeKKF2QT4",
}
"""Built of pieces, so that no scanner takes this file for a leak."""


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (kind, place)
        for kind, secret in SECRETS.items()
        for place in ("content", "tags", "metadata")
        if place != "tags" or len(secret) <= 50
    ],
)
async def test_what_looks_like_a_credential_is_refused_wherever_it_stands(
    client: Client, project: str, kind: str, place: str
) -> None:
    secret = SECRETS[kind]
    values: dict[str, Any] = {
        "content": f"login: {secret}",
        "tags": [secret],
        "metadata": {"deep": [{"k": secret}]},
    }
    text = await refusal(client, "memory_store", **{**NOTE, "project": project, place: values[place]})
    assert text.startswith(f"This seems to contain {kind}, and every assistant can read a memory.")
    assert "--allow-secrets" in text
    assert secret not in text
    id = (await call(client, "memory_store", **NOTE, project=project))["id"]
    assert kind in await refusal(client, "memory_update", id=id, **{place: values[place]})
    (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["content"] == NOTE["content"]


@pytest.mark.parametrize("kind", SECRETS)
async def test_a_credential_is_seen_through_characters_that_are_not_kept(client: Client, kind: str) -> None:
    hidden = "\u200b".join(SECRETS[kind])
    assert kind in await refusal(client, "memory_store", content=hidden, type="learning")


async def test_ordinary_text_is_not_taken_for_a_credential(client: Client, project: str) -> None:
    for content in (
        "The branch is sk-fix-the-login-redirect-on-safari",
        "Ask the disk-usage-exporter-of-the-cluster",
        "Rotate the key AKIA… in the vault, the ghp_ token too",
        "The header begins with eyJ and has two dots: a.b.c",
        "The file starts with -----BEGIN PUBLIC KEY-----",
    ):
        await call(client, "memory_store", content=content, type="learning", project=project)


async def test_secrets_are_kept_where_the_user_allows_it(server: Servers) -> None:
    async with server("--allow-secrets") as client:
        for kind, secret in SECRETS.items():
            id = (await call(client, "memory_store", content=f"{kind}: {secret}", type="learning"))["id"]
            (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
            assert secret in memory["content"]


# Characters that a reader cannot see


async def test_characters_that_a_reader_cannot_see_are_stripped_on_write(
    client: Client, project: str
) -> None:
    hidden = "\x00\x07\x1b\x7f\x85\u200b\u200e\u202e\u2066\ufeff\U000e0041\u00ad"
    stored = await call(
        client,
        "memory_store",
        content=f"{hidden}vis{hidden}ible{hidden}",
        type="learning",
        project=f"{project}{hidden}",
        tags=[f"t{hidden}ag", "tag"],
        metadata={f"k{hidden}": [f"v{hidden}"]},
    )
    (memory,) = (await call(client, "memory_get", ids=[stored["id"]]))["memories"]
    assert (memory["content"], memory["project"]) == ("visible", project)
    assert (memory["tags"], memory["metadata"]) == (["tag"], {"k": ["v"]})
    updated = await call(client, "memory_update", id=stored["id"], content=f"no{hidden}w")
    assert updated["content"] == "now"


async def test_line_ends_tabs_and_joined_emoji_survive(client: Client, project: str) -> None:
    content = f"a\tb\r\nc\rd\n{FAMILY} 1️⃣ ❤️ می‌خواهم क्‍ष"
    id = (await call(client, "memory_store", content=content, type="learning", project=project))["id"]
    (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["content"] == f"a\tb\nc\nd\n{FAMILY} 1️⃣ ❤️ می‌خواهم क्‍ष"
    found = await call(client, "memory_search", query=FAMILY, project=project)
    assert [hit["id"] for hit in found["results"]] == [id]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("你\u200c\u200d\u200c好", "你好"),
        ("a\u200db", "ab"),
        ("é\u200d\u200dé", "éé"),
        ("👍\ufe0f\ufe01\U000e0155\U000e0156", "👍\ufe0f"),
        ("ok\U000e0155\ufe00", "ok"),
        ("e\u0301", "é"),
        ("か\u3099", "が"),
        ("한글", "한글"),
    ],
)
async def test_rows_of_joiners_and_selectors_hide_nothing_and_accents_are_composed(
    client: Client, project: str, written: str, kept: str
) -> None:
    text = f"Seen: {written}."
    id = (await call(client, "memory_store", content=text, type="learning", project=project))["id"]
    (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["content"] == f"Seen: {kept}."


# Who writes


async def test_the_writer_is_the_clients_own_name(module_server: Servers, era: str) -> None:
    async with module_server(mode=era, name="Claude 克劳德") as client:
        id = (await call(client, "memory_store", content=f"Written in {era}", type="learning"))["id"]
        (memory,) = (await call(client, "memory_get", ids=[id]))["memories"]
    assert memory["created_by"] == "Claude 克劳德"
