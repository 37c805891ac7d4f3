"""The one search, as a user sees it: what it finds, in which order, and what it says of that, on a real database."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain import parts
from memory_server.domain.caller import Caller
from memory_server.domain.confidence import LIKELY
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType, Stored
from memory_server.domain.ranking import LEAST, Hit
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import NotFound
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.graph import GraphService
from memory_server.services.memories import MemoryService
from memory_server.services.search import NOT_LIKELY, SearchResult, SearchService
from memory_server.services.turns import TurnService
from memory_server.sqlite import candidates
from memory_server.sqlite.database import Database
from tests.conftest import Clock

SHOP = Caller("Claude", "s1", Project("/srv/shop", "shop"))
BLOG = Caller("Claude", "s2", Project("/srv/blog", "blog"))

Store = Callable[..., MemoryId]
Search = Callable[..., SearchResult]


@pytest.fixture(scope="session")
def bundled() -> BundledEmbedder:
    return BundledEmbedder()


@pytest.fixture
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """The bundled model, for tests marked `usefixtures("meaning")`; spelling for the others."""
    if "meaning" in request.fixturenames:
        found: Embedder = request.getfixturevalue("bundled")
        return found
    return HashingEmbedder()


@pytest.fixture
def meaning() -> None:
    """The test needs an embedder that understands."""


@pytest.fixture
def memories(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def graph(database: Database, queue: EmbeddingQueue) -> GraphService:
    return GraphService(database, queue)


@pytest.fixture
def turns(database: Database, queue: EmbeddingQueue) -> TurnService:
    return TurnService(database, queue, FactService(database))


@pytest.fixture
def store(memories: MemoryService) -> Store:
    """Stores an observation of no project, or what the keywords say; answers its id."""

    def store(content: str, caller: Caller = Caller(), **fields: Any) -> MemoryId:  # noqa: B008
        draft = replace(MemoryDraft(content, MemoryType.OBSERVATION), **fields)
        return stored(memories, draft, caller).memory.id

    return store


def stored(memories: MemoryService, draft: MemoryDraft, caller: Caller = Caller()) -> Stored:  # noqa: B008
    return memories.store(draft, None, caller)


@pytest.fixture
def search(database: Database, queue: EmbeddingQueue) -> Search:
    """Searches once all is embedded, counting no accesses: the keywords of `Filter` are the filter."""
    service = SearchService(database, queue, count_access=False)

    def search(text: str, limit: int = 10, mode: str = "hybrid", **options: Any) -> SearchResult:
        queue.work()
        wanted = Filter(**{name: options.pop(name) for name in Filter.__slots__ if name in options})
        return service.search(text, wanted, limit, mode, **{"caller": Caller(), **options})

    return search


def ids(found: SearchResult) -> list[MemoryId]:
    return [hit.memory.id for hit in found.hits]


def by_id(found: SearchResult) -> dict[MemoryId, Hit]:
    return {hit.memory.id: hit for hit in found.hits}


def say(store: Store, clock: Clock, *lines: str, session: str = "s1") -> list[MemoryId]:
    """A conversation: a line each 20 seconds, each a memory of its own."""
    said = []
    for line in lines:
        clock.advance(seconds=20)
        said.append(store(line, session=session))
    return said


def fill(store: Store, clock: Clock, number: int = 20) -> None:
    """Other memories, so that a rank means something."""
    topics = [
        "garden",
        "kitchen",
        "printer",
        "bicycle",
        "guitar",
        "harbour",
        "winter",
        "market",
        "violin",
        "bridge",
    ]
    for i in range(number):
        clock.advance(hours=1)
        store(f"Note {i} about the {topics[i % 10]}: number {i * 37} was checked by team {chr(65 + i)}")


# Each memory is read with its neighbours


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_an_answer_is_found_whose_words_stand_in_the_message_before(
    store: Store, search: Search, clock: Clock, mode: str
) -> None:
    fill(store, clock)
    *_, asked, answer, after = say(
        store,
        clock,
        "Maria: Hi, nice to see you again!",
        "Maria: When did you lose your job at the bakery, Evan?",
        "Evan: Right after my birthday, they had to close.",
        "Maria: Oh no.",
    )
    fill(store, clock)
    found = ids(search("When did Evan lose his job at the bakery?", mode=mode))
    assert set(found[:2]) == {asked, answer}
    assert after not in found[:2]


def test_without_a_session_nothing_is_lent(store: Store, search: Search, clock: Clock) -> None:
    store("Maria: When did you lose your job at the bakery, Evan?")
    clock.advance(seconds=20)
    other = store("Sam: Right after the storm, they had to close.")
    hits = by_id(search("Who lost a job at the bakery?", mode="keyword"))
    assert other not in hits


def test_notes_of_one_session_hours_apart_lend_nothing(store: Store, search: Search, clock: Clock) -> None:
    store("The billing service runs on port 8443", session="s1")
    clock.advance(hours=3)
    other = store("Tea is served at four", session="s1")
    hit = by_id(search("billing port", mode="keyword")).get(other)
    assert hit is None or hit.why.words == 0


def test_notes_of_one_session_within_minutes_lend(store: Store, search: Search, clock: Clock) -> None:
    store("Which port does the billing service use?", session="s1")
    clock.advance(minutes=2)
    answer = store("It is 8443, as ever", session="s1")
    hit = by_id(search("billing service port", mode="keyword"))[answer]
    assert 0 < hit.why.words < 1


def test_neighbours_do_not_reach_through_a_filter(store: Store, search: Search, clock: Clock) -> None:
    first, second = say(store, clock, "Ann: Which port has the proxy?", "Bob: It is 8443.")
    with_type = ids(search("proxy port", type=MemoryType.DECISION))
    assert with_type == []
    assert set(ids(search("proxy port", mode="keyword"))) == {first, second}


# Questions in parts


@pytest.mark.parametrize(
    "question",
    [
        "Where does my sister live? And what is the name of my cat?",
        "What is the name of my cat? By the way, where does my sister live?",
    ],
)
@pytest.mark.usefixtures("meaning")
def test_two_questions_in_one_find_both_answers(
    store: Store, search: Search, clock: Clock, question: str
) -> None:
    fill(store, clock)
    sister = store("My sister lives in Lisbon near the river")
    cat = store("My cat is called Mimi")
    fill(store, clock)
    assert set(ids(search(question))[:2]) == {sister, cat}


@pytest.mark.usefixtures("meaning")
def test_two_questions_in_chinese_find_both_answers(store: Store, search: Search, clock: Clock) -> None:
    for note in (
        "会议改到了星期四",
        "打印机在三楼",
        "自行车放在车库里",
        "周末去公园跑步",
        "冰箱里有牛奶",
        "电影票买好了",
    ):
        store(note)
    sister, cat = store("我妹妹住在上海的徐汇区"), store("我的猫叫咪咪")
    for note in (
        "花园里的玫瑰开了",
        "吉他需要换弦",
        "市场早上七点开门",
        "桥正在维修",
        "冬天很冷",
        "港口停了两艘船",
    ):
        store(note)
    assert set(ids(search("我的猫叫什么名字？另外，我妹妹住在哪里？"))[:2]) == {sister, cat}


@pytest.mark.usefixtures("meaning")
def test_small_talk_before_a_question_does_not_lead_away(store: Store, search: Search, clock: Clock) -> None:
    fill(store, clock)
    answer = store("The dentist can be reached at 555-0134")
    store("We had a long day at the office")
    store("The weather was awful all week")
    store("The dog was ill all night")
    question = (
        "What a week. The weather was awful and we had a long day at the office. The dog was ill all night. "
        "How do I reach the dentist?"
    )
    assert ids(search(question))[0] == answer


# Time


@pytest.mark.parametrize("question", ["What did we decide in May 2023?", "2023年5月我们决定了什么？"])
def test_a_date_in_the_question_raises_what_is_of_that_time(
    store: Store, search: Search, question: str
) -> None:
    at = {
        month: store(f"We decide 决定 topic {month}", occurred_at=f"2023-{month}-12")
        for month in ("03", "05", "08")
    }
    found = search(question)
    assert ids(found)[0] == at["05"]
    assert "date" in found.hits[0].why.also
    assert all("date" not in hit.why.also for hit in found.hits[1:])


def test_a_date_relative_to_now(store: Store, search: Search, clock: Clock) -> None:
    last_month = store("The release was moved by a day", occurred_at="2026-02-12")
    store("The release was moved by an hour", occurred_at="2026-03-13")
    store("The release was moved by a week", occurred_at="2025-02-12")
    for question in ("Was the release moved last month?", "the release 上个月"):
        assert ids(search(question))[0] == last_month
    clock.advance(days=365)
    assert ids(search("Was the release moved last month?"))[0] != last_month


@pytest.mark.parametrize("text", ["release notes", "", "*"])
@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, {1, 2, 3, 4}),
        ("2023-05-10T00:00:00.000Z", None, {2, 3, 4}),
        (None, "2023-05-10T00:00:00.000Z", {1}),
        ("2023-05-10T00:00:00.000Z", "2023-05-10T00:00:00.001Z", {2}),
        ("2023-05-10T00:00:00.001Z", "2026-01-01T00:00:00.000Z", {3}),
        ("2026-03-01T00:00:00.000Z", None, {4}),
        ("2027-01-01T00:00:00.000Z", None, set()),
    ],
)
def test_since_and_until_say_when_it_occurred(
    store: Store, search: Search, text: str, since: str | None, until: str | None, expected: set[int]
) -> None:
    for number, day in enumerate(
        ["2023-05-09T23:59:59.999Z", "2023-05-10T00:00:00.000Z", "2024-01-01", None], 1
    ):
        assert store(f"release notes of build {number * 111}", occurred_at=day) == number
    assert set(ids(search(text, since=since, until=until))) == expected


def test_what_occurred_long_ago_has_decayed(store: Store, search: Search) -> None:
    store("The red printer is broken", occurred_at="2024-01-01")
    store("The blue printer is broken")
    hits = by_id(search("printer"))
    old, new = hits[MemoryId(1)], hits[MemoryId(2)]
    assert old.why.decay < 0.01 < 4 < new.why.decay


def test_of_two_equal_texts_the_one_that_occurred_later_comes_first_whatever_was_stored_first(
    store: Store, search: Search
) -> None:
    """Both have decayed to nothing."""
    later = store("The printer stands on floor 4", occurred_at="2016-06-01", project="shop")
    earlier = store("The printer stands on floor 4", occurred_at="2015-01-01", project="blog")
    assert ids(search("Where does the printer stand?")) == [later, earlier]


# The first day


@pytest.mark.usefixtures("meaning")
def test_a_store_of_five_memories_is_searched_by_words_too(
    store: Store, search: Search, clock: Clock
) -> None:
    outdated = store("orders: the database is Postgres 14 and it runs on the small host")
    store("Tea is served at four")
    store("The office closes at nine")
    clock.advance(days=30)
    current = store("orders: since the move the database is Postgres 16")
    store("Bicycles go into the cellar")
    found = search("Which database version do orders run on?")
    hits = by_id(found)
    assert set(ids(found)[:2]) == {outdated, current}
    assert hits[outdated].why.words > 0.2
    assert hits[current].why.words > 0.2


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_in_a_store_of_two_the_rarer_word_decides(store: Store, search: Search, mode: str) -> None:
    ledger, _ = (
        store("The ledger service needs orders by noon"),
        store("The mail service needs orders by five"),
    )
    found = search("When does the ledger need orders?", mode=mode)
    assert ids(found)[0] == ledger
    assert all(hit.why.words > 0 for hit in found.hits)


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_in_a_small_store_a_word_that_is_rare_in_general_outweighs_a_usual_one(
    store: Store, search: Search, mode: str
) -> None:
    usual = store("They like tea and long walks")
    rare = {store("The ledger is kept in the cellar"), store("The harbour office wants a ledger")}
    store("Bicycles go into the garage")
    store("The market opens at seven")
    found = ids(search("ledger like", mode=mode))
    assert set(found[:2]) == rare
    assert found[2] == usual


# Scores


@pytest.mark.usefixtures("meaning")
def test_the_answer_is_likely_and_nothing_is_said(store: Store, search: Search, clock: Clock) -> None:
    fill(store, clock)
    answer = store("The staging proxy listens on port 8443")
    found = search("Which port does the staging proxy listen on?", likely=True)
    assert ids(found)[0] == answer
    assert found.hits[0].score > 0.5
    assert found.note is None


@pytest.mark.usefixtures("meaning")
def test_what_restates_a_better_hit_comes_last_but_for_a_sum(store: Store, search: Search) -> None:
    twins = {
        store("The staging database listens on port 5433."),
        store("The staging database listens on port 5433 now.", type=MemoryType.LEARNING),
    }
    backup = store("The staging database is backed up at night.")
    first, second, last = ids(search("Which port does the staging database listen on?"))
    assert second == backup
    assert {first, last} == twins
    lunches = {
        store("I paid 12 euros for lunch."),
        store("I paid 12 euros for lunch!", type=MemoryType.LEARNING),
    }
    store("I paid for the garage and for dinner.")
    assert set(ids(search("How much did I spend on lunch this month?"))[:2]) == lunches


@pytest.mark.usefixtures("meaning")
def test_where_nothing_is_likely_the_best_is_shown_and_the_note_says_so(
    store: Store, search: Search, clock: Clock
) -> None:
    fill(store, clock)
    found = search("Who won the chess final in Reykjavik?", likely=True)
    assert found.note == NOT_LIKELY
    assert found.hits
    assert found.hits[0].score < LIKELY


@pytest.mark.parametrize("question", ["Which port does the staging proxy listen on?", "xylophone"])
@pytest.mark.usefixtures("meaning")
def test_unlikely_hits_are_left_out_only_where_no_limit_is_asked_for(
    store: Store, search: Search, clock: Clock, question: str
) -> None:
    fill(store, clock)
    store("The staging proxy listens on port 8443")
    everything, likely = search(question), search(question, likely=True)
    assert len(everything.hits) == 10
    assert ids(likely) == [
        hit.memory.id for place, hit in enumerate(everything.hits) if place == 0 or hit.score >= LEAST
    ]
    assert len(likely.hits) < 10
    assert all(0 <= hit.score <= 1 for hit in everything.hits)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_an_empty_store_answers_nothing_and_no_note(search: Search, mode: str) -> None:
    assert (search("anything?", mode=mode).hits, search("anything?", mode=mode).note) == ([], None)


# Own first


def test_the_callers_project_and_none_come_first_and_others_follow_with_their_project(
    store: Store, search: Search
) -> None:
    other = store("We deploy on Fridays at noon", project="blog")
    own = store("We deploy on Mondays at noon", project="shop")
    of_none = store("We deploy on Tuesdays at noon")
    found = search("When do we deploy?", caller=SHOP)
    assert ids(found)[2] == other
    assert set(ids(found)[:2]) == {own, of_none}
    assert found.hits[2].memory.project == "blog"
    assert ids(search("When do we deploy?", caller=BLOG))[0] == other


def test_a_much_better_answer_of_another_project_still_comes_first(store: Store, search: Search) -> None:
    other = store("The invoices are numbered by the harbour office", project="blog")
    store("Tea is served at four", project="shop")
    assert ids(search("Who numbers the invoices at the harbour office?", caller=SHOP))[0] == other


@pytest.mark.parametrize("caller", [SHOP, BLOG])
def test_with_an_asterisk_all_projects_are_equal(store: Store, search: Search, caller: Caller) -> None:
    for project in ("blog", "shop", None):
        store(f"We deploy on the {len(project or '')}th at noon", project=project)
    everywhere = search("When do we deploy?", project="*", caller=caller)
    nobody = search("When do we deploy?")
    assert [(hit.memory.id, hit.rank) for hit in everywhere.hits] == [
        (hit.memory.id, hit.rank) for hit in nobody.hits
    ]
    assert len(everywhere.hits) == 3


def test_a_project_that_is_named_is_the_only_one(store: Store, search: Search) -> None:
    other = store("We deploy on Fridays at noon", project="blog")
    store("We deploy on Mondays at noon", project="shop")
    of_none = store("We deploy on Tuesdays at noon")
    assert ids(search("When do we deploy?", project="blog", caller=SHOP)) == [other]
    assert ids(search("When do we deploy?", project="", caller=SHOP)) == [of_none]
    assert by_id(search("", project="blog", caller=SHOP)).keys() == {other}


# What is linked


@pytest.mark.parametrize("relation", [Relation.SOLVES, Relation.CONTRADICTS])
def test_what_answers_a_hit_is_shown_inside_it_and_does_not_compete(
    store: Store, search: Search, graph: GraphService, relation: Relation
) -> None:
    text = "Raise the buffer of the printer queue, then the printer queue overflow is gone. " * 2
    error = store("The printer queue overflow stops all jobs of the printer queue", type=MemoryType.ERROR)
    fix = store(text, type=MemoryType.LEARNING)
    other = store("The printer was bought in Lisbon")
    graph.connect(Edge(fix, error, relation), SHOP)
    found = search("printer queue overflow stops all jobs")
    assert ids(found) == [error, other]
    (linked,) = found.hits[0].linked
    assert (linked.id, linked.relation) == (fix, relation)
    assert linked.content.endswith("…")
    assert text.startswith(linked.content.removesuffix("…"))
    assert found.hits[1].linked == ()


def test_a_fix_that_was_found_first_stays_where_it_is(
    store: Store, search: Search, graph: GraphService
) -> None:
    error = store("The printer stops", type=MemoryType.ERROR)
    fix = store("To raise the spooler buffer of the printer helps", type=MemoryType.LEARNING)
    graph.connect(Edge(fix, error, Relation.SOLVES), SHOP)
    found = search("raise the spooler buffer of the printer")
    assert ids(found) == [fix, error]
    assert [hit.linked for hit in found.hits] == [(), ()]


def test_other_edges_and_ended_ones_are_not_linked(store: Store, search: Search, graph: GraphService) -> None:
    error = store("The printer queue overflow stops all jobs", type=MemoryType.ERROR)
    old, near = store("Restart the printer"), store("The printer queue has a buffer")
    ended = Edge(old, error, Relation.SOLVES)
    graph.connect(ended, SHOP)
    graph.connect(Edge(near, error, Relation.EXTENDS), SHOP)
    graph.end(ended)
    found = search("printer queue overflow stops all jobs")
    assert set(ids(found)) == {error, old, near}
    assert all(hit.linked == () for hit in found.hits)


def test_an_outdated_memory_ranks_below_what_superseded_it(
    store: Store, search: Search, graph: GraphService
) -> None:
    old = store("The orders database runs Postgres 14")
    new = store("Since the move Postgres 16 is what we have")
    graph.connect(Edge(new, old, Relation.SUPERSEDES), SHOP)
    found = search("Which Postgres runs the orders database?")
    assert ids(found) == [new, old]
    assert found.hits[1].memory.superseded_by == new


# Browse


@pytest.mark.parametrize("text", ["", "*", "  ", " * "])
def test_an_empty_query_lists_the_newest_first(store: Store, search: Search, clock: Clock, text: str) -> None:
    for number in range(3):
        clock.advance(hours=1)
        store(f"Note of the hour {number * 17}")
    found = search(text)
    assert ids(found) == [3, 2, 1]
    assert (found.note, found.degraded) == (None, ())


def test_the_newest_are_those_that_occurred_last(store: Store, search: Search, clock: Clock) -> None:
    imported = store("An old letter about the harbour", occurred_at="2019-04-01")
    now = store("The harbour is frozen")
    clock.advance(days=1)
    between = store("The market opens at seven", occurred_at="2025-12-24")
    assert ids(search("")) == [now, between, imported]


def test_pages_have_no_gaps_and_no_repeats(store: Store, search: Search, clock: Clock) -> None:
    fill(store, clock, 23)
    pages = [ids(search("", limit=5, offset=offset)) for offset in range(0, 30, 5)]
    assert [len(page) for page in pages] == [5, 5, 5, 5, 3, 0]
    assert [id for page in pages for id in page] == list(range(23, 0, -1))


def test_the_list_takes_every_filter(store: Store, search: Search) -> None:
    fields: dict[str, Any] = {"type": MemoryType.ERROR, "project": "shop", "tags": ("ops",), "importance": 8}
    wanted = store("The proxy fails at noon", **fields)
    for name, value in {
        "type": MemoryType.DECISION,
        "project": "blog",
        "tags": ("dev",),
        "importance": 2,
    }.items():
        store(f"The {name} of something else {value}", **{**fields, name: value})
    filters: dict[str, Any] = {
        "type": MemoryType.ERROR, "project": "shop", "tags": ("OPS",), "min_importance": 8,
        "since": "2026-03-01", "until": "2026-04-01",
    }  # fmt: skip
    assert ids(search("", **filters)) == [wanted]
    for name, value in filters.items():
        if name not in ("since", "until"):
            assert len(ids(search("", **{name: value}))) == 4


def test_pages_of_a_search_go_on_where_the_one_before_ended(
    store: Store, search: Search, clock: Clock
) -> None:
    fill(store, clock, 25)
    pages = [
        ids(search("note about the garden checked by a team", limit=5, offset=offset))
        for offset in (0, 5, 10)
    ]
    assert len({id for page in pages for id in page}) == 15
    assert [id for page in pages for id in page] == ids(
        search("note about the garden checked by a team", limit=15)
    )


# Long texts

DEEP = "The vault code of the lighthouse was changed by Henrietta on a rainy Tuesday."
CHINESE_DEEP = "灯塔的保险柜密码由海伦在一个下雨的星期二更换。"


def long_text(deep: str = DEEP, at: int = 41_000, length: int = 60_000) -> str:
    """A text about gardens and markets with one sentence of another kind deep inside."""
    filler = " ".join(
        f"Row {number} of the garden was watered, and the market bought {number * 7} baskets."
        for number in range(1, length // 60)
    )
    place = filler.index(". ", at) + 2
    return f"{filler[:place]}{deep} {filler[place:]}"[:length]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_long_text_is_found_by_a_sentence_deep_inside_and_shown_as_that_part(
    store: Store, search: Search, clock: Clock, mode: str
) -> None:
    fill(store, clock, 8)
    text = long_text()
    id = store(text)
    found = search("Who changed the vault code of the lighthouse?", mode=mode)
    assert ids(found).count(id) == 1
    hit = found.hits[0]
    assert hit.memory.id == id
    assert DEEP in hit.content
    assert len(hit.content) <= 1.2 * parts.PART
    assert hit.memory.content == text
    number, count = map(int, str(hit.part).split(" of "))
    assert count == len(parts.split(text))
    assert DEEP in parts.split(text)[number - 1]


@pytest.mark.usefixtures("meaning")
def test_a_long_text_is_found_by_the_meaning_of_a_sentence_deep_inside(
    store: Store, search: Search, clock: Clock
) -> None:
    fill(store, clock, 8)
    id = store(
        long_text("My sister moved to Lisbon and works as a nurse in a hospital there. " * 3, 7_000, 11_000)
    )
    for mode in ("hybrid", "semantic"):
        hit = search("In which city is the family member with the medical job?", mode=mode).hits[0]
        assert hit.memory.id == id
        assert "works as a nurse" in hit.content


def test_a_long_chinese_text_is_found_by_a_sentence_deep_inside(store: Store, search: Search) -> None:
    filler = "".join(f"花园的第{number}排已经浇水，市场买了{number * 7}个篮子。" for number in range(1, 700))
    id = store(filler[:9_000] + CHINESE_DEEP + filler[9_000:])
    store("打印机在三楼")
    found = search("谁更换了灯塔保险柜的密码？")
    assert ids(found)[0] == id
    assert CHINESE_DEEP in found.hits[0].content


def test_a_short_memory_is_no_part(store: Store, search: Search) -> None:
    store("x" * 4_989 + " lighthouse")
    (hit,) = search("lighthouse").hits
    assert (hit.part, hit.content) == (None, hit.memory.content)


def test_a_long_text_is_listed_by_its_first_part(store: Store, search: Search) -> None:
    id = store(long_text())
    (hit,) = search("").hits
    assert hit.memory.id == id
    assert hit.content.startswith("Row 1 of the garden")
    assert hit.part == f"1 of {len(parts.split(long_text()))}"


def test_the_part_shown_follows_the_question(store: Store, search: Search) -> None:
    store(long_text())
    first = search("vault code lighthouse Henrietta").hits[0]
    second = search("basket 4193 row 599").hits[0]
    assert first.part != second.part
    assert "Row 599 " in second.content


def test_a_long_text_that_is_deleted_is_found_no_more_and_undone_it_is_again(
    store: Store, search: Search, memories: MemoryService
) -> None:
    id = store(long_text())
    before = search("vault code lighthouse").hits[0]
    memories.forget(id, False, SHOP)
    assert search("vault code lighthouse").hits == []
    memories.restore(id)
    after = search("vault code lighthouse").hits[0]
    assert (after.content, after.part, after.memory.content) == (
        before.content,
        before.part,
        before.memory.content,
    )


def test_a_long_text_that_is_purged_leaves_nothing(
    store: Store, search: Search, memories: MemoryService, database: Database
) -> None:
    id = store(long_text())
    search("vault")
    memories.forget(id, True, SHOP)
    assert search("vault code lighthouse").hits == []
    with database.read() as tx:
        for table in ("memories", "memory_parts", "part_embeddings", "embeddings"):
            assert tx.value(f"SELECT count(*) FROM {table}") == 0, table
        assert tx.candidates.postings(Embedded.MEMORIES, [], Filter()).texts == 0
    with pytest.raises(NotFound):
        memories.restore(id)


def test_a_long_text_is_superseded_as_one(store: Store, search: Search, graph: GraphService) -> None:
    old = store(long_text())
    new = store("The vault code of the lighthouse is now kept by Ingrid")
    graph.connect(Edge(new, old, Relation.SUPERSEDES), SHOP)
    found = search("Who changed the vault code of the lighthouse?")
    assert ids(found) == [new, old]


def test_the_same_long_text_again_is_the_same_memory_and_another_one_is_not(
    memories: MemoryService, search: Search
) -> None:
    draft = MemoryDraft(long_text(), MemoryType.OBSERVATION)
    first, again = stored(memories, draft), stored(memories, draft)
    assert (again.memory.id, again.consolidated) == (first.memory.id, True)
    other = stored(memories, replace(draft, content=long_text("The lamp was changed by Ingrid.")))
    assert not other.consolidated
    assert set(ids(search("Who changed it?"))) == {first.memory.id, other.memory.id}


def test_a_long_text_that_is_shortened_is_found_by_its_new_words_only(
    store: Store, search: Search, memories: MemoryService
) -> None:
    id = store(long_text())
    memories.update(id, MemoryChange(content="The lamp is green"), caller=Caller())
    assert search("vault code Henrietta", mode="keyword").hits == []
    (hit,) = search("green lamp").hits
    assert (hit.content, hit.part) == ("The lamp is green", None)


# Turns


def register(turns: TurnService, message: str, caller: Caller, **fields: Any) -> int:
    return turns.register(TurnDraft(message, message[:30], **fields), {}, caller)


def recalled(turns: TurnService, text: str, caller: Caller, project: str | None = None) -> list[int]:
    return [turn.id for turn, _ in turns.retrieve(text, 10, caller, project).turns]


def test_turns_of_the_callers_project_come_first_and_of_a_project_named_alone(turns: TurnService) -> None:
    other = register(turns, "We deploy the service on Fridays", BLOG)
    own = register(turns, "We deploy the service on Mondays", SHOP)
    text = "When do we deploy the service?"
    assert recalled(turns, text, SHOP) == [own, other]
    assert recalled(turns, text, BLOG) == [other, own]
    assert recalled(turns, text, SHOP, "*") == recalled(turns, text, BLOG, "*")
    for name in ("blog", "/srv/blog"):
        assert recalled(turns, text, SHOP, name) == [other]
        assert recalled(turns, text, BLOG, name) == [other]
    assert recalled(turns, text, SHOP, "shop") == [own]
    assert recalled(turns, text, SHOP, "nowhere") == []


def test_a_turn_inherits_the_words_of_the_question_before_it_in_its_session(
    turns: TurnService, clock: Clock
) -> None:
    for number in range(12):
        register(
            turns, f"We talked about garden row {number * 13} and the market", SHOP, session=f"x{number}"
        )
    asked = register(turns, "Which port does the staging proxy listen on?", SHOP, session="a")
    clock.advance(seconds=30)
    answer = register(turns, "It is 8443, as ever.", SHOP, session="a")
    elsewhere = register(turns, "It was fine, as ever.", SHOP, session="b")
    found = recalled(turns, "staging proxy port", SHOP)
    assert set(found[:2]) == {asked, answer}
    assert elsewhere not in found[:2]


def test_a_turn_keeps_when_it_occurred(turns: TurnService, clock: Clock) -> None:
    old = register(turns, "The release was moved", SHOP, occurred_at="2023-05-04T00:00:00.000Z")
    new = register(turns, "The release was moved", SHOP)
    assert recalled(turns, "Was the release moved in May 2023?", SHOP) == [old, new]
    assert recalled(turns, "Was the release moved?", SHOP) == [new, old]
    ((turn, score), *_) = turns.retrieve("Was the release moved in May 2023?", 1, SHOP).turns
    assert turn.occurred_at == "2023-05-04T00:00:00.000Z"
    assert 0 <= score <= 1


def test_a_small_project_is_searched_as_a_large_one_is(
    store: Store, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where texts of other projects stand around what is found, in the same talk."""
    things = "harbour crane winch anchor rope buoy".split()
    for number in range(60):
        text = f"Alice: the {things[number % 6]} and the {things[number % 5]} were mended in berth {number}"
        project = (SHOP, BLOG)[number % 3 == 0].project.name
        store(text + " z" * 3_000 * (number % 20 == 7), project=project, session=f"talk {number % 4}")
    asked = ["Which rope and anchor?", "the crane in berth 12", "winch", "absent words", "mended 30 or 31"]

    def answers(project: str) -> list[list[tuple[int, float, float]]]:
        found = [search(text, 20, project=project) for text in asked]
        return [[(hit.memory.id, hit.rank, hit.score) for hit in each.hits] for each in found]

    small = {project: answers(project) for project in ("shop", "blog", "")}
    monkeypatch.setattr(candidates, "SMALL", -1)
    assert {project: answers(project) for project in small} == small
    assert sum(map(len, small["shop"])) > 10
