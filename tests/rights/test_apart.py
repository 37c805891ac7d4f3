"""What several people do in one file beside each other."""

import os
import re
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import Client

from memory_server import app
from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.domain.digest import Note, NoteKind
from memory_server.domain.digest import groups as digested
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.token import TokenDraft
from memory_server.services.meaning import Meaning
from memory_server.services.tokens import TokenService
from memory_server.settings import Settings
from memory_server.sqlite import candidates, sign_bits
from memory_server.sqlite.embeddings import Embeddings
from memory_server.storage import peers
from memory_server.storage.vectors import Effort
from memory_server.transfer.importing import Source
from tests.conftest import eventually, file_of
from tests.rights.conftest import PEOPLE, Team
from tests.rights.prey import HUNT, call, fill, told

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

TEXT = "The kettle is descaled on the first of each month"


async def store(client: Client, text: str = TEXT, project: str = "", **more: object) -> dict[str, object]:
    return await call(client, "memory_store", content=text, type="decision", project=project, **more)


async def test_the_same_said_by_two_people_stays_two_memories(team: Team) -> None:
    async with team("ana") as ana, team("bob") as bob, team("the owner of the file") as own:
        ids = set()
        for client in (ana, bob, own):
            stored = await store(client)
            assert (stored["consolidated"], stored["similar"]) == (False, [])
            ids.add(stored["id"])
            assert (await store(client))["consolidated"] is True
            close = await store(client, TEXT.replace("first", "seventh"))
            assert close["consolidated"] is False
            assert [each["id"] for each in close["similar"]] == [stored["id"]]  # type: ignore[attr-defined]
        assert len(ids) == 3
        for client, name in ((ana, "ana"), (bob, "bob")):
            found = await call(client, "memory_search", query="kettle", limit=50)
            assert len(found["results"]) == 2
            (whole,) = (await call(client, "memory_get", ids=[found["results"][0]["id"]]))["memories"]
            assert whole["created_by"] == f"{name} (Claude Code)"


async def test_what_is_said_of_a_project_is_joined_whoever_says_it(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn:
        stored = await store(ana, project="shop")
        assert await store(cyn, project="shop") == {
            **stored,
            "consolidated": True,
            "importance": 6,
            "embeddingQueued": False,
        }


async def test_each_has_a_conversation_and_keys_of_the_same_names(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn, team("the owner of the file") as own:
        for client, value in ((ana, 1), (cyn, 2), (own, 3)):
            for scope in ("global", "session"):
                await call(client, "write_memory", key="current.task", value=value, scope=scope)
            said = [
                {
                    "role": "user",
                    "content": f"number {value} likes orchids",
                    "timestamp": "2026-01-05T10:00:00Z",
                }
            ]
            await call(client, "add_short_term_memory", messages=said, conversation_id="default")
            await call(
                client,
                "add_long_term_memory",
                name="n",
                prompt=f"p{value}",
                trigger="true",
                conversation_id="default",
            )
        for client, value in ((ana, 1), (cyn, 2), (own, 3)):
            for scope in ("global", "session"):
                read = await call(client, "read_memory", key="current.task", scope=scope)
                assert (read["memory"]["value"], read["memory"]["version"]) == (value, 1)
            assert (await call(client, "get_memory_context", name="n", conversation_id="default"))[
                "prompt"
            ] == f"p{value}"
            shown = await call(
                client,
                "delete_short_term_memories",
                pattern="orchids",
                conversation_id="default",
                dry_run=True,
            )
            assert shown["would_delete"] == 1
        assert (await call(ana, "get_memory_stats"))["by_conversation"] == {"default": 1}


async def test_what_one_has_used_is_no_use_of_another_whose_session_is_named_alike(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn, team("the owner of the file") as own:
        id = (await store(ana, project="shop"))["id"]
        uses = {}
        for client, name in ((ana, "ana"), (cyn, "cyn"), (own, "the owner")):
            await call(client, "memory_search", query="kettle")
            await call(client, "memory_update", id=id, importance=7)
            with acting.as_(None):
                team.database.settle()
                uses[name] = team.rows("SELECT person, how FROM memory_uses ORDER BY id")
        assert uses["ana"] == [("ana", "called")]
        assert uses["cyn"] == [("ana", "called"), ("cyn", "called")]
        assert uses["the owner"] == [("ana", "called"), ("cyn", "called"), (None, "called")]
        for name, used in (("ana", 1), ("cyn", 1), ("eve", 0)):
            with acting.as_(PEOPLE[name][0]):
                assert [each.uses.used for each in team.services.learning.learnt(9)] == [1] * used


async def test_a_project_that_one_does_not_have_is_refused_whether_it_exists_or_not(team: Team) -> None:
    async with team("ana") as ana, team("bob") as bob:
        await store(ana, project="shop")
        answers = [
            (await told(bob, tool, {**arguments, "project": project})).replace(project, "X")
            for project in ("shop", "nowhere")
            for tool, arguments in (
                ("memory_store", {"content": TEXT, "type": "error"}),
                ("memory_search", {"query": "kettle"}),
                ("memory_stats", {}),
            )
        ]
        assert "You have no project `X`" in answers[0]
        assert answers[:3] == answers[3:]
        assert team.value("SELECT count(*) FROM projects") == 1


async def test_a_memory_that_is_moved_belongs_to_where_it_is(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn:
        id = (await store(ana))["id"]
        assert (await call(cyn, "memory_get", ids=[id]))["missing"] == [id]
        await call(ana, "memory_update", id=id, project="shop")
        assert (await call(cyn, "memory_get", ids=[id]))["memories"][0]["content"] == TEXT
        await call(cyn, "memory_update", id=id, project="")
        assert (await call(ana, "memory_get", ids=[id]))["missing"] == [id]
        assert team.value("SELECT person FROM memories WHERE id = ?", id) == "cyn"
        assert team.value("SELECT count(*) FROM memories") == 1
        with acting.as_(None):
            assert team.database.problems() == []


async def test_what_is_somebodys_own_does_not_hide_what_others_see(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn:
        shop = (await store(ana, "The till closes at nine", "shop"))["id"]
        own = (await store(ana))["id"]
        for tool, arguments in (
            ("graph_connect", {"sourceId": own, "targetId": shop, "relation": "supersedes"}),
            ("graph_connect", {"sourceId": shop, "targetId": own, "relation": "supersedes"}),
            (
                "memory_store",
                {"content": "It closes at ten", "type": "error", "project": "", "supersedes": shop},
            ),
        ):
            assert "one is somebody's own, the other is not" in await told(ana, tool, arguments)
        assert "closes at nine" in await told(cyn, "smart_resume", {"max_tokens": 2000})
        await call(ana, "graph_connect", sourceId=own, targetId=shop, relation="solves")
        assert str(own) not in str((await call(cyn, "graph_explore", memoryId=shop))["nodes"][1:])


async def test_an_edge_to_what_one_does_not_see_outlives_a_deletion(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn:
        shop, own = (await store(ana, "The till closes at nine", "shop"))["id"], (await store(ana))["id"]
        await call(ana, "graph_connect", sourceId=own, targetId=shop, relation="solves")
        await call(cyn, "memory_delete", id=shop)
        await call(cyn, "memory_delete", id=shop, undo=True)
        assert len((await call(ana, "graph_explore", memoryId=own))["edges"]) == 1


async def test_who_has_little_among_much_finds_it(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others have is left out before anything is cut: of words, of vectors, of the bits in the process."""
    async with team("bob") as bob, team("ana") as ana:
        for number in range(3):
            await store(bob, f"{HUNT} {number} of bob likes tea", occurred_at="2020-01-01T00:00:00Z")
        with acting.as_(None), file_of(team.database).write() as tx:
            for number in range(60):
                tx.execute(
                    "INSERT INTO main.memories (content, type, person) VALUES (?, 'decision', 'ana')",
                    (f"{HUNT} {number}",),
                )
        team.embed()
        monkeypatch.setattr(candidates, "MOST_ROWS", 20)
        monkeypatch.setattr(peers, "COUNTED", 5)
        monkeypatch.setattr(Embeddings.nearest, "__defaults__", (Effort(10, 20, 1),))
        for held in (10, 10_000):
            monkeypatch.setattr(sign_bits, "HELD_FROM", held)
            for mode in ("keyword", "semantic", "hybrid"):
                found = await call(bob, "memory_search", query=HUNT, mode=mode, limit=50)
                assert len(found["results"]) == 3, (held, mode)
                found = await call(ana, "memory_search", query=HUNT, mode=mode, limit=50)
                assert len(found["results"]) >= 20, (held, mode)
        assert (await store(bob, f"{HUNT} 1 of bob likes tea"))["consolidated"] is True


def test_the_bits_in_the_process_show_what_the_file_shows(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acting.as_(None), file_of(team.database).write() as tx:
        for number in range(120):
            project = ("shop", "blog", None)[number % 3]
            person = ("ana", "bob", None)[number % 5 % 3]
            tx.execute(
                "INSERT INTO main.memories (content, type, project, person) VALUES (?, 'error', ?, ?)",
                (f"number {number} of many", project, person),
            )
    team.embed()
    monkeypatch.setattr(sign_bits, "HELD_FROM", 10)
    queue, few = team.services.queue, Effort(5, 400, 8)
    for each in (None, *(person for person, _ in PEOPLE.values())):
        with acting.as_(each):
            meaning = queue.meaning(["number 7 of many"], False, 5.0)
            assert isinstance(meaning, Meaning)
            with file_of(team.database).read() as tx:
                for project in (None, "shop", ""):
                    asked = (Embedded.MEMORIES, meaning.space_id, meaning.vectors[0], Filter(project=project))
                    held = tx.embeddings.nearest(*asked, 200, few)
                    assert held == replace(tx, copies=None).embeddings.nearest(*asked, 200, few)
                    seen = tx.rows(
                        "SELECT id FROM memories WHERE :project IS NULL OR ifnull(project, '') = :project",
                        {"project": project},
                    )
                    assert set(held) == {id for (id,) in seen}
                    of_days = tx.embeddings.nearest_within(*asked[1:], "2000-01-01", "2999-01-01", 200)
                    assert of_days == held


def test_what_is_somebodys_own_is_digested_for_nobody_else() -> None:
    places = [(person, session) for person in ("ana", "bob", None) for session in ("s", None)] * 6
    notes = [
        Note(
            NoteKind.TURN,
            number,
            "The lamp was trimmed today",
            "2026-01-01T00:00:00Z",
            "shop",
            session,
            person=person,
        )
        for number, (person, session) in enumerate(places)
    ]
    found = digested(notes, "2026-06-01T00:00:00Z")
    assert len(found) == 6
    assert all(len({each.person for each in group}) == 1 for group in found)


async def test_a_client_hears_of_changes_that_its_person_sees(team: Team) -> None:
    heard: list[str] = []

    async def hear(client: Client) -> None:
        watched = ["memory://recent"]
        async with client.listen(resources_list_changed=True, resource_subscriptions=watched) as events:
            async for event in events:
                heard.append(type(event).__name__)

    async with team("bob") as bob, team("ana") as ana, anyio.create_task_group() as tasks:
        tasks.start_soon(hear, bob)
        await eventually(lambda: _listening(team), "bob listens")
        await store(ana)
        await store(ana, "The shop is new", "shop")
        await anyio.sleep(0.05)
        assert heard == []
        await store(bob, "The blog is new", "blog")
        await eventually(lambda: _heard(heard, 2), "bob hears of it")
        tasks.cancel_scope.cancel()


async def _listening(team: Team) -> bool:
    return bool(team.server._changes._streams)


async def _heard(heard: list[str], number: int) -> bool:
    return len(heard) >= number


async def test_who_reads_only_is_refused_and_changes_nothing(team: Team) -> None:
    async with team("ana") as ana:
        prey = await fill(ana)
    with acting.as_(None):
        team.database.settle()
    async with team("max") as reader:
        before = team.seen(None)
        assert "may only read" in await told(reader, "memory_delete", {"id": prey.shop})
        assert "may only read" in await told(reader, "memory_store", {"content": TEXT, "type": "error"})
        assert "rambutan1" in await told(reader, "memory_search", {"query": HUNT})
        with acting.as_(None):
            team.database.settle()
        assert team.seen(None) == before


async def test_an_export_keeps_whose_everything_is(team: Team, tmp_path: Path) -> None:
    async with team("ana") as ana:
        await fill(ana)
    team.embed()
    other = app.build(Settings(db=tmp_path / "other.db", embedder="hashing"))
    with acting.as_(None), team.services.exports.records(None, Caller()) as records:
        kept = list(records)
        done = other.imports.take(Source("memory-server", lambda: iter(kept)), None, Caller())
        assert (done.refused, done.conflicts) == ([], [])
        again = other.imports.take(Source("memory-server", lambda: iter(kept)), None, Caller())
    assert {str(outcome) for counts in again.counts.values() for outcome in counts} <= {"present", "deleted"}
    for name in ("ana", "cyn", "bob"):
        person = PEOPLE[name][0]
        tables = (
            "memories",
            "turns",
            "facts",
            "conversations",
            "short_term_memories",
            "long_term_memories",
            "open_questions",
            "memory_uses",
        )
        for table in tables:
            found = []
            for services in (team.services, other):
                with acting.as_(person):
                    found.append(Team(services, team.server, {}).rows(f"SELECT count(*) FROM {table}"))
            assert found[0] == found[1], (name, table)
    with acting.as_(None):
        for table in ("memories", "facts", "fact_history"):
            counted = f"SELECT writer, count(*) FROM {table} GROUP BY writer"
            here, there = (
                Team(services, team.server, {}).rows(counted) for services in (team.services, other)
            )
            assert here == there
            assert "ana" in dict(here)
    other.close()


async def test_the_conversations_and_tokens_that_people_have_of_a_project_follow_its_name(team: Team) -> None:
    async with team("ana") as ana:
        await fill(ana)
    with acting.as_(None):
        draft = TokenDraft("ana", ("blog", "shop"), False, None)
        TokenService(team.database, os.urandom).add(draft, Caller())
        team.services.projects.rename("shop", "store")
        names = [name for (name,) in team.rows("SELECT name FROM conversations")]
        with team.database.read() as tx:
            assert [each.projects for each in tx.tokens.select()] == [("blog", "store")]
    assert "ana\x1fproject:store" in names
    assert not [name for name in names if re.search("project:shop", name)]
    with acting.as_(Person("ana")):
        assert team.rows("SELECT count(*) FROM short_term_memories") == [(3,)]
