"""A session that opens: which project and session it hears of, and what is never in it."""

import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.briefing.context import Part
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope, home
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.turn import TurnDraft
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import NONE, Project, project_of
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.memories import MemoryService
from memory_server.services.resume import Resumed, ResumeService, Wording
from memory_server.sqlite.database import Database
from tests.conftest import Clock

CLAUDE = Caller("Claude", "s1", Project("/srv/shop", "shop"))
CURSOR = replace(CLAUDE, client="Cursor", session="s2")
LATER = replace(CLAUDE, session="s9")
"""The session that asks."""

WORDING = Wording("`list_memories`, `memory_search`", lambda problems: 12.0)


@pytest.fixture
def service(database: Database) -> ResumeService:
    return ResumeService(database)


def write(
    database: Database,
    key: str,
    value: Any,
    scope: Scope = Scope.PROJECT,
    ttl: int | None = None,
    caller: Caller = CLAUDE,
) -> None:
    FactService(database).write(FactDraft(key, value, ttl=ttl), scope, caller)


def remember(
    database: Database,
    content: str,
    type: MemoryType = MemoryType.DECISION,
    importance: int = 5,
    project: str | None = "shop",
    caller: Caller = CLAUDE,
    metadata: dict[str, Any] | None = None,
) -> MemoryId:
    with database.write() as tx:
        draft = MemoryDraft(content, type, project, (), importance, metadata)
        return tx.memories.insert(draft, caller).id


def connect(database: Database, source: MemoryId, relation: Relation, target: MemoryId) -> None:
    with database.write() as tx:
        tx.edges.connect(Edge(source, target, relation), CLAUDE)


def say(database: Database, summary: str, caller: Caller = CLAUDE) -> None:
    with database.write() as tx:
        tx.turns.insert(TurnDraft("What now?", summary), caller)


def resumed(service: ResumeService, max_tokens: int = 500, caller: Caller = LATER) -> Resumed:
    return service.resume(max_tokens, frozenset(), WORDING, caller)


def lines(service: ResumeService, max_tokens: int = 500, caller: Caller = LATER) -> list[str]:
    return resumed(service, max_tokens, caller).briefing.text.split("\n")[1:]


def test_a_new_session_hears_the_facts_and_memories_of_its_project(
    service: ResumeService, database: Database
) -> None:
    write(database, "current.task", "Fix the login")
    write(database, "finding", "retries need a key", Scope.SHARED)
    remember(database, "We use Flutter")
    remember(database, "Of another project", project="blog")
    assert resumed(service).briefing.text.split("\n") == [
        "Project shop. Noted, perhaps not the user's word:",
        "Current task: Fix the login.",
        "Decided: We use Flutter.",
        "Shared: finding: retries need a key.",
    ]


def test_each_caller_hears_of_its_own_project_and_session(
    service: ResumeService, database: Database, tmp_path: Path
) -> None:
    def there(path: str, session: str | None = "s1") -> Caller:
        return Caller("Claude", session, project_of(path, Path("/")))

    other = there(str(tmp_path), "s5")
    write(database, "current.task", "other project", caller=other)
    write(database, "current.step", "other session", Scope.SESSION, caller=other)
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/link"):
        assert lines(service, caller=there(path, "s5")) == [
            "Current task: other project.",
            "Under way: step: other session.",
        ]
    assert lines(service, caller=there(str(tmp_path))) == ["Current task: other project."]
    assert lines(service) == ["Nothing is stored for it yet."]


def test_a_project_without_facts_and_memories_has_nothing_to_say(
    service: ResumeService, database: Database
) -> None:
    write(database, "current.task", "here")
    nowhere = replace(CLAUDE, project=project_of("/no/such/folder", Path("/")))
    assert resumed(service, caller=nowhere).briefing.text == (
        "Project folder.\nNothing is stored for it yet."
    )


def test_what_has_expired_is_neither_said_nor_counted(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "current.task", "stale", ttl=60)
    remember(database, "Staging is frozen", metadata={"expires_at": "2026-03-15"})
    assert lines(service)[-1] == "Decided: Staging is frozen."
    clock.advance(days=1)
    assert lines(service)[0] == "+1 more: `list_memories`, `memory_search`"
    remember(database, "Nobody knows when", metadata={"expires_at": "soon"})
    assert lines(service)[0] == "Decided: Nobody knows when."


def test_what_is_superseded_is_neither_said_nor_counted_until_that_ends(
    service: ResumeService, database: Database
) -> None:
    kinds = (MemoryType.DECISION, MemoryType.OBSERVATION, MemoryType.ERROR)
    for type in kinds:
        old = remember(database, f"The old {type} says one thing", type, 10)
        connect(
            database, remember(database, f"Of {type} this is true now", type, 1), Relation.SUPERSEDES, old
        )
    (above_all,) = (remember(database, "The old preference", MemoryType.PREFERENCE, 10, project=None),)
    newer = remember(database, "The new preference", MemoryType.PREFERENCE, 10, project=None)
    connect(database, newer, Relation.SUPERSEDES, above_all)
    text = resumed(service, 2000).briefing.text
    assert "old" not in text
    assert " more" not in text
    assert "The new preference" in text
    with database.write() as tx:
        tx.edges.end(Edge(newer, above_all, Relation.SUPERSEDES))
    assert "The old preference" in resumed(service, 2000).briefing.text


def test_contradictions_are_marked_on_both_sides_until_one_is_superseded(
    service: ResumeService, database: Database
) -> None:
    jenkins = remember(database, "CI runs on Jenkins")
    github = remember(database, "The builds are on GitHub Actions")
    connect(database, github, Relation.CONTRADICTS, jenkins)
    assert lines(service) == [
        f"Decided: The builds are on GitHub Actions (contradicted by m{jenkins}). "
        f"CI runs on Jenkins (contradicted by m{github})."
    ]
    seen = remember(database, "Jenkins is off", MemoryType.OBSERVATION)
    connect(database, jenkins, Relation.CONTRADICTS, seen)
    assert f"Last session: Jenkins is off (contradicted by m{jenkins})." in lines(service)
    connect(database, github, Relation.SUPERSEDES, jenkins)
    assert lines(service) == [
        "Last session: Jenkins is off.",
        "Decided: The builds are on GitHub Actions.",
    ]


def test_the_last_session_is_told_with_what_comes_next(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    say(database, "Set the project up", CURSOR)
    clock.advance(days=20)
    remember(database, "The tests take 6 minutes", MemoryType.OBSERVATION)
    say(database, "Reproduced the double reminders. Next: call cancelAll() on a new zone.")
    clock.advance(days=1)
    assert lines(service) == [
        "Last session (yesterday): Reproduced the double reminders. The tests take 6 minutes. "
        "Next: call cancelAll() on a new zone."
    ]
    assert lines(service, caller=CLAUDE)[0].startswith("This session (yesterday): Reproduced")
    assert lines(service, caller=CURSOR)[0].startswith("Last session (yesterday, by Claude): Reproduced")


def test_turns_of_another_project_are_not_told(service: ResumeService, database: Database) -> None:
    say(database, "Talked about the salary", replace(CLAUDE, project=Project("/srv/other", "other")))
    assert lines(service) == ["Nothing is stored for it yet."]


def test_tasks_that_nobody_has_touched_for_a_month_are_a_number(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    for n in range(8):
        write(database, f"current.work{n}", f"Old work number {n}")
    write(database, "current.over", "done")
    write(database, "current.blockers", "no access")
    clock.advance(days=31)
    write(database, "current.task", "Fix the login")
    assert lines(service) == [
        "Blocked: no access (31 days ago).",
        "Current task: Fix the login.",
        "Older, perhaps done: 8.",
    ]


def test_where_all_work_is_old_the_newest_of_it_is_named(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "current.task", "Fix the login")
    clock.advance(days=50)
    assert lines(service) == ["Older, perhaps done: 1, the last: Fix the login (50 days ago)."]


@pytest.mark.parametrize("how", ["rewritten", "deleted"])
def test_the_progress_of_the_task_before_does_not_stand_beside_the_new(
    service: ResumeService, database: Database, clock: Clock, how: str
) -> None:
    write(database, "current.task", "Build the reminders")
    clock.advance(days=1)
    write(database, "current.progress", "only the sound picker is missing")
    write(database, "current.branch", "main")
    write(database, "current.task", "Build the reminders")
    assert lines(service)[1].startswith("Under way: branch: main. progress: only the sound picker")
    clock.advance(days=1)
    if how == "deleted":
        FactService(database).delete("current.task", None, CLAUDE)
    else:
        write(database, "current.task", "Fix the double reminders")
    assert lines(service)[-2:] == [
        "Under way: branch: main (yesterday).",
        "Older, perhaps done: f current.progress.",
    ]
    clock.advance(hours=1)
    write(database, "current.progress", "reproduced")
    assert "progress: reproduced." in lines(service)[-1]


def test_next_steps_that_were_written_right_before_the_task_are_told(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "current.task", "Photograph the ferns")
    write(database, "current.work", "Of last month")
    clock.advance(days=31)
    write(database, "current.step", "seven of thirty")
    clock.advance(days=2)
    write(database, "current.next_steps", ["write the refund test", "tell the bookkeeper the date"])
    clock.advance(minutes=1)
    write(database, "current.task", "Switch to Mollie")
    assert lines(service) == [
        "Current task: Switch to Mollie.",
        "Older, perhaps done: next steps: write the refund test; tell the bookkeeper the date (f current.next_steps); "
        "f current.step; 1 more.",
    ]
    assert lines(service, 70) == [
        "Current task: Switch to Mollie.",
        "Older, perhaps done: f current.next_steps; f current.step; 1 more.",
    ]


def test_what_matters_to_the_person_is_in_each_briefing(service: ResumeService, database: Database) -> None:
    remember(database, "Show the diff before a commit", MemoryType.PREFERENCE, 10, project=None)
    remember(database, "Of little importance", MemoryType.PREFERENCE, 4, project=None)
    write(database, "editor", "vim", Scope.GLOBAL)
    assert lines(service) == ["In all projects: Show the diff before a commit. editor: vim."]
    assert lines(service, caller=replace(LATER, project=NONE)) == [
        "Conventions: Show the diff before a commit. Of little importance.",
        "In all projects: editor: vim.",
    ]


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Always answer me in English.", MemoryType.PREFERENCE),
        ("Short answers, no lists.", MemoryType.PREFERENCE),
        ("I am allergic to nuts.", MemoryType.LEARNING),
        ("My name is Jana.", MemoryType.OBSERVATION),
        ("The user works four days a week.", MemoryType.LEARNING),
        ("User's daughter is called Mia.", MemoryType.LEARNING),
        ("Der Nutzer wohnt in Graz.", MemoryType.LEARNING),
        ("我对花生过敏。", MemoryType.LEARNING),
        ("用户周三不上班。", MemoryType.LEARNING),
    ],
)
def test_what_is_about_the_person_is_in_each_briefing_whoever_stored_it(
    service: ResumeService, database: Database, text: str, type: MemoryType
) -> None:
    remember(database, "Cycles in imports cost us a day", MemoryType.PATTERN, 8, project=None)
    remember(database, text, type, project=None)
    remember(database, text.replace(" ", "  "), type, 4, project=None)
    assert lines(service) == [f"In all projects: {text} Cycles in imports cost us a day."]


@pytest.mark.parametrize(
    "text",
    [
        "SQLite has no boolean type.",
        "We ship on Fridays, says my team.",
        "User accounts are locked after 5 attempts.",
        "用户表没有主键。",
    ],
)
def test_what_is_about_no_person_and_of_no_project_stays_out_unless_it_matters(
    service: ResumeService, database: Database, text: str
) -> None:
    remember(database, text, MemoryType.LEARNING, 6, project=None)
    assert lines(service) == ["Nothing is stored for it yet."]
    remember(database, f"{text} ", MemoryType.LEARNING, 7, project=None)
    assert lines(service) == [f"In all projects: {text}"]


@pytest.mark.parametrize(
    "wordings",
    [
        (
            "Run make lint before each commit.",
            "Before each commit, make lint must be run.",
            "make lint has to be run before each commit",
        ),
        (
            "每次提交之前都要先运行 make lint。",
            "提交之前，每次要先运行 make lint。",
            "提交之前每次都要先运行 make lint",
        ),
    ],
)
def test_of_several_wordings_of_one_rule_the_newest_is_told_with_their_number(
    service: ResumeService, database: Database, clock: Clock, wordings: tuple[str, ...]
) -> None:
    for importance, text in zip((7, 6, 5), wordings, strict=True):
        remember(database, text, MemoryType.PATTERN, importance)
        clock.advance(days=1)
    assert lines(service) == [f"Conventions: {wordings[-1]} (said 3 times)."]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Carts of guests expire after 20 days.", "Carts of guests expire after 30 days."),
        ("The tests of the parser take long here.", "The tests of the printer take long here."),
        ("Deploys of the shop go out on Mondays at nine.", "Deploys of the shop do not go out on Mondays."),
    ],
)
def test_what_differs_in_a_number_or_a_denial_is_told_twice(
    service: ResumeService, database: Database, left: str, right: str
) -> None:
    for text in (left, right):
        remember(database, text, MemoryType.PATTERN)
    (line,) = lines(service)
    assert left in line
    assert right in line


def test_what_the_project_is_comes_before_newer_conventions(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "project.overview", "A shop for plants")
    clock.advance(days=100)
    for n in range(50):
        write(database, f"project.rule{n}", f"rule {n} of fifty rules")
    assert lines(service, 200)[0].startswith("Conventions: overview: A shop for plants. ")


def test_a_narrow_value_hides_the_wide_one(service: ResumeService, database: Database, clock: Clock) -> None:
    write(database, "current.task", "of the session", Scope.SESSION, caller=LATER)
    clock.advance(hours=1)
    for scope in (Scope.PROJECT, Scope.SHARED, Scope.GLOBAL):
        write(database, "current.task", f"of {scope}", scope)
    assert lines(service) == ["Current task: of the session."]


def test_old_blockers_come_before_any_number_of_new_facts(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "current.blockers", "no key")
    write(database, "current.task", "Fix the login")
    clock.advance(days=30)
    with database.write() as tx:
        for number in range(1000):
            for key in (f"current.k{number}", f"note{number}"):
                FactService(database).write_in(tx, FactDraft(key, "some words"), Scope.PROJECT, CLAUDE)
    said = lines(service)
    assert said[:2] == ["Blocked: no key (30 days ago).", "Current task: Fix the login (30 days ago)."]
    briefing = resumed(service).briefing
    assert said[-1] == f"+{briefing.left_out:d} more: `list_memories`, `memory_search`"
    assert briefing.left_out + len(briefing.items) == 2002


TASK = (
    "Move the booking form to the new payment provider. Keep the old provider until every open invoice of the autumn "
    "is paid, because refunds go back the way the money came. The redirect after the payment lands on the wrong locale."
)
STEPS = [
    "write the webhook test for a refund",
    "ask Ines for the sandbox key",
    "switch the staging shop over",
]
BLOCKER = "The provider has not signed the contract for France"


def test_the_task_its_next_steps_and_what_blocks_are_whole_before_a_catalogue_of_facts(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    write(database, "current.task", TASK)
    write(database, "current.next_steps", STEPS)
    write(database, "current.blocked_by", BLOCKER)
    remember(database, "We use PostgreSQL for the bookings")
    clock.advance(hours=1)
    for name in (
        "users", "orders", "carts", "stock", "prices", "labels", "refunds", "reviews", "taxes", "stores", "mails",
        "search", "health",
    ):  # fmt: skip
        write(
            database,
            f"project.api.{name}",
            f"GET /v2/{name} answers a page of 50 {name} and needs the scope {name}:read",
        )
    text = resumed(service, 300).briefing.text
    for sentence in (TASK, *STEPS, BLOCKER, "We use PostgreSQL for the bookings", "project.api.*: 13 keys."):
        assert sentence.rstrip(".") in text, text
    assert "GET /v2" not in text


def test_of_many_memories_those_that_matter_most_are_said(service: ResumeService, database: Database) -> None:
    for importance in random.Random(1).sample(range(1, 11), 10):
        remember(
            database,
            f"A decision of importance {importance} and some words more",
            MemoryType.DECISION,
            importance,
        )
    decided = next(line for line in lines(service, 90) if line.startswith("Decided: "))
    assert "A decision of importance 10" in decided
    assert "A decision of importance 1 " not in decided


def test_what_was_seen_long_ago_fades_behind_what_was_learnt(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    remember(database, "An old learning", MemoryType.LEARNING, 5)
    remember(database, "An old observation", MemoryType.OBSERVATION, 5)
    clock.advance(days=50)
    say(database, "Came back")
    assert lines(service)[1] == (
        "Found out: An old learning (50 days ago). An old observation (50 days ago)."
    )


def test_the_last_written_fact_comes_first(service: ResumeService, database: Database, clock: Clock) -> None:
    for key in ("a", "b", "c"):
        write(database, key, 1)
        clock.advance(hours=1)
    write(database, "a", 2)
    assert lines(service) == ["Also known: a: 2. c: 1. b: 1."]


def test_the_same_question_gets_the_same_answer_and_reading_leaves_no_trace(
    service: ResumeService, database: Database
) -> None:
    for number in range(50):
        write(database, f"project.k{number}", "数据库 words")
        remember(database, f"Memory {number} of the project", MemoryType.LEARNING)
        say(database, f"Turn {number}")
    with database.read() as tx:
        before = tx.rows("SELECT sum(access_count), max(updated_at) FROM facts")
    answers = [resumed(service, limit).briefing.text for limit in (300, 300)]
    assert answers[0] == answers[1]
    with database.read() as tx:
        assert tx.rows("SELECT sum(access_count), max(updated_at) FROM facts") == before


def test_the_context_holds_what_is_asked_for_with_who_and_when(
    service: ResumeService, database: Database
) -> None:
    write(database, "current.blockers", ["a", "none"])
    write(database, "project.port", 5433, caller=CURSOR)
    write(database, "shared.x", {"n": None})

    def parts(*wanted: Part) -> dict[str, dict[str, tuple[Any, str | None, str]]]:
        context = service.resume(500, frozenset(wanted), WORDING, LATER).context
        assert context is not None
        return {
            part: {key: (each.value, each.by, each.at) for key, each in said.items()}
            for part, said in context.parts.items()
        }

    now = "2026-03-14T09:26:53.589Z"
    assert resumed(service).context is None
    assert parts(Part.CURRENT, Part.PROJECT) == {
        "project": {"project.port": (5433, "Cursor", now)},
        "current": {"current.blockers": (["a", "none"], "Claude", now)},
    }
    assert parts(Part.SHARED) == {"shared": {"shared.x": ({"n": None}, "Claude", now)}}


def test_thousands_of_facts_keep_the_limit(service: ResumeService, database: Database) -> None:
    chance = random.Random(2)
    prefixes = ["current.", "project.decision.", "discovered.", "shared.", "project.", "ai.Cursor.", ""]
    with database.write() as tx:
        for number in range(1000):
            draft = FactDraft(
                f"{chance.choice(prefixes)}k{number}",
                f"登录令牌在{number}分钟后过期 and words " * chance.randint(1, 9),
            )
            FactService(database).write_in(tx, draft, chance.choice(list(Scope)), LATER)
    for limit, wanted in product((60, 500, 8000), ((), tuple(Part))):
        answer = service.resume(limit, frozenset(wanted), WORDING, LATER)
        assert limit * (0.4 if wanted else 0.7) < answer.token_count <= limit, (limit, wanted)
        assert len(answer.briefing.items) + answer.briefing.left_out == 1000, (limit, wanted)


def test_a_fact_that_never_had_another_value_has_not_changed(database: Database, clock: Clock) -> None:
    place = home(Scope.PROJECT, CLAUDE)
    with database.read() as tx:
        assert tx.fact_history.changed_at(place, "current.task") is None
    write(database, "current.task", "a")
    with database.read() as tx:
        assert tx.fact_history.changed_at(place, "current.task") is None
    write(database, "current.task", "b")
    clock.advance(days=1)
    write(database, "current.task", "b")
    with database.read() as tx:
        assert tx.fact_history.changed_at(place, "current.task") == "2026-03-14T09:26:53.589Z"


@pytest.mark.both_stores
def test_a_text_that_was_changed_is_signed_by_who_wrote_it(
    service: ResumeService, database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    memories = MemoryService(database, queue, segmenter)
    captured = replace(CLAUDE, client="claude (captured)")
    ids = [
        remember(database, f"The {name} of the shop runs at night.", caller=captured)
        for name in ("oven", "pump")
    ]
    clock.advance(minutes=1)
    memories.update(ids[0], MemoryChange(content="The oven of the shop runs at noon."), CURSOR)
    memories.update(ids[1], MemoryChange(importance=6), CURSOR)
    told = resumed(service).briefing.text
    assert "at noon (by Cursor)" in told
    assert "The pump of the shop runs at night (by claude (captured))" in told
    with database.write() as tx:
        tx.changes.delete(tx.changes.newest(ids))
    assert "at noon (" not in resumed(service).briefing.text
