"""Who writes and erases what several see: shared facts, and what colleagues have written."""

import re
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from mcp import Client

from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.domain.change import ChangeFilter, ChangeId, ChangeOrigin, Kind
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType
from memory_server.errors import Conflict, Invalid
from memory_server.project import Project
from tests.rights.conftest import PEOPLE, SHOP, Team
from tests.rights.prey import KEY, OF_SHOP, call, fill, told
from tests.rights.test_matrix import WRITES

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

OWNER = "the owner of the file"
REFUSED = (
    "A shared fact is changed only by the owner of the memory, and by people with all projects or with the right to "
    "shared facts. Nothing was changed."
)


async def share(client: Client, key: str = "deploy.day", value: object = "Tuesday") -> None:
    await call(client, "write_memory", key=key, value=value, scope="shared")


def callers(team: Team) -> dict[str, Caller]:
    return {name: Caller("Claude Code", None, project, person) for name, (person, project) in PEOPLE.items()}


async def test_a_token_of_one_project_reads_shared_facts_and_changes_none(team: Team) -> None:
    async with team(OWNER) as own, team("ana") as ana:
        await share(own)
        await share(own, "gone")
        await call(own, "delete_memory", key="gone", scope="shared")
        before = team.seen(None)
        attempts: tuple[tuple[str, dict[str, Any]], ...] = (
            ("write_memory", {"key": "deploy.day", "value": "never", "scope": "shared"}),
            ("write_memory", {"key": "new", "value": 1, "scope": "shared"}),
            (
                "write_memory",
                {"key": "deploy.day", "value": 1, "scope": "shared", "ttl": 1, "expectedVersion": 1},
            ),
            *(
                ("delete_memory", {"key": key, **scope, **how})
                for key in ("deploy.day", "gone")
                for scope in ({"scope": "shared"}, {})
                for how in ({"purge": True}, {"undo": True})
                if (key, how) != ("deploy.day", {"undo": True})
            ),
            ("delete_memory", {"key": "deploy.day", "scope": "shared"}),
            ("delete_memory", {"key": "deploy.day"}),
        )
        for tool, arguments in attempts:
            assert REFUSED in await told(ana, tool, arguments), (tool, arguments)
        assert team.seen(None) == before
        read = await call(ana, "read_memory", key="deploy.day")
        assert read["memory"]["value"] == "Tuesday"
        team.database.settle()
        assert team.value("SELECT access_count FROM facts WHERE key = 'deploy.day'") == 1


async def test_no_tool_lets_a_token_of_one_project_change_shared_facts_or_erase_what_a_colleague_wrote(
    team: Team,
) -> None:
    """Each attack of the matrix, aimed at shared facts and at what ana has written for the project of both."""
    shared = "SELECT * FROM {} WHERE scope = 'shared' ORDER BY id"
    async with team(OWNER) as own, team("ana") as ana, team("cyn") as cyn:
        prey = await fill(ana)
        for key in ("current.task", "gone", f"own.{KEY}"):
            await share(own, key)
        await call(own, "delete_memory", key="gone", scope="shared")
        team.database.settle()
        before = [team.rows(shared.format(table)) for table in ("facts", "fact_history")]
        aim = replace(
            prey, memory=prey.shop, other=prey.shop_other, merged=prey.shop, deleted=prey.shop_other
        )
        for tool, attack in WRITES.items():
            for arguments in attack(aim):
                scopes = ("shared", "project") if "scope" in arguments else (None,)
                for scope in scopes:
                    await told(cyn, tool, {**arguments, "scope": scope} if scope else arguments)
    assert [team.rows(shared.format(table)) for table in ("facts", "fact_history")] == before
    tables = ("memories", "memory_history", "trash", "facts", "fact_history")
    everything = str([team.rows(f"SELECT * FROM {table}") for table in tables])
    assert [word for word in OF_SHOP[:3] if word not in everything] == []


async def test_a_change_of_a_shared_fact_is_undone_only_by_who_may_change_it(team: Team) -> None:
    async with team(OWNER) as own:
        await share(own)
        await share(own, value="Friday")
    step = ChangeId(ChangeOrigin.FACT_HISTORY, team.value("SELECT max(id) FROM fact_history"))
    for name in ("ana", "eve"):
        caller = callers(team)[name]
        with (
            acting.as_(caller.person),
            nullcontext() if name == "eve" else pytest.raises(Invalid, match=REFUSED),
        ):
            team.services.changes.undo([step], caller)
        assert team.value("SELECT value FROM facts") == ('"Tuesday"' if name == "eve" else '"Friday"')


async def test_people_with_all_projects_or_the_right_to_it_share_facts(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        PEOPLE, "dan", (Person("dan", frozenset({"blog"}), shares=True), Project("blog", "blog"))
    )
    async with team("eve") as eve, team("dan") as dan, team("ana") as ana:
        for number, client in enumerate((eve, dan)):
            await share(client, f"key{number}")
            await share(client, f"key{number}", "another")
            await call(client, "delete_memory", key=f"key{number}", scope="shared")
            await call(client, "delete_memory", key=f"key{number}", scope="shared", undo=True)
        assert {each["value"] for each in (await call(ana, "list_memories", scope="shared"))["memories"]} == {
            "another"
        }


async def test_a_briefing_names_who_shared_a_fact_unless_it_is_the_owner(team: Team) -> None:
    async with team(OWNER) as own, team("eve") as eve, team("ana") as ana:
        await share(own, "deploy.day", "Deploy on Tuesday")
        for number in range(4):  # most of what there is: no author is so usual that it goes without saying
            await share(eve, f"rule{number}", f"Ignore rule {number}")
            await share(eve, f"shared.rule{number}", f"Ignore rule {number + 10}")
            await call(eve, "write_memory", key=f"shared.law{number}", value=f"Ignore rule {number + 20}")
        for client in (own, eve, ana):
            for room in (250, 2000):
                briefing = (await call(client, "smart_resume", max_tokens=room))["briefing"]
                marks = set(re.findall(r"Ignore rule \d+( \(.*?\))?", briefing))
                assert marks == {" (by eve)"}
                assert "Tuesday (by eve" not in briefing
        recalled = await told(ana, "recall", {"query": "Which rule is to be ignored?"})
        assert "shared by eve" in recalled
        read = await call(ana, "read_memory", key="rule1")
        assert read["memory"]["updated_by"] == "eve (Claude Code)"


async def shop(client: Client, text: str = "The till closes at nine") -> int:
    stored = await call(client, "memory_store", content=text, type="decision", project="shop")
    return int(stored["id"])


def refused(answer: dict[str, Any]) -> bool:
    """It was deleted, can be restored, and the answer says that nothing was erased."""
    return (
        answer["deleted"]
        and "undo_until" in answer
        and "purged" not in answer
        and answer["note"].startswith("Deleted, not erased")
    )


async def purge(client: Client, id: int) -> dict[str, Any]:
    return await call(client, "memory_delete", id=id, purge=True)


async def test_only_its_writer_and_the_owner_erase_a_memory(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn, team("eve") as eve, team(OWNER) as own:
        id = await shop(ana)
        for client in (cyn, eve):
            assert refused(await purge(client, id))
            assert refused(await purge(client, id))  # also what lies in the trash already
            restored = await call(ana, "memory_delete", id=id, undo=True)
            assert restored["restored"]["content"] == "The till closes at nine"
        assert (await purge(ana, id))["purged"] is True
        assert "No memory" in await told(ana, "memory_delete", {"id": id, "undo": True})
        id = await shop(ana)
        assert (await purge(own, id))["purged"] is True


async def test_what_several_have_written_only_the_owner_erases(team: Team) -> None:
    """Edited, merged, moved to the one who would erase it, or parted again: a colleague's words are not erased."""
    async with team("ana") as ana, team("cyn") as cyn, team(OWNER) as own:
        edited, merged, moved = (
            await shop(ana),
            await shop(ana, "Bread comes on Fridays"),
            await shop(ana, "Rent is due"),
        )
        await call(cyn, "memory_update", id=edited, content="The till closes at ten")
        assert await shop(cyn, "Bread comes on Fridays") == merged
        await call(cyn, "memory_update", id=moved, project="")
        assert refused(await purge(ana, edited))
        assert refused(await purge(ana, merged))
        for client, id in ((cyn, edited), (cyn, merged), (cyn, moved)):
            assert refused(await purge(client, id))
        owners = await shop(own, "The owner pays the rent")
        assert refused(await purge(ana, owners))


async def test_who_undoes_a_merge_does_not_become_the_writer_of_what_was_merged(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn:
        id = await shop(ana, "Bread comes on Fridays")
        assert await shop(cyn, "Bread comes on Fridays.") == id
        services, caller = team.services, callers(team)["ana"]
        with acting.as_(caller.person):
            wanted = ChangeFilter(undone=True, kind=Kind.MEMORY, item=MemoryId(id))
            (change, *_) = services.changes.select(wanted, 1, caller=Caller()).changes
            assert change.id is not None
            services.changes.undo([change.id], caller)
        parted = team.value("SELECT max(id) FROM memories")
        assert parted != id
        assert refused(await purge(ana, parted))


async def test_a_client_that_calls_itself_by_another_name_erases_nothing(team: Team) -> None:
    """`created_by` has the name that a client gives itself."""
    person, _ = PEOPLE["ana"]
    forger = replace(callers(team)["cyn"], client="x), ana (Claude Code")
    with acting.as_(person):
        stored = team.services.memories.store(
            MemoryDraft("The till closes at nine", MemoryType.DECISION, "shop"), None, callers(team)["ana"]
        )
    with acting.as_(forger.person):
        assert team.services.memories.forget(stored.memory.id, True, forger).refused
    assert team.value("SELECT count(*) FROM trash") == 1
    owner = Caller("ana (Claude Code)", None, SHOP)
    with acting.as_(None):
        stored = team.services.memories.store(
            MemoryDraft("The owner pays the rent", MemoryType.DECISION, "shop"), None, owner
        )
    with acting.as_(person):
        assert team.services.memories.forget(stored.memory.id, True, callers(team)["ana"]).refused


async def test_a_row_from_before_has_no_writer_and_only_the_owner_erases_it(team: Team) -> None:
    async with team("ana") as ana:
        id = await shop(ana)
        await call(ana, "write_memory", key="till", value=9, scope="project")
        for table in ("memories", "facts", "fact_history"):
            team.change(f"UPDATE {table} SET writer = NULL")
        assert refused(await purge(ana, id))
        assert refused(await call(ana, "delete_memory", key="till", scope="project", purge=True))


async def test_a_fact_of_several_people_only_the_owner_erases(team: Team) -> None:
    async with team("ana") as ana, team("cyn") as cyn, team(OWNER) as own:
        where = {"key": "till", "scope": "project"}
        await call(ana, "write_memory", value=9, **where)
        assert refused(await call(cyn, "delete_memory", purge=True, **where))
        assert refused(await call(cyn, "delete_memory", purge=True, **where))
        assert (await call(ana, "delete_memory", undo=True, **where))["restored"]["value"] == 9
        await call(cyn, "write_memory", value=10, **where)
        for client in (ana, cyn):
            assert refused(await call(client, "delete_memory", purge=True, **where))
            await call(client, "delete_memory", undo=True, **where)
        values = [
            each["value"] for each in (await call(ana, "read_memory", key="till", history=True))["history"]
        ]
        assert set(values) == {9, 10}
        await call(cyn, "write_memory", key="till2", value=1, scope="project")
        assert (await call(cyn, "delete_memory", key="till2", scope="project", purge=True))["purged"] is True
        assert (await call(own, "delete_memory", purge=True, **where))["purged"] is True
        assert "was never written" in await told(ana, "read_memory", {"key": "till", "history": True})


async def test_who_shares_facts_erases_only_what_is_wholly_theirs(team: Team) -> None:
    async with team("eve") as eve, team(OWNER) as own:
        await share(own)
        assert refused(await call(eve, "delete_memory", key="deploy.day", scope="shared", purge=True))
        await share(eve, "hers")
        assert (await call(eve, "delete_memory", key="hers", scope="shared", purge=True))["purged"] is True


async def test_a_value_that_expires_takes_no_value_of_somebody_else_with_it(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where it is let go, nor where it was deleted before."""
    ana, cyn = callers(team)["ana"], callers(team)["cyn"]
    facts = team.services.facts
    for key in ("till", "door"):
        with acting.as_(ana.person):
            facts.write(FactDraft(key, "ana says nine"), Scope.PROJECT, ana)
        with acting.as_(cyn.person):
            facts.write(FactDraft(key, "cyn says ten", ttl=1), Scope.PROJECT, cyn)
    with acting.as_(cyn.person):
        facts.delete("door", Scope.PROJECT, cyn)
    two_days_later(team, monkeypatch)
    with acting.as_(None):
        facts.remove_expired()
        team.services.forgetting.purge_due()
    with acting.as_(ana.person):
        for key in ("till", "door"):
            values = [each.value for each in facts.history(key, None, 9, ana).changes]
            assert "ana says nine" in values, key
    with acting.as_(None):
        assert team.rows(
            "SELECT count(*) FROM fact_history WHERE value LIKE '%cyn says%' AND key = 'till'"
        ) == [(0,)]


def two_days_later(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server runs on the next two days: what has expired today can be removed."""
    now = team.database._clock  # type: ignore[attr-defined]
    for days in (1, 2):
        moment = now() + timedelta(days=days)
        monkeypatch.setattr(team.database, "_clock", lambda moment=moment: moment)
        with acting.as_(None), team.database.write() as tx:
            tx.server_days.mark()


STATEMENTS = (
    "INSERT INTO {}facts (scope, key, value, writer) VALUES ('shared', 'x', '1', 'cyn')",
    "UPDATE {}facts SET value = '2', version = 2, writer = 'cyn' WHERE scope = 'shared'",
    "UPDATE {}facts SET expires_at = '2000-01-01T00:00:00.000Z' WHERE scope = 'shared'",
    "DELETE FROM {}facts WHERE scope = 'shared'",
    "UPDATE {}fact_history SET value = '2' WHERE scope = 'shared'",
    "DELETE FROM {}fact_history WHERE scope = 'shared'",
    "DELETE FROM {}fact_history WHERE key = 'till'",
    "DELETE FROM {}memories",
    "DELETE FROM {}trash",
    "UPDATE {}memories SET writer = 'cyn'",
    "UPDATE {}facts SET writer = 'ana' WHERE key = 'own'",
    "UPDATE {}fact_history SET writer = 'cyn' WHERE key = 'till'",
    "UPDATE {}trash SET writer = 'cyn'",
    "INSERT INTO {}memories (content, type, project, writer) VALUES ('x', 'error', 'shop', 'ana')",
    "INSERT INTO {}facts (scope, owner, key, value, writer) VALUES ('project', 'shop', 'x', '1', 'ana')",
)


@pytest.mark.parametrize("statement", STATEMENTS)
async def test_the_database_itself_refuses(team: Team, statement: str) -> None:
    async with team(OWNER) as own, team("ana") as ana, team("cyn") as cyn:
        await share(own)
        await shop(ana)
        await purge(cyn, await shop(ana, "Bread comes on Fridays"))
        await call(ana, "write_memory", key="till", value=9, scope="project")
        await call(cyn, "write_memory", key="own", value=9, scope="global")
    before = team.seen(None)
    cyn_person = PEOPLE["cyn"][0]
    try:
        with acting.as_(cyn_person), team.database.write() as opened:
            tx: Any = opened
            tx.execute(statement.format("main." if team.on_file else ""))
    except (Conflict, Invalid):
        pass
    assert team.seen(None) == before
