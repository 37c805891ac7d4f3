"""Projects through real servers: repositories of one name, clones, moved folders, folders without git; the command."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests import warm
from tests.conftest import Servers, Sqlite, call, damage, eventually

pytestmark = pytest.mark.anyio

SECRET = "S3cr3t" + "tok3n"
SAID = [
    {"role": "user", "content": "the zebra escaped from the harbour", "timestamp": "2026-01-02T03:04:05Z"}
]
Command = Callable[..., tuple[int, str]]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60, env=env
    )


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """Makes a repository at a path, with this remote or with none."""

    def make(path: str, remote: str | None = None) -> Path:
        folder = tmp_path.resolve() / path
        folder.mkdir(parents=True)
        git(folder, "init")
        git(folder, "commit", "--allow-empty", "-m", "first")
        if remote is not None:
            git(folder, "remote", "add", "origin", remote)
        return folder

    return make


@pytest.fixture
def command(server: Servers) -> Command:
    """Runs `memory-server projects …` in a folder: its exit code and what it says."""

    def run(cwd: Path, *arguments: str) -> tuple[int, str]:
        program = warm.program("--db", str(server.db), "--embedder", "hashing", "projects", *arguments)
        done = subprocess.run(
            program, env={**os.environ, **server.env}, cwd=cwd,
            capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, (done.stdout + done.stderr).strip()

    return run


async def fill(client: Client, mark: str) -> None:
    """One of each kind, without a word on the project."""
    await call(client, "memory_store", content=f"{mark} deploys with Helm", type="decision", importance=9)
    await call(client, "write_memory", key="current.task", value=f"task of {mark}")
    await call(
        client, "register_memory", message=f"{mark}: the salary of Ann is 75000", summary=f"wages {mark}"
    )
    await call(client, "add_short_term_memory", messages=SAID)
    await call(
        client,
        "add_long_term_memory",
        name=f"of {mark}",
        prompt="p",
        trigger="match_keys(messages, ['zebra'])",
    )


async def seen(client: Client) -> dict[str, Any]:
    """What a session of each kind finds first, without a word on the project."""
    task = (await call(client, "read_memory", key="current.task")).get("memory")
    resumed = (await call(client, "smart_resume"))["briefing"]
    woken = (await call(client, "search_long_term_memories", messages=SAID))["activated"]
    stats = await call(client, "search_short_term_memories", recentMessages=SAID)
    turns = (await call(client, "retrieve_memories", query="salary of Ann", limit=1))["memories"]
    memories = (await call(client, "memory_search", query="deploys with Helm", limit=1))["results"]
    return {
        "task": task and task["value"],
        "project": resumed.splitlines()[0].partition(" Noted")[0],
        "briefing": sorted(mark for mark in ("acme", "other", "mine") if f"{mark} deploys" in resumed),
        "woken": sorted(each["name"] for each in woken),
        "said": len(stats["top"]),
        "turn": turns[0]["summary"] if turns else None,
        "memory": memories[0]["content"] if memories else None,
    }


def all_of(mark: str, name: str) -> dict[str, Any]:
    return {
        "task": f"task of {mark}", "project": f"Project {name}.", "briefing": [mark], "woken": [f"of {mark}"],
        "said": 1, "turn": f"wages {mark}", "memory": f"{mark} deploys with Helm",
    }  # fmt: skip


@pytest.mark.both_stores
async def test_two_repositories_of_one_name_are_two_projects(
    server: Servers, repository: Callable[..., Path], era: str
) -> None:
    acme = repository("acme/app", "https://github.com/acme/app.git")
    other = repository("other/app", "https://github.com/other/app.git")
    async with server(cwd=acme, mode=era) as one, server(cwd=other, mode=era) as two:
        await fill(one, "acme")
        await fill(two, "other")
        assert await seen(one) == all_of("acme", "app")
        assert await seen(two) == all_of("other", "other/app")
        for name, mark in (("app", "acme"), ("other/app", "other")):
            found = await call(two, "memory_search", query="", project=name)
            assert [each["content"] for each in found["results"]] == [f"{mark} deploys with Helm"]
        hits = (await call(two, "memory_search", query="deploys with Helm"))["results"]
        shown = {hit["content"].split()[0]: hit.get("project") for hit in hits}
        assert shown == {
            "other": None,
            "acme": "app",
        }  # its own need no name, though its folder is called app too
        assert (await call(one, "memory_stats"))["by_project"] == {"app": 1, "other/app": 1}
    assert damage(server.db) == []


async def test_one_question_to_everything_is_answered_from_the_project_that_is_asked(
    server: Servers, repository: Callable[..., Path]
) -> None:
    acme = repository("acme/app", "https://github.com/acme/app.git")
    other = repository("other/app", "https://github.com/other/app.git")
    async with server(cwd=acme) as one, server(cwd=other) as two:
        await fill(one, "acme")
        await fill(two, "other")
        for arguments, mark in (({}, "other"), ({"project": "app"}, "acme")):
            found = await call(two, "recall", query="What is the current task?", kinds=["fact"], **arguments)
            assert f"task of {mark}" in found["answer"]
            assert len(found["answer"].splitlines()) == 1
            said = await call(two, "recall", query="Did a zebra escape?", kinds=["short_term"], **arguments)
            assert said["answer"].endswith({"acme": "[s1]", "other": "[s2]"}[mark])
        woken = await call(two, "recall", query="zebra", messages=SAID, kinds=["woken"])
        assert woken["answer"].endswith("[w of other]")


async def test_two_clones_of_one_remote_and_a_worktree_are_one_project(
    server: Servers, repository: Callable[..., Path], tmp_path: Path
) -> None:
    one = repository("here/app", f"https://me:{SECRET}@github.com/Acme/app.git")
    two = repository("there/checkout", "git@github.com:acme/app")
    git(two, "worktree", "add", str(tmp_path / "tree"))
    async with server(cwd=one) as first:
        await fill(first, "acme")
        async with server(cwd=two) as second, server(cwd=tmp_path / "tree") as third:
            for client in (first, second, third):
                assert await seen(client) == all_of("acme", "app")
    assert SECRET.encode() not in server.db.read_bytes()
    assert b"github.com/acme/app" in server.db.read_bytes()


async def test_a_moved_folder_is_the_same_project_also_while_its_server_runs(
    server: Servers, repository: Callable[..., Path], tmp_path: Path, sqlite: Sqlite
) -> None:
    folder = repository("app", "https://github.com/acme/app.git")
    async with server(cwd=folder) as before:
        await fill(before, "acme")
        folder.rename(tmp_path / "renamed")
        async with server(cwd=tmp_path / "renamed") as after:
            assert await seen(after) == await seen(before) == all_of("acme", "app")

            async def is_noted() -> bool:
                return sqlite(server.db, "SELECT folder FROM projects") == str(tmp_path.resolve() / "renamed")

            await eventually(is_noted, "the start has noted where the project is")


async def test_a_folder_without_git_is_a_project_by_its_path(
    server: Servers, tmp_path: Path, sqlite: Sqlite
) -> None:
    mine, other = tmp_path.resolve() / "mine" / "app", tmp_path.resolve() / "other" / "app"
    for folder in (mine, other):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(mine)
    async with server(cwd=mine) as one, server(cwd=other) as two, server(cwd=tmp_path / "link") as linked:
        await fill(one, "mine")
        await fill(two, "other")
        assert await seen(one) == await seen(linked) == all_of("mine", "app")
        assert await seen(two) == all_of("other", "other/app")
    keys = sqlite(server.db, "SELECT name, known_by FROM readable_projects ORDER BY name").splitlines()
    assert keys == [f"app|{mine}", f"other/app|{other}"]


async def test_a_project_of_a_name_is_that_of_a_folder_of_this_name(
    server: Servers, repository: Callable[..., Path]
) -> None:
    folder = repository("app", "https://github.com/acme/app.git")
    async with server("--project", "app", cwd=folder.parent) as named:
        await fill(named, "acme")
        async with server(cwd=folder) as there:
            assert await seen(there) == await seen(named) == all_of("acme", "app")


async def test_a_person_without_a_project_has_what_is_theirs_everywhere(
    server: Servers, repository: Callable[..., Path], user_folders: dict[str, str]
) -> None:
    home = Path(user_folders["HOME"])
    async with server(cwd=home) as nowhere, server(cwd=repository("app")) as there:
        await call(nowhere, "memory_store", content="Ann prefers tabs", type="preference", importance=10)
        await call(there, "memory_store", content="Ann likes short answers", type="preference", project="")
        await call(
            nowhere, "add_long_term_memory", name="n", prompt="p", trigger="match_keys(messages, ['zebra'])"
        )
        for client in (nowhere, there):
            found = (await call(client, "memory_search", query="What does Ann like?"))["results"]
            assert {each.get("project") for each in found} == {None}
            assert len(found) == 2
            assert [each["name"] for each in (await seen_woken(client))] == ["n"]


async def seen_woken(client: Client) -> list[dict[str, Any]]:
    return list((await call(client, "search_long_term_memories", messages=SAID))["activated"])


async def test_an_unknown_project_is_told_with_the_nearest_name(
    server: Servers, repository: Callable[..., Path]
) -> None:
    async with server(cwd=repository("ledger")) as client:
        await fill(client, "mine")
        note = "Nothing is stored of a project `legder`. Did you mean `ledger`?"
        for tool, arguments in {
            "recall": {"query": "Helm", "project": "legder"},
            "memory_search": {"query": "Helm", "project": "legder"},
            "retrieve_memories": {"query": "salary", "project": "legder"},
            "memory_stats": {"project": "legder"},
            "smart_resume": {"project_path": "legder"},
        }.items():
            assert (await call(client, tool, **arguments))["note"] == note
            arguments = {**arguments, "project" if "project" in arguments else "project_path": "LEDGER"}
            assert "note" not in await call(client, tool, **arguments)


# The command, while servers hold the file


async def test_the_command_lists_the_projects_and_tells_that_of_this_folder(
    server: Servers, repository: Callable[..., Path], command: Command, tmp_path: Path
) -> None:
    acme = repository("acme/app", f"https://me:{SECRET}@github.com/acme/app.git")
    other = repository("other/app")
    async with server(cwd=acme) as one, server(cwd=other) as two:
        await fill(one, "acme")
        await fill(two, "other")
        await call(two, "memory_store", content="kept", type="error", project="ledger")
        code, said = command(acme)
        assert (code, said.splitlines()) == (0, [
            "This folder: app (github.com/acme/app)",
            f"app: memories 1, facts 1, turns 1 (github.com/acme/app, {acme})",
            "ledger: memories 1, facts 0, turns 0",
            f"other/app: memories 1, facts 1, turns 1 ({other})",
        ])  # fmt: skip
    assert command(other)[1].startswith(f"This folder: other/app ({other})")
    assert command(Path("/"))[1].startswith("This folder: no project\n")
    assert command(tmp_path, "--project", "LEDGER")[1].startswith("This folder: ledger\n")
    assert len(command(tmp_path)[1].splitlines()) == 4  # to ask enters nothing


async def test_servers_that_run_go_on_in_a_renamed_project(
    server: Servers, repository: Callable[..., Path], command: Command, sqlite: Sqlite
) -> None:
    folder = repository("app", "https://github.com/acme/app.git")
    async with server(cwd=folder) as one, server("--project", "app", cwd=folder.parent) as named:
        await fill(one, "acme")
        assert command(folder, "rename", ".", "shop") == (
            0, "app is now called shop. Its old name still leads to it.",
        )  # fmt: skip
        for client in (one, named):
            assert await seen(client) == all_of("acme", "shop")
        await call(named, "memory_store", content="Kept after the rename", type="error")
        assert (await call(one, "memory_stats"))["by_project"] == {"shop": 2}
    assert sqlite(server.db, "SELECT DISTINCT scope FROM readable_facts") == "project shop"
    assert damage(server.db) == []


async def test_servers_that_run_go_on_in_joined_projects(
    server: Servers, repository: Callable[..., Path], command: Command
) -> None:
    acme = repository("acme/app", "https://github.com/acme/app.git")
    other = repository("other/app", "https://github.com/other/app.git")
    async with server(cwd=acme) as one, server(cwd=other) as two:
        await fill(one, "acme")
        await fill(two, "other")
        code, said = command(acme, "join", str(other), "app")
        assert (code, said.splitlines()) == (0, [
            "Joined other/app into app. Its name now leads to app.",
                "Moved: memories 1, facts 1, turns 1.",
            "  current.task: both had a value. The newer one is current; the older one is in its history.",
        ])  # fmt: skip
        assert await seen(one) == await seen(two)
        found = await seen(two)
        assert (found["task"], found["briefing"]) == ("task of other", ["acme", "other"])
        assert found["woken"] == ["of acme", "of other"]
    assert damage(server.db) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["rename", "legder", "shop"],
            "`legder`. Did you mean `ledger`? Nothing was changed. `memory-server projects`",
        ),
        (["join", "ledger", "zebra"], "Nothing is stored of a project `zebra`. Nothing was changed."),
        (["rename", "ledger", "app"], "There is a project `app` already. Nothing was renamed."),
        (["rename", "ledger", "*"], "`*` can be no name"),
        (["join", "ledger", "LEDGER"], "are one project already: ledger"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_changes_nothing(
    server: Servers, tmp_path: Path, command: Command, sqlite: Sqlite, arguments: list[str], said: str
) -> None:
    async with server(cwd=tmp_path) as client:
        for name in ("ledger", "app"):
            await call(client, "memory_store", content=f"kept in {name}", type="error", project=name)
    before = sqlite(server.db, ".dump")
    code, told = command(tmp_path, *arguments)
    assert code == 1
    assert said in told
    assert sqlite(server.db, ".dump") == before


async def test_the_command_makes_no_file(server: Servers, tmp_path: Path, command: Command) -> None:
    server.db.unlink()
    code, told = command(tmp_path)
    assert code == 1
    assert "There is no database" in told
    assert not server.db.exists()


# Edits by hand


async def test_rows_added_by_hand_with_a_plain_name_are_found_in_the_project(
    server: Servers, tmp_path: Path, sqlite: Sqlite
) -> None:
    async with server("--project", "ledger", cwd=tmp_path) as client:
        await call(client, "memory_store", content="The harbour opens at noon", type="error")
        sqlite(
            server.db,
            "INSERT INTO memories (content, type, project) VALUES ('The audit is in May', 'error', 'ledger')",
            "INSERT INTO memories (content, type, project) VALUES ('Tea is at four', 'error', 'kitchen')",
            "INSERT INTO facts (scope, owner, key, value) VALUES ('project', 'ledger', 'port', '5433')",
            "INSERT INTO turns (message, summary, project) VALUES ('Ann is away', 'Ann', 'garage')",
            "UPDATE memories SET project = 'attic' WHERE id = 1",
        )
        for project, content in {"ledger": "The audit is in May", "kitchen": "Tea is at four"}.items():
            found = (await call(client, "memory_search", query="", project=project))["results"]
            assert [each["content"] for each in found] == [content]
        assert (await call(client, "read_memory", key="port"))["memory"]["value"] == 5433
        assert len((await call(client, "retrieve_memories", query="Ann", project="GARAGE"))["memories"]) == 1
    assert sqlite(server.db, "SELECT name FROM projects ORDER BY 1").split() == [
        "attic", "garage", "kitchen", "ledger",
    ]  # fmt: skip


async def test_a_project_renamed_by_hand_takes_all_its_rows_along(
    server: Servers, repository: Callable[..., Path], sqlite: Sqlite
) -> None:
    async with server(cwd=repository("app", "https://github.com/acme/app.git")) as client:
        await fill(client, "acme")
        sqlite(server.db, "UPDATE projects SET name = 'shop' WHERE name = 'app'")
        assert await seen(client) == all_of("acme", "shop")
        await call(client, "register_memory", message="Kept after the rename", summary="kept")
        assert sqlite(server.db, "SELECT name, former_names FROM readable_projects") == "shop|app"
        told = sqlite(server.db, "UPDATE facts SET owner = 'x' WHERE key = 'current.task'", fails=True)
        assert "a fact never changes its key or scope" in told
        sqlite(server.db, "INSERT OR REPLACE INTO projects (name, folder) VALUES ('shop', '/x')")
        assert (await seen(client))["project"] == "Project shop."
        sqlite(server.db, "DELETE FROM projects")
        assert sqlite(server.db, "SELECT count(*) FROM project_keys") == "0"
        assert (await call(client, "memory_search", query="", project="shop"))["results"] != []
    assert damage(server.db) == []
