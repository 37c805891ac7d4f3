"""What was stored before the model was there is compared later; facts and turns are compared as memories are."""

import re
from collections.abc import Callable
from functools import cache

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType, Stored
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.errors import NotFound
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.graph import GraphService
from memory_server.services.late_comparing import LateComparing
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.resume import ResumeService, Wording
from memory_server.services.turns import TurnService
from memory_server.storage.database import Database
from memory_server.storage.peers import COUNTED
from tests.conftest import Clock

pytestmark = pytest.mark.both_stores

HOME = Caller("tests", "s1", Project("home", "home"))
OLD = "The gate code of the allotment is 4711"
NEW = "The allotment gate has a new code since Monday: 9034"
MAY_REPLACE = "m2 may replace m1 (4711 → 9034; + new, since, Monday)."


@cache
def bundled() -> Embedder:
    return BundledEmbedder()


class Home:
    """The services of one process; `work` loads the model."""

    def __init__(self, database: Database, segmenter: JiebaSegmenter, clock: Clock) -> None:
        queue = EmbeddingQueue(database, lambda _known: bundled(), lambda _space: bundled(), clock)
        self.database, self.queue = database, queue
        self.memories = MemoryService(database, queue, segmenter)
        self.facts = FactService(database)
        self.turns = TurnService(database, queue, self.facts)
        self.graph = GraphService(database, queue)
        self.late = LateComparing(database, queue, self.memories.texts)

    def store(self, text: str, project: str | None = "home") -> Stored:
        return self.memories.store(MemoryDraft(text, MemoryType.LEARNING, project), None, HOME)

    def write(self, key: str, value: object) -> None:
        self.facts.write(FactDraft(key, value), Scope.PROJECT, HOME)

    def work(self) -> None:
        self.queue.work()
        self.late.compare()

    def told(self) -> list[str]:
        return list(map(str, self.late.take(HOME)))

    def briefing(self, max_tokens: int = 800) -> str:
        wording = Wording("`list_memories`", lambda _problems: 20)
        return ResumeService(self.database).resume(max_tokens, frozenset(), wording, HOME).briefing.text


@pytest.fixture
def home(database: Database, segmenter: JiebaSegmenter, clock: Clock) -> Home:
    return Home(database, segmenter, clock)


def test_what_was_stored_before_the_model_was_there_is_told_later_once(home: Home) -> None:
    home.store(OLD)
    stored = home.store(NEW)
    assert (stored.similar, stored.maybe_supersedes) == ((), ())
    assert home.told() == []
    home.work()
    assert home.told() == [MAY_REPLACE]
    assert home.told() == []


def test_what_was_stored_with_its_vector_before_the_older_one_had_its_own_is_compared_with_that(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.work()
    with monkeypatch.context() as busy:
        busy.setattr(home.queue, "embed_now", lambda *_texts: None)
        home.store(OLD)
    stored = home.store(NEW)
    assert (stored.similar, stored.maybe_supersedes) == ((), ())
    home.work()
    assert home.told() == [MAY_REPLACE]
    with home.database.read() as tx:
        assert [update.new.handle for update in tx.likely_updates.replacing([1])] == ["m2"]


def test_what_is_compared_while_an_answer_is_told_is_told_by_the_next_one(home: Home) -> None:
    home.store(OLD)
    home.store(NEW)
    home.work()
    home.write("allotment.gate_code", 9034)

    class ComparedMeanwhile(str):
        """A name of a project; to compare it lets the background work come in between."""

        def __eq__(self, other: object) -> bool:
            home.work()
            return str(self) == other

        __hash__ = str.__hash__

    name = ComparedMeanwhile("home")
    told = home.late.take(Caller("tests", "s1", Project("home", name)))
    assert list(map(str, told)) == [MAY_REPLACE]
    assert {notice.new for notice in home.late.take(HOME)} == {"f allotment.gate_code"}


def test_a_twin_in_common_words_is_found_while_nothing_of_the_project_has_a_vector(home: Home) -> None:
    home.work()
    with home.database.write() as tx:
        for number in range(COUNTED):
            draft = MemoryDraft(f"The code of the allotment gate is {number}", MemoryType.LEARNING, "home")
            tx.memories.insert(draft, HOME)
    assert home.store("The code of the allotment gate is 7").consolidated


def test_a_briefing_tells_the_newer_one_and_behind_it_what_it_may_replace(home: Home) -> None:
    home.store(OLD)
    home.store(NEW)
    assert "4711" in home.briefing()
    home.work()
    home.store("The bees by the shed need sugar in March")
    assert f"{NEW} (may replace m1). {OLD} (m1, perhaps replaced)." in home.briefing()
    assert "4711" not in home.briefing(60)
    assert [memory.memory.superseded_by for memory in home.memories.get([MemoryId(1)]).memories] == [None]


def kept_apart(home: Home, clock: Clock) -> None:
    home.graph.connect(Edge(MemoryId(2), MemoryId(1)), HOME)


def rewritten(home: Home, clock: Clock) -> None:
    clock.advance(minutes=1)
    home.memories.update(MemoryId(1), MemoryChange(content=f"{OLD} at the back gate"), HOME)


def two_weeks_later(home: Home, clock: Clock) -> None:
    clock.advance(days=15)


@pytest.mark.parametrize("settle", [kept_apart, rewritten, two_weeks_later])
def test_a_briefing_marks_neither_once_a_client_has_said_so_or_after_two_weeks(
    home: Home, clock: Clock, settle: Callable[[Home, Clock], None]
) -> None:
    home.work()
    home.store(OLD)
    assert home.store(NEW).maybe_supersedes == (1,)
    assert "(m1, perhaps replaced)" in home.briefing()
    settle(home, clock)
    assert "4711" in home.briefing()
    assert "replace" not in home.briefing()


def test_what_the_answer_of_the_store_told_is_not_told_again(home: Home) -> None:
    home.store("The API gateway times out after 30 seconds in production")
    assert home.store("The API gateway times out after 60 seconds in production").maybe_supersedes == (1,)
    home.work()
    assert home.told() == []


def test_only_the_project_of_a_memory_is_told(home: Home) -> None:
    home.store(OLD, "garden")
    home.store(NEW, "garden")
    home.work()
    assert home.told() == []
    assert len(home.late.take(Caller(project=Project("garden", "garden")))) == 1


BESIDE = (
    "Der Klavierunterricht ist dienstags um 16 Uhr.",
    "Unser Hund frisst nur noch einmal am Tag.",
    "Meine Schwester ist nach Rostock gezogen.",
    "Die Chorprobe ist wegen des Umbaus in der Schule.",
    "Die Miete steigt auf 910 Euro.",
    "Besuch ist auch nach 21 Uhr in Ordnung.",
    "Der Kurs geht um halb sieben los.",
    "Montags gehen wir schwimmen.",
    "The library closes at 8 pm on Thursdays.",
    "Theo takes the 7:12 bus to school.",
    "Nora does not eat pork.",
    "The rucksack weighs 11 kg.",
    "The cleaner comes every two weeks.",
    "My brother works at the hospital.",
    "The kettle is broken, it leaks.",
    "Grandpa feeds the ducks on Saturdays.",
)
"""Notes of everyday life, each about something else."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The swimming lesson is on Tuesdays at 5 pm.", "Der Schwimmkurs ist jetzt freitags um 16 Uhr."),
        (
            "Die Katze bekommt zweimal am Tag Futter.",
            "The cat is fed three times a day since she lost weight.",
        ),
        ("妹妹上小学三年级。", "My little sister is in fourth grade now."),
        ("The baker is closed on Mondays.", "面包店星期一不营业。"),
    ],
)
def test_what_another_language_says_of_it_is_named_before_what_shares_the_language(
    home: Home, old: str, new: str
) -> None:
    home.work()
    for text in (*BESIDE, old):
        home.store(text)
    assert len(BESIDE) + 1 in [similar.memory.id for similar in home.store(new).similar]


def test_a_memory_may_replace_a_fact_until_that_is_written_anew(home: Home, clock: Clock) -> None:
    home.work()
    home.write("allotment.gate_code", "4711")
    home.work()
    assert "4711" in home.briefing()
    stored = home.store("The gate code of the allotment is 9034 now")
    assert stored.maybe_supersedes == ("f allotment.gate_code",)
    assert [similar.differs for similar in stored.similar] == ["4711 → 9034; + now"]
    assert "9034 now (may replace f allotment.gate_code)" in home.briefing()
    assert "4711 (f allotment.gate_code, perhaps replaced)" in home.briefing()
    clock.advance(minutes=1)
    home.write("allotment.gate_code", "9034")
    assert "may replace" not in home.briefing()


def test_a_memory_may_replace_what_a_turn_says(home: Home) -> None:
    home.work()
    said = "the physio says my knee brace stays on another six weeks"
    home.turns.register(TurnDraft(said, said), {}, HOME)
    assert "six weeks" in home.briefing()
    stored = home.store("The knee brace came off today, the physio says it is no longer needed")
    assert stored.maybe_supersedes == ("t1",)
    assert "came off today" in home.briefing()
    assert "six weeks (t1, perhaps replaced)" in home.briefing()


def test_a_memory_supersedes_a_fact_which_is_told_as_what_was(home: Home) -> None:
    home.work()
    home.write("allotment.gate_code", "4711")
    home.work()
    new = MemoryDraft("The gate code of the allotment is 9034 now", MemoryType.LEARNING, "home")
    stored = home.memories.store(new, None, HOME, supersedes=["f allotment.gate_code"])
    assert (stored.memory.id, stored.maybe_supersedes) == (2, ())
    assert home.facts.peek("allotment.gate_code", None, HOME) is None
    home.work()
    answer = RecallService(home.database, home.queue, None).recall(
        "Is 4711 the allotment gate code?", (), 800, RecallWish(), HOME
    )
    assert "9034 now (was: allotment gate code: 4711)" in answer.answer.text
    assert answer.answer.text.count("4711") == 1
    assert "9034" in home.briefing()
    assert "4711" not in home.briefing()
    assert home.facts.undelete("allotment.gate_code", None, HOME).value == "4711"


def test_a_memory_supersedes_a_turn_which_can_be_brought_back(home: Home) -> None:
    home.work()
    said = "my knee brace stays on another six weeks"
    home.turns.register(TurnDraft(f"the physio says {said}", "The knee brace"), {}, HOME)
    new = MemoryDraft("The knee brace came off today", MemoryType.LEARNING, "home")
    home.memories.store(new, None, HOME, supersedes=["t1"])
    older = home.memories.get([MemoryId(1)]).memories[0].memory
    assert (older.content, older.superseded_by) == (f"The knee brace\nthe physio says {said}", 2)
    assert "six weeks" not in home.briefing()
    home.work()
    assert home.told() == []
    assert home.turns.restore(1).summary == "The knee brace"


@pytest.mark.parametrize(("handle", "named"), [("f no.such", "No fact `no.such`."), ("t41", "No turn 41.")])
def test_superseding_a_fact_or_turn_that_is_not_there_stores_nothing(
    home: Home, handle: str, named: str
) -> None:
    with pytest.raises(NotFound, match=f"^{re.escape(named)}$"):
        home.memories.store(MemoryDraft(NEW, MemoryType.LEARNING, "home"), None, HOME, supersedes=[handle])
    assert home.memories.get([MemoryId(1)]).memories == []


def test_a_fact_may_replace_a_memory_and_is_told_later(home: Home) -> None:
    home.work()
    home.store("The mobile team meets at 9:15")
    home.write("mobile_team.meets_at", "10:00")
    home.work()
    assert [notice.split(" (")[0] for notice in home.told()] == ["f mobile_team.meets_at may replace m1"]
    assert "10:00 (may replace m1)" in home.briefing()
    assert "9:15 (m1, perhaps replaced)" in home.briefing()
    home.write("mobile_team.meets_at", "10:30")
    home.work()
    assert home.told() == []


def test_what_is_written_of_the_current_work_is_compared_with_nothing(home: Home) -> None:
    home.work()
    home.store("The task is to move the mobile team to 9:15")
    home.write("current.task", "Move the mobile team to 10:00")
    home.work()
    assert home.told() == []


def test_facts_and_turns_of_other_projects_and_later_ones_are_not_compared(home: Home, clock: Clock) -> None:
    elsewhere = Caller("tests", "s2", Project("shop", "shop"))
    home.facts.write(FactDraft("allotment.gate_code", "4711"), Scope.PROJECT, elsewhere)
    home.turns.register(TurnDraft(OLD, OLD), {}, elsewhere)
    home.work()
    assert home.store(NEW).similar == ()
    late = Home(home.database, home.memories.segmenter, clock)  # type: ignore[arg-type]
    late.store("The gate code of the allotment is 9034 now")
    clock.advance(seconds=1)
    late.write("allotment.gate_code", "4711")
    late.work()
    assert [(notice.new, notice.old) for notice in late.late.take(HOME)] == [
        ("m2", "m1"),
        ("f allotment.gate_code", "m2"),
        ("f allotment.gate_code", "m1"),
    ]


def test_what_was_stored_days_before_it_is_embedded_is_not_compared(home: Home, clock: Clock) -> None:
    home.store(OLD)
    home.store(NEW)
    clock.advance(days=2)
    home.work()
    assert home.told() == []


def test_where_several_have_the_file_only_memories_are_compared_later(home: Home) -> None:
    home.late.several = True
    home.work()
    home.write("mobile_team.meets_at", "10:00")
    home.work()
    home.queue.embed_now = lambda *_texts: None  # type: ignore[method-assign]
    home.store("The mobile team meets at 9:15")
    home.work()
    assert home.told() == []


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The swimming pass costs 300 yuan for ten visits.", "游泳次卡涨价了，十次要 360 元。"),
        (
            "Hanna's school fees are 210 euros a term.",
            "Hannas Schulgeld wurde auf 240 Euro pro Halbjahr angehoben.",
        ),
        ("Die Wohnung kostet 1.100 Euro warm.", "房租连暖气涨到 1180 欧元了。"),
    ],
)
def test_a_change_in_another_language_may_replace(home: Home, old: str, new: str, warm: bool) -> None:
    if warm:
        home.work()
    old_id = home.store(old).memory.id
    home.store("The bin lorry comes every second Thursday.")
    home.store("奶奶星期天来吃饭。")
    stored = home.store(new)
    if warm:
        assert stored.maybe_supersedes == (old_id,)
        return
    assert not stored.maybe_supersedes
    home.work()
    assert any(f"may replace m{old_id}" in line for line in home.told())
