"""Faded notes get a digest. Nothing is lost by it, and to delete the digest undoes it."""

from collections.abc import Sequence

import pytest

from memory_server.domain import digest as domain
from memory_server.domain.caller import Caller
from memory_server.domain.digest import LEAST, Note
from memory_server.domain.edge import Edge, Relation, Walk
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.recall import Recallable
from memory_server.domain.turn import TurnDraft
from memory_server.errors import NotFound
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.digests import AT_ONCE, DigestService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.resume import ResumeService
from memory_server.services.search import SearchService
from memory_server.services.turns import TurnService
from memory_server.sqlite.database import Database
from tests.conftest import Clock
from tests.services.test_resume import WORDING

CLAUDE = Caller("Claude", "s1", Project("shop", "shop"))
PARTS = ("login", "cart", "search", "basket", "stock", "invoice", "mail")


@pytest.fixture
def service(database: Database, queue: EmbeddingQueue) -> DigestService:
    return DigestService(database, queue)


@pytest.fixture
def store(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def old(database: Database, clock: Clock) -> list[MemoryId]:
    """Seven observations of one session 60 days ago, and a turn; and a session of today."""
    ids = note(database, PARTS)
    with database.write() as tx:
        tx.turns.insert(TurnDraft("Why?", "The tests of all parts were slow"), CLAUDE)
    clock.advance(days=60)
    with database.write() as tx:
        today = Caller("Claude", "s2", CLAUDE.project)
        tx.turns.insert(TurnDraft("Go on", "Went on with the login"), today)
        tx.memories.insert(MemoryDraft("Seen today", MemoryType.OBSERVATION, "shop"), today)
    return ids


def note(
    database: Database, parts: Sequence[str], type: MemoryType = MemoryType.OBSERVATION
) -> list[MemoryId]:
    with database.write() as tx:
        return [
            tx.memories.insert(MemoryDraft(f"The tests of the {part} take long", type, "shop"), CLAUDE).id
            for part in parts
        ]


def digests(database: Database) -> list[MemoryId]:
    with database.read() as tx:
        return [
            MemoryId(id) for (id,) in tx.rows("SELECT id FROM memories WHERE created_by = 'memory-server'")
        ]


def briefing(database: Database) -> str:
    return ResumeService(database).resume(2000, frozenset(), WORDING, CLAUDE).briefing.text


def test_a_faded_session_gets_one_digest_which_the_briefing_tells_instead(
    database: Database, service: DigestService, old: list[MemoryId]
) -> None:
    before = briefing(database)
    assert all(f"The tests of the {part} take long" in before for part in PARTS)
    assert service.make_due() == 1
    assert service.make_due() == 0
    (digest,) = digests(database)
    with database.read() as tx:
        stored = tx.memories.get(digest)
        linked = tx.edges.between([digest, *old], Walk())
    assert "(Digest of 7 observations and 1 turn, 2026-03-14)" in stored.content.replace(".)", ")")
    assert [(edge.source, edge.target, edge.relation) for edge in linked] == [
        (digest, id, Relation.SUMMARIZES) for id in old
    ]
    after = briefing(database)
    assert after.count("take long") < before.count("take long")
    assert "Digest of 7 observations" in after
    assert " more" not in after


def answers(database: Database, queue: EmbeddingQueue, question: str) -> list[set[int]]:
    """Return the memories in the answers of a search, of a recall, and of a hook before a prompt."""
    hits = SearchService(database, queue).search(question, Filter(), 20, "hybrid", caller=CLAUDE).hits
    recall = RecallService(database, queue, None)
    recalled = recall.find(question, RecallWish(), CLAUDE).hits
    by_hook = ByMeaning(recall).find(question, CLAUDE)
    return [
        {hit.memory.id for hit in hits},
        *({hit.id for hit in found if hit.kind is Recallable.MEMORY} for found in (recalled, by_hook)),
    ]


@pytest.mark.both_stores
def test_answers_have_what_a_digest_was_made_from_instead_of_it(
    database: Database, queue: EmbeddingQueue, service: DigestService, old: list[MemoryId]
) -> None:
    service.make_due()
    queue.drain()
    assert digests(database)
    for memory_ids in answers(database, queue, "tests of the basket take long"):
        assert old[PARTS.index("basket")] in memory_ids
        assert not memory_ids & set(digests(database))
    recalled = TurnService(database, queue, FactService(database)).retrieve("slow tests", 5, CLAUDE)
    assert "The tests of all parts were slow" in [turn.summary for turn, _ in recalled.turns]


def test_a_digest_is_an_answer_where_its_notes_are_none(
    database: Database, queue: EmbeddingQueue, service: DigestService, old: list[MemoryId]
) -> None:
    service.make_due()
    queue.drain()
    filter = Filter(tags=("digest",))
    hits = (
        SearchService(database, queue).search("tests of the basket", filter, 20, "hybrid", caller=CLAUDE).hits
    )
    assert [hit.memory.id for hit in hits] == digests(database)


def test_a_digest_of_an_older_version_that_repeats_greetings_is_told_nowhere(
    database: Database, queue: EmbeddingQueue, old: list[MemoryId]
) -> None:
    greetings = (
        "Tim: Hey John! John: Hey Tim! Tim: Woohoo! John: Great! (Digest of 20 observations, 2026-03-14.)"
    )
    with database.write() as tx:
        draft = MemoryDraft(greetings, MemoryType.LEARNING, "shop", ("digest",))
        digest = tx.memories.insert(draft, Caller("memory-server")).id
    queue.drain()
    assert "Woohoo" not in briefing(database)
    assert all(digest not in memory_ids for memory_ids in answers(database, queue, "Woohoo, John and Tim"))


def test_a_session_of_greetings_gets_no_digest_and_keeps_no_other_from_one(
    database: Database, service: DigestService, clock: Clock
) -> None:
    with database.write() as tx:
        for number in range(2 * AT_ONCE):
            for _ in range(LEAST):
                caller = Caller("Claude", f"g{number}", CLAUDE.project)
                tx.memories.insert(MemoryDraft("Hey, good morning!", MemoryType.OBSERVATION, "shop"), caller)
    clock.advance(days=1)
    note(database, PARTS)
    clock.advance(days=60)
    with database.write() as tx:
        tx.memories.insert(MemoryDraft("Seen today", MemoryType.OBSERVATION, "shop"), Caller("Claude", "s2"))
    assert service.make_due() == 1


def test_to_delete_a_digest_undoes_it_for_good_and_it_can_be_restored(
    database: Database, service: DigestService, store: MemoryService, old: list[MemoryId]
) -> None:
    before = briefing(database)
    service.make_due()
    (digest,) = digests(database)
    told = briefing(database)
    store.forget(digest, False, CLAUDE)
    assert briefing(database) == before
    assert service.make_due() == 0
    store.restore(digest)
    assert briefing(database) == told


@pytest.mark.parametrize("how", ["deleted", "purged", "rewritten", "superseded", "turn"])
def test_a_digest_goes_with_what_it_repeats(
    database: Database,
    service: DigestService,
    store: MemoryService,
    queue: EmbeddingQueue,
    old: list[MemoryId],
    how: str,
) -> None:
    service.make_due()
    (digest,) = digests(database)
    match how:
        case "deleted" | "purged":
            store.forget(old[0], how == "purged", CLAUDE)
        case "rewritten":
            store.update(old[0], MemoryChange(content="Another text"), caller=Caller())
        case "superseded":
            with database.write() as tx:
                new = tx.memories.insert(MemoryDraft("New", MemoryType.OBSERVATION, "shop"), CLAUDE)
                tx.edges.connect(Edge(new.id, old[0], Relation.SUPERSEDES), CLAUDE)
        case "turn":
            TurnService(database, queue, FactService(database)).forget(1, False, CLAUDE)
    assert digests(database) == []
    with pytest.raises(NotFound):
        store.restore(digest)
    assert service.make_due() == 1
    (anew,) = digests(database)
    with database.read() as tx:
        text = tx.memories.get(anew).content
    assert ("1 turn" in text) is (how != "turn")
    assert f"{7 if how in ('turn', 'rewritten') else 6} observations" in text


def test_a_purge_takes_a_deleted_digest_out_of_the_trash(
    database: Database, service: DigestService, store: MemoryService, old: list[MemoryId]
) -> None:
    service.make_due()
    store.forget(digests(database)[0], False, CLAUDE)
    store.forget(old[0], True, CLAUDE)
    with database.read() as tx:
        assert tx.rows("SELECT id FROM trash") == []


def test_a_digest_that_somebody_has_rewritten_stays(
    database: Database, service: DigestService, store: MemoryService, old: list[MemoryId]
) -> None:
    service.make_due()
    (digest,) = digests(database)
    store.update(digest, MemoryChange(content="All tests were slow in spring"), caller=Caller())
    store.forget(old[0], False, CLAUDE)
    with database.read() as tx:
        assert tx.memories.get(digest).content == "All tests were slow in spring"
    assert service.make_due() == 0


def test_digests_that_are_nobodys_do_not_hang_together(
    database: Database, service: DigestService, store: MemoryService, old: list[MemoryId], clock: Clock
) -> None:
    service.make_due()
    store.update(digests(database)[0], MemoryChange(content="All tests were slow in spring"), caller=Caller())
    with database.write() as tx:
        tx.execute("INSERT INTO digested (kind, item_id, digest_id) VALUES ('turn', 99, 0)")
    store.forget(old[0], False, CLAUDE)
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM digested WHERE digest_id = 0") == 9


def test_decisions_preferences_and_the_last_session_are_not_digested(
    database: Database, service: DigestService, clock: Clock
) -> None:
    note(database, PARTS)
    for type in (MemoryType.DECISION, MemoryType.PREFERENCE, MemoryType.LEARNING, MemoryType.ERROR):
        note(database, [f"{part} {type}" for part in PARTS], type)
    clock.advance(days=400)
    assert service.make_due() == 0


def test_what_has_changed_since_a_run_looked_is_not_digested(
    database: Database,
    service: DigestService,
    store: MemoryService,
    old: list[MemoryId],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digest = domain.digest

    def change_meanwhile(group: Sequence[Note]) -> MemoryDraft | None:
        store.update(old[0], MemoryChange(content="The tests of the login are fast now"), CLAUDE)
        return digest(group)

    monkeypatch.setattr(domain, "digest", change_meanwhile)
    assert service.make_due() == 0
    assert digests(database) == []
    monkeypatch.undo()
    assert service.make_due() == 1


def test_each_digest_reads_its_own_notes_alone(
    database: Database, service: DigestService, old: list[MemoryId]
) -> None:
    with database.read() as tx:
        notes = tx.digests.notes(tx.now)
        assert set(tx.digests.notes(tx.now, among=notes[1:3])) == set(notes[1:3])
        assert {note.session for note in tx.digests.notes(tx.now, without=["s2"])} == {"s1"}


def test_nothing_is_digested_where_the_settings_say_so(
    database: Database, queue: EmbeddingQueue, old: list[MemoryId]
) -> None:
    assert DigestService(database, queue, enabled=False).make_due() == 0
    assert digests(database) == []


def test_a_model_may_write_a_better_one(
    database: Database, store: MemoryService, old: list[MemoryId]
) -> None:
    draft = MemoryDraft("Everything was slow in March", MemoryType.LEARNING, "shop")
    stored = store.store(draft, None, CLAUDE, [*old, old[0]]).memory
    told = briefing(database)
    assert "Everything was slow in March" in told
    assert "take long" not in told
    store.forget(stored.id, False, CLAUDE)
    assert "take long" in briefing(database)
    with pytest.raises(NotFound, match="No memory 999"):
        store.store(draft, None, CLAUDE, [MemoryId(999)])
