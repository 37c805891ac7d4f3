"""Which project a row belongs to: what is one project, what it is called, and how it is renamed and joined."""

import json
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, FactDraft, Scope
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.project import Listed, Moved
from memory_server.domain.turn import TurnDraft
from memory_server.errors import Conflict, Invalid, Mend, NotFound
from memory_server.language.pattern import parse
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.postgres.database import Database as PostgresDatabase
from memory_server.project import NAME, NONE, Project, project_of
from memory_server.services import projects as project_service
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.long_term import LongTermService
from memory_server.services.memories import MemoryService
from memory_server.services.projects import ProjectService
from memory_server.services.search import SearchService
from memory_server.services.short_term import ShortTermService
from memory_server.services.turns import TurnService
from memory_server.sqlite.database import Database
from memory_server.storage.tables import joined_projects
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock, problems

ACME = Project("github.com/acme/app", "app", ("/home/me/acme/app",))
OTHER = Project("github.com/other/app", "app", ("/home/me/other/app",))
FOLDER = Project("/home/me/app", "app")
TOKEN = "ghp_" + "a1B2" * 9
SAID = [Message("user", "the zebra escaped from the old harbour")]


def by(project: Project) -> Caller:
    return Caller("Claude", "s1", project)


@dataclass
class World:
    """Every kind of memory on one database."""

    database: Database
    projects: ProjectService
    memories: MemoryService
    search: SearchService
    facts: FactService
    turns: TurnService
    short_term: ShortTermService
    long_term: LongTermService

    def remember(self, content: str, project: Project, given: str | None = None, **fields: Any) -> int:
        """As the tool does: a memory without a project is of the caller's."""
        where = project.key if given is None else given
        draft = MemoryDraft(content, MemoryType.DECISION, where, **fields)
        return self.memories.store(draft, None, by(project)).memory.id

    def write(self, value: object, project: Project, key: str = "k") -> None:
        self.facts.write(FactDraft(key, value), Scope.PROJECT, by(project))

    def value(self, project: Project, key: str = "k") -> object:
        fact = self.facts.read(key, Scope.PROJECT, (), by(project))
        return None if fact is None else fact.value

    def turn(self, message: str, project: Project) -> int:
        return self.turns.register(TurnDraft(message, message), {}, by(project))

    def fill(self, project: Project, mark: str) -> None:
        """One of each kind, and one of each that can be in the trash."""
        self.remember(f"{mark}: we deploy with Helm on Fridays", project)
        self.write(mark, project, f"port.{mark}")
        self.turn(f"{mark}: we spoke about wages", project)
        self.short_term.add([Message("user", f"the zebra of {mark} escaped")], None, {}, by(project))
        self.long_term.add(LongTermDraft(f"wake {mark}", f"prompt {mark}", "true", None), None, by(project))

    def held(self, project: Project) -> dict[str, list[str]]:
        """What is found of each kind in a project alone."""
        caller = by(project)
        found = self.search.search("", Filter(project=project.key), 50, "keyword", caller=caller).hits
        recalled = self.turns.retrieve("we spoke about wages", 50, caller, project.key)
        woken = self.long_term.search(SAID, None, {}, caller)
        return {
            "memories": sorted(hit.memory.content.partition(":")[0] for hit in found),
            "facts": [fact.key for fact in self.facts.select("port.*", None, (), 50, caller).facts],
            "turns": sorted(turn.message.partition(":")[0] for turn, _ in recalled.turns),
            "short-term": sorted(
                text.split()[4] for _, text in self.short_term.matching(parse("zebra"), None, caller).memories
            ),
            "long-term": sorted(each.name.removeprefix("wake ") for each in woken.activated),
        }

    def listed(self) -> dict[str, Listed]:
        return {each.name: each for each in self.projects.select()}

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.database.read() as tx:
            return tx.rows(sql)

    def bits_are_of(self, *projects: str) -> bool:
        """Whether the sign bits, which SQLite alone keeps, are filed under these projects."""
        sql = "SELECT DISTINCT project FROM embedding_bits ORDER BY 1"
        return isinstance(self.database, PostgresDatabase) or self.rows(sql) == [(name,) for name in projects]


def of(*marks: str) -> dict[str, list[str]]:
    """`World.held` of a project that was filled with these marks."""
    kinds = ("memories", "facts", "turns", "short-term", "long-term")
    return {kind: [f"port.{m}" if kind == "facts" else m for m in marks] for kind in kinds}


@pytest.fixture
def world(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> World:
    facts = FactService(database)
    chance = random.Random(3).random
    return World(
        database,
        ProjectService(database),
        MemoryService(database, queue, segmenter),
        SearchService(database, queue),
        facts,
        TurnService(database, queue, facts),
        ShortTermService(database, JiebaKeywords(segmenter), chance),
        LongTermService(database, Engine(Sandbox(), lambda one, other: None), chance),
    )


# One identity for every kind


def test_two_repositories_of_one_name_share_nothing_of_any_kind(world: World) -> None:
    world.fill(ACME, "acme")
    world.fill(OTHER, "other")
    assert world.held(ACME) == of("acme")
    assert world.held(OTHER) == of("other")
    assert world.held(FOLDER) == of()


def test_the_first_gets_the_short_name_and_the_others_what_tells_them_apart(world: World) -> None:
    named = {
        ACME: "app",
        OTHER: "other/app",
        Project("gitlab.com/other/app", "app"): "gitlab.com/other/app",
        FOLDER: "me/app",
        Project("/home/me/App", "App"): "home/me/App",
        Project("me/app", "app"): "app-2",
        Project("/app", "app"): "app-3",
        Project("/商店", "商店"): "商店",
        Project("/*", "*"): "*-2",
        Project("/x/\x7f", ""): "project",
    }
    for number, project in enumerate(named):
        world.write(number, project)
    assert {project: world.projects.here(project) for project in named} == named
    assert [world.value(project) for project in named] == list(range(len(named)))
    assert set(world.listed()) == set(named.values())


def test_long_names_stay_within_the_limit_and_apart(world: World) -> None:
    first, *others = (Project(f"/{'y' * 100}/{n}/{'x' * 300}", "x" * NAME) for n in range(4))
    for project in (first, *others):
        world.write(project.key, project)
    assert [world.value(project) for project in (first, *others)] == [
        first.key,
        *(each.key for each in others),
    ]
    assert all(len(name) <= NAME for name in world.listed())


def test_a_clone_elsewhere_and_a_moved_folder_are_the_same_project(world: World) -> None:
    world.fill(ACME, "acme")
    clone = Project(ACME.key, "app", ("/tmp/review",))
    assert world.held(clone) == of("acme")
    assert world.listed()["app"].folder == "/home/me/acme/app"
    world.turn("more", clone)
    assert world.listed()["app"] == Listed("app", (ACME.key,), (), "/tmp/review", 1, 1, 2)


def test_a_folder_stays_the_same_project_when_it_gets_its_first_remote(world: World) -> None:
    folder = Project("/home/me/acme/app", "app")
    world.fill(folder, "before")
    assert world.held(ACME) == of("before")  # also before anything is stored
    world.fill(ACME, "now")
    assert world.held(ACME) == world.held(folder) == of("before", "now")
    assert world.listed()["app"].keys == ("/home/me/acme/app", "github.com/acme/app")


def test_another_remote_in_the_same_folder_is_another_project(world: World) -> None:
    """A folder can hold another repository tomorrow."""
    world.fill(Project("/home/me/acme/app", "app"), "folder")
    world.fill(ACME, "acme")
    replaced = Project("github.com/new/app", "app", ACME.paths)
    world.fill(replaced, "new")
    assert world.held(replaced) == of("new")
    assert world.held(ACME) == of("acme", "folder")


def test_a_clone_of_a_folder_is_the_project_of_that_folder(world: World) -> None:
    world.fill(FOLDER, "first")
    clone = Project(FOLDER.key, "app", ("/home/me/clone",))
    assert world.held(clone) == of("first")


def test_what_belongs_to_no_project_is_found_in_each(world: World) -> None:
    world.remember("The user prefers tabs", ACME, "")
    world.long_term.add(LongTermDraft("birthday", "p", "true", None), "default", by(ACME))
    for project in (ACME, OTHER, NONE):
        hits = world.search.search("prefers tabs", Filter(), 5, "hybrid", caller=by(project)).hits
        assert [(hit.memory.project, hit.memory.content) for hit in hits] == [(None, "The user prefers tabs")]
        woken = world.long_term.search(SAID, None, {}, by(project)).activated
        assert [each.name for each in woken] == ["birthday"]
    assert world.listed() == {}


def test_a_memory_of_the_user_comes_before_one_of_another_project(world: World) -> None:
    text = "We deploy on the {} at noon"
    other = world.remember(text.format("4th"), OTHER)
    own = world.remember(text.format("5th"), ACME)
    users = world.remember(text.format("6th"), ACME, "")
    hits = world.search.search("When do we deploy?", Filter(), 5, "hybrid", caller=by(ACME)).hits
    assert {hits[0].memory.id, hits[1].memory.id} == {own, users}
    assert hits[2].memory.id == other


# Who takes over what was stored under a name


def test_the_first_folder_of_a_name_takes_over_what_was_stored_under_it_and_no_second_one(
    world: World,
) -> None:
    with world.database.write() as tx:
        tx.memories.insert(MemoryDraft("old: x", MemoryType.ERROR, "app"), by(NONE))
    assert world.held(ACME)["memories"] == ["old"]
    world.projects.settle(ACME)
    assert world.held(ACME)["memories"] == ["old"]
    world.projects.settle(OTHER)
    assert world.held(OTHER)["memories"] == []
    assert world.projects.here(OTHER) == "other/app"


def test_the_name_of_the_folder_comes_before_that_of_the_repository(world: World) -> None:
    """Memories were stored under the name of the folder until now."""
    for name in ("app", "checkout"):
        world.remember(f"{name}: x", NONE, name)
    checkout = Project(ACME.key, "app", ("/home/me/checkout",))
    assert world.held(checkout)["memories"] == ["checkout"]
    assert world.projects.here(checkout) == "checkout"


def test_a_start_enters_no_project_of_which_the_file_has_nothing(world: World) -> None:
    for project in (ACME, FOLDER, NONE, Project("given", "given")):
        world.projects.settle(project)
    assert world.listed() == {}


def test_a_start_tells_where_the_project_is_now(world: World) -> None:
    world.turn("x", ACME)
    world.projects.settle(Project(ACME.key, "app", ("/moved/app",)))
    assert world.listed()["app"].folder == "/moved/app"


def test_processes_that_start_at_once_agree_on_the_names(tmp_path: Path, clock: Clock) -> None:
    """Each has two projects of one name, in another order."""
    path = tmp_path / "memory.db"
    databases = [Database(path, clock) for _ in range(4)]
    databases[0].open()
    start = threading.Barrier(len(databases))

    def run(database: Database, mine: Sequence[Project]) -> None:
        facts = FactService(database)
        start.wait()
        for project in mine:
            facts.write(FactDraft("k", project.key), Scope.PROJECT, by(project))

    orders = [(ACME, OTHER), (OTHER, ACME), (ACME, OTHER), (OTHER, ACME)]
    threads = [threading.Thread(target=run, args=each) for each in zip(databases, orders, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [{project: ProjectService(each).here(project) for project in (ACME, OTHER)} for each in databases]
    assert names[0] in ({ACME: "app", OTHER: "other/app"}, {ACME: "acme/app", OTHER: "app"})
    assert names == names[:1] * len(databases)
    for project in (ACME, OTHER):
        fact = FactService(databases[0]).read("k", Scope.PROJECT, (), by(project))
        assert fact is not None
        assert (fact.value, fact.version) == (project.key, 4)
    assert problems(databases[0]) == []
    for database in databases:
        database.close()


# What an argument may be


@pytest.mark.parametrize(
    "given",
    ["app", "APP", " app ", "github.com/acme/app", "GitHub.com/Acme/App.git", "https://me:x@github.com/acme/app.git",
     "git@github.com:acme/app"],
)  # fmt: skip
def test_a_project_is_named_by_its_name_its_key_or_the_address_of_its_remote(
    world: World, given: str
) -> None:
    kept = world.remember("kept: x", ACME)
    more = world.remember("We deploy on Mondays", OTHER, given)
    found = world.search.search("", Filter(project=given), 5, "keyword", caller=by(OTHER))
    assert {hit.memory.id for hit in found.hits} == {kept, more}
    assert found.note is None
    assert {hit.memory.project for hit in found.hits} == {"app"}
    assert world.memories.statistics(given, by(OTHER)).by_project == {"app": 2}
    assert (
        world.memories.update(MemoryId(more), MemoryChange(project=given), caller=Caller()).memory.project
        == "app"
    )


def test_a_project_is_named_by_the_path_of_a_folder_in_it(world: World, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    root = project_of(str(tmp_path), Path())
    kept = world.remember("kept: x", root)
    found = world.search.search("", Filter(project=str(tmp_path / "src")), 5, "keyword", caller=by(ACME))
    assert [hit.memory.id for hit in found.hits] == [kept]
    world.turn("kept", root)
    assert len(world.turns.retrieve("kept", 5, by(ACME), str(tmp_path / "src")).turns) == 1


def test_a_name_that_is_new_makes_a_project_of_it(world: World) -> None:
    world.remember("kept: x", ACME, "Ledger 帐本")
    assert set(world.listed()) == {"Ledger 帐本"}
    world.remember("more: y", ACME, "ledger 帐本")
    assert world.listed()["Ledger 帐本"].memories == 2


def test_names_that_differ_in_case_alone_are_told_apart_where_a_person_made_both(world: World) -> None:
    with world.database.write() as tx:
        for name in ("app", "App"):
            tx.memories.insert(MemoryDraft(f"{name}: x", MemoryType.ERROR, name), by(NONE))
    for name, found in {"app": ["app"], "App": ["App"], "APP": []}.items():
        assert world.held(Project(name, name))["memories"] == found


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("ledgr", "Nothing is stored of a project `ledgr`. Did you mean `ledger`?"),
        ("zebra", "Nothing is stored of a project `zebra`."),
        ("/no/such/folder", "Nothing is stored of a project `/no/such/folder`."),
        ("https://me:S3cr3t@h/a/b", "Nothing is stored of a project `h/a/b`."),
    ],
)
def test_a_project_of_which_nothing_is_known_is_told_with_the_nearest_name(
    world: World, given: str, note: str
) -> None:
    world.remember("We deploy on Mondays", ACME, "ledger")
    for text in ("", "deploy"):
        found = world.search.search(text, Filter(project=given), 5, "hybrid", caller=by(ACME))
        assert (found.hits, found.note) == ([], note)
    assert world.turns.retrieve("deploy", 5, by(ACME), given).note == note
    statistics = world.memories.statistics(given, by(ACME))
    assert (statistics.total, statistics.note) == (0, note)
    assert set(world.listed()) == {"ledger"}


def test_no_memory_is_stored_in_all_projects(world: World) -> None:
    with pytest.raises(Invalid, match=r"`\*` stands for all projects\. Nothing was stored"):
        world.remember("x", ACME, "*")
    id = world.remember("x", ACME)
    with pytest.raises(Invalid, match=r"`\*` stands for all projects"):
        world.memories.update(MemoryId(id), MemoryChange(project="*"), caller=Caller())


def test_a_remote_whose_address_holds_a_credential_is_not_kept_and_its_folder_is(world: World) -> None:
    project = Project(f"example.org/{TOKEN}/app", "app", ("/home/me/app",))
    world.fill(project, "kept")
    assert world.held(project) == of("kept")
    assert world.listed()["app"].keys == ("/home/me/app",)
    assert TOKEN not in repr(world.rows("SELECT * FROM projects")) + repr(
        world.rows("SELECT * FROM project_keys")
    )


# Conversations


def test_without_a_name_the_conversation_is_that_of_the_project(world: World) -> None:
    world.fill(ACME, "acme")
    assert world.rows("SELECT name FROM conversations") == [("project:app",)]
    world.short_term.add(SAID, None, {}, by(NONE))
    assert world.rows("SELECT name FROM conversations ORDER BY id") == [("project:app",), ("default",)]
    assert len(world.short_term.matching(parse("harbour"), None, by(ACME)).memories) == 0
    assert len(world.short_term.matching(parse("harbour"), "default", by(ACME)).memories) == 1
    assert len(world.short_term.matching(parse("zebra"), "project:app", by(NONE)).memories) == 1


def test_an_empty_conversation_of_a_project_tells_where_the_old_one_is(world: World) -> None:
    world.short_term.add(SAID, "default", {}, by(NONE))
    assert world.short_term.search(SAID, None, {}, by(ACME)).elsewhere == [("default", 1)]


def test_a_long_term_memory_is_looked_for_in_the_project_and_then_among_those_of_the_user(
    world: World,
) -> None:
    def add(name: str, prompt: str, conversation: str | None) -> None:
        world.long_term.add(LongTermDraft(name, prompt, "true", None), conversation, by(ACME))

    add("both", "the user's", "default")
    add("users", "the user's", "default")
    add("both", "the project's", None)
    caller = by(ACME)
    assert [world.long_term.context(name, None, caller)[0].prompt for name in ("both", "users")] == [
        "the project's",
        "the user's",
    ]
    assert [each.name for each in world.long_term.select(None, caller).memories] == ["both", "both", "users"]
    assert world.long_term.select(None, by(OTHER)).more == 0
    assert [each.name for each in world.long_term.select(None, by(OTHER)).memories] == ["both", "users"]
    for prompt in ("the project's", "the user's"):
        assert world.long_term.context("both", None, caller)[0].prompt == prompt
        world.long_term.delete("both", None, False, caller)
    with pytest.raises(NotFound, match="in the project `app`"):
        world.long_term.context("both", None, caller)[0]
    assert world.long_term.restore("both", None, caller).prompt == "the project's"
    assert world.long_term.restore("both", "default", caller).prompt == "the user's"


# Renaming


def test_a_renamed_project_keeps_all_it_has_and_every_way_to_it(world: World) -> None:
    world.fill(ACME, "acme")
    world.fill(OTHER, "other")
    gone = world.remember("trash: x", ACME)
    turn = world.turn("trash", ACME)
    world.memories.forget(MemoryId(gone), False, by(ACME))
    world.turns.forget(turn, False, by(ACME))
    world.long_term.delete("wake acme", None, False, by(ACME))
    assert world.projects.rename("APP", " Shop ") == "app"
    world.memories.restore(MemoryId(gone))
    world.turns.restore(turn)
    world.long_term.restore("wake acme", None, by(ACME))
    everything = {**of("acme"), "memories": ["acme", "trash"], "turns": ["acme", "trash"]}
    for project in (ACME, Project("Shop", "Shop"), Project("app", "app"), Project("shop", "shop")):
        assert world.held(project) == everything
    world.fill(ACME, "later")
    world.fill(Project("app", "app"), "given")  # a server that was started with --project app
    assert world.listed()["Shop"] == Listed("Shop", (ACME.key,), ("app",), "/home/me/acme/app", 4, 3, 4)
    assert world.held(OTHER) == of("other")
    assert world.bits_are_of("Shop", "other/app")


def test_the_history_of_a_renamed_projects_facts_goes_on(world: World) -> None:
    for value in (1, 2):
        world.write(value, ACME)
    world.projects.rename("app", "shop")
    world.write(3, ACME)
    history = world.facts.history("k", None, 10, by(ACME)).changes
    assert [(change.version, change.value) for change in history] == [(3, 3), (2, 2), (1, 1)]


def test_a_former_name_is_free_for_a_rename_and_is_not_given_to_a_new_project(world: World) -> None:
    world.write(1, ACME)
    world.projects.rename("app", "shop")
    world.write(2, OTHER)
    assert world.projects.here(OTHER) == "other/app"
    world.projects.rename("other/app", "app")
    assert (world.projects.here(OTHER), world.projects.here(ACME)) == ("app", "shop")
    assert world.value(Project("app", "app")) == 2
    world.projects.rename("shop", "SHOP")
    world.projects.rename("SHOP", "shop")
    assert world.listed()["shop"].former_names == ("SHOP",)


def test_a_name_that_another_project_has_is_refused_and_the_join_named(world: World) -> None:
    world.write(1, ACME)
    world.write(2, OTHER)
    for name in ("other/app", "OTHER/APP", OTHER.key):
        with pytest.raises(
            Conflict, match=r"There is a project `other/app` already\. Nothing was renamed\."
        ) as error:
            world.projects.rename("app", name)
        assert error.value.problem.hints[0].mend is Mend.JOIN_PROJECTS
    assert set(world.listed()) == {"app", "other/app"}


@pytest.mark.parametrize(
    "name", ["", "  ", "*", "/srv/x", "./x", "~", "https://h/a/b", "x" * (NAME + 1), "\u200b"]
)
def test_a_name_that_could_be_mistaken_is_refused(world: World, name: str) -> None:
    world.write(1, ACME)
    with pytest.raises(Invalid, match="can be no name"):
        world.projects.rename("app", name)
    assert set(world.listed()) == {"app"}


def test_an_unknown_project_is_refused_with_the_nearest_name(world: World) -> None:
    world.write(1, ACME)
    for change in (
        lambda: world.projects.rename("ap", "shop"),
        lambda: world.projects.join("ap", "app"),
        lambda: world.projects.join("app", "ap"),
    ):
        with pytest.raises(NotFound, match=r"`ap`\. Did you mean `app`\? Nothing was changed\.") as error:
            change()
        assert error.value.problem.hints[0].mend is Mend.LIST_PROJECTS
    with pytest.raises(NotFound, match="belongs to no project"):
        world.projects.rename("/", "shop")


def test_a_large_project_is_renamed_in_short_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (project_service, joined_projects):
        monkeypatch.setattr(module, "AT_ONCE", 3)
    for number in range(10):
        world.remember(f"{number}: {'x' * number}", ACME)
    world.fill(ACME, "acme")
    world.projects.rename("app", "shop")
    assert world.listed()["shop"] == Listed("shop", (ACME.key,), ("app",), "/home/me/acme/app", 11, 1, 1)
    assert set(world.listed()) == {"shop"}
    assert world.bits_are_of("shop")
    assert world.held(ACME)["long-term"] == ["acme"]


# Joining


def test_joined_projects_are_one_under_every_name_and_key(world: World) -> None:
    world.fill(ACME, "acme")
    world.fill(OTHER, "other")
    world.projects.rename("other/app", "fork")
    gone = world.remember("trash: x", OTHER)
    world.memories.forget(MemoryId(gone), False, by(OTHER))
    world.short_term.delete(parse("zebra"), None, False, by(OTHER))
    assert world.projects.join("github.com/other/app", "app") == ("fork", "app", Moved(1, 1, 1, ()))
    world.memories.restore(MemoryId(gone))
    world.short_term.restore(parse("zebra"), None, by(ACME))
    both = {**of("acme", "other"), "memories": ["acme", "other", "trash"]}
    for project in (ACME, OTHER, *(Project(name, name) for name in ("app", "fork", "other/app"))):
        assert world.held(project) == both
    (listed,) = world.listed().values()
    assert listed == Listed("app", (ACME.key, OTHER.key), ("fork", "other/app"), "/home/me/acme/app", 3, 2, 2)
    assert world.rows("SELECT name FROM conversations") == [("project:app",)]
    assert world.bits_are_of("app")


def test_of_a_key_that_both_have_the_newer_value_is_current_and_the_other_in_the_history(
    world: World, clock: Clock
) -> None:
    for key, first, second in (("a", ACME, OTHER), ("b", OTHER, ACME)):
        world.write(f"{key} old", first, key)
        world.write(f"{key} older still", first, key)
        clock.advance(seconds=1)
        world.write(f"{key} new", second, key)
        clock.advance(seconds=1)
    world.write("c", OTHER, "c")
    world.facts.write(FactDraft("d", "gone"), Scope.PROJECT, by(ACME))
    world.facts.delete("d", None, by(ACME))
    world.write("d", OTHER, "d")
    assert world.projects.join("other/app", "app")[2] == Moved(0, 4, 0, ("a", "b"))
    assert {key: world.value(ACME, key) for key in "abcd"} == {"a": "a new", "b": "b new", "c": "c", "d": "d"}
    for key in "abd":
        current = world.facts.read(key, None, (), by(ACME))
        history = world.facts.history(key, None, 20, by(ACME)).changes
        assert current is not None
        assert current.version == history[0].version == max(change.version for change in history)
        assert [change.version for change in history].count(current.version) == 1
        assert (history[0].value, history[0].action) == (current.value, Action.WRITTEN)
    assert "a older still" in [
        change.value for change in world.facts.history("a", None, 20, by(ACME)).changes
    ]
    found = world.turns.retrieve("older still", 5, by(ACME)).facts
    assert [fact.key for fact in found] == []


def test_long_term_memories_of_one_name_are_both_kept(world: World) -> None:
    for project in (ACME, OTHER):
        world.long_term.add(LongTermDraft("wake", project.key, "true", None), None, by(project))
    world.projects.join("other/app", "app")
    listed = world.long_term.select(None, by(ACME)).memories
    assert {each.name: each.prompt for each in listed} == {"wake": ACME.key, "wake (other/app)": OTHER.key}


def test_projects_whose_long_names_begin_alike_are_joined_without_a_loss(world: World) -> None:
    """The names of their conversations are cut to the same one."""
    long = "x" * 195
    one, other = Project(f"{long}-one", f"{long}1"), Project(f"{long}-two", f"{long}2")
    world.long_term.add(LongTermDraft("wake", "up", "true", None), None, by(one))
    world.remember("of the other one", other)
    world.projects.join(f"{long}1", f"{long}2")
    assert [each.name for each in world.long_term.select(None, by(other)).memories] == ["wake"]


def test_a_project_is_not_joined_with_itself(world: World) -> None:
    world.write(1, ACME)
    with pytest.raises(Invalid, match="are one project already: app"):
        world.projects.join("github.com/acme/app", "APP")
    assert world.value(ACME) == 1


def test_a_join_that_was_broken_off_loses_nothing_and_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (project_service, joined_projects):
        monkeypatch.setattr(module, "AT_ONCE", 3)
    for number in range(10):
        world.remember(f"{number}: {'x' * number}", OTHER)
    world.fill(OTHER, "other")
    world.fill(ACME, "acme")

    def killed(*_: object) -> Moved:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(joined_projects.WritableJoinedProjects, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            world.projects.join("app", "acme/app")
    assert sum(each.memories for each in world.listed().values()) == 12
    moved = world.projects.join("app", "acme/app")[2]
    assert (moved.facts, moved.turns) == (1, 1)
    assert world.listed().keys() == {"acme/app"}
    assert world.listed()["acme/app"].memories == 12
    assert world.held(OTHER)["facts"] == ["port.acme", "port.other"]


# What is left


def test_a_project_of_which_nothing_is_left_is_forgotten_with_its_name_and_paths(world: World) -> None:
    world.fill(ACME, "acme")
    world.fill(OTHER, "other")
    erasure = ErasureService(world.database)
    world.memories.forget(MemoryId(1), True, by(ACME))
    world.facts.purge("port.acme", None, by(ACME))
    world.turns.forget(1, True, by(ACME))
    world.short_term.delete(parse("zebra"), None, True, by(ACME))
    erasure.erase()
    assert world.projects.here(ACME) == "app"
    world.long_term.delete("wake acme", None, False, by(ACME))
    erasure.erase()
    assert "app" in world.listed()  # its last memory lies in the trash
    world.long_term.delete("wake acme", None, True, by(ACME))
    erasure.erase()
    assert set(world.listed()) == {"other/app"}
    assert json.dumps(world.rows("SELECT key FROM project_keys")) == json.dumps([[OTHER.key]])
