"""What a memory says of a file is told together with what the file says now."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.review import ReviewKind
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project, project_of
from memory_server.services.digests import DigestService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.ground import GroundService
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.resume import ResumeService
from memory_server.services.review import ReviewService
from memory_server.services.search import SearchService
from memory_server.storage.database import Database
from tests.conftest import Clock
from tests.services.test_resume import WORDING

QUESTION = "port of the staging database"
NOTE = "The staging database listens on port 5433; it is `STAGING_PORT` in config.py."


def at(folder: Path) -> Caller:
    return Caller("Claude", "s1", project_of(None, folder), folder=folder)


class Stores:
    """The services that write, read and look."""

    def __init__(self, database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> None:
        self.ground = GroundService(database)
        self.memories = MemoryService(database, queue, segmenter, written=self.ground.written)
        self.facts = FactService(database, written=self.ground.written)
        self._recall = RecallService(database, queue, None)
        self._search = SearchService(database, queue)

    def store(self, content: str, caller: Caller) -> int:
        memory = self.memories.store(
            MemoryDraft(content, MemoryType.OBSERVATION, caller.project.name), None, caller
        ).memory
        self.ground.observe()
        return memory.id

    def recall(self, question: str, caller: Caller) -> str:
        return self._recall.recall(question, (), 800, RecallWish(), caller).answer.text

    def remark(self, question: str, caller: Caller) -> str | None:
        return self._search.search(question, Filter(), 5, "keyword", caller=caller).hits[0].remark


@pytest.fixture
def stores(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> Stores:
    return Stores(database, queue, segmenter)


def test_a_changed_line_is_told_with_the_memory_that_names_it(stores: Stores, tree: Path) -> None:
    stores.store(NOTE, at(tree))
    question = "Which port does the staging database listen on?"
    assert "6000" not in stores.recall(question, at(tree))
    (tree / "config.py").write_text("DEBUG = False\nSTAGING_PORT = 6000\n")
    assert "config.py:2 now reads `STAGING_PORT = 6000`" in stores.recall(question, at(tree))
    remark = stores.remark(question, at(tree))
    assert remark is not None
    assert "STAGING_PORT = 6000" in remark


def test_nothing_is_said_where_the_line_stands_or_has_moved(stores: Stores, tree: Path) -> None:
    stores.store(NOTE, at(tree))
    (tree / "config.py").write_text("DEBUG = False\n\n# ports\nSTAGING_PORT = 5433\n")
    assert stores.remark(QUESTION, at(tree)) is None


def test_a_file_of_the_same_name_in_another_project_is_another_file(
    stores: Stores, tree: Path, tmp_path: Path
) -> None:
    stores.store(NOTE, at(tree))
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=elsewhere, check=True)
    (elsewhere / "config.py").write_text("STAGING_PORT = 7000\n")
    assert stores.remark(QUESTION, at(elsewhere)) is None
    assert stores.remark(QUESTION, Caller("Claude", "s2")) is None


def test_a_project_that_is_named_in_a_folder_without_a_repository_has_no_ground(
    stores: Stores, tree: Path, tmp_path: Path
) -> None:
    stores.store(NOTE, replace(at(tree), project=Project("shop", "shop")))
    (tree / "config.py").write_text("STAGING_PORT = 6000\n")
    assert stores.remark(QUESTION, replace(at(tree), project=Project("shop", "shop"))) is not None
    plain = tmp_path / "plain"
    plain.mkdir()
    assert stores.remark(QUESTION, replace(at(plain), project=Project("shop", "shop"))) is None


def test_a_name_is_looked_for_first_in_the_file_that_a_session_has_just_read(
    stores: Stores, tree: Path
) -> None:
    for name in ("a", "b", "c", "d"):
        (tree / f"{name}.py").write_text("retries = 3\n")
    subprocess.run(["git", "add", "."], cwd=tree, check=True)
    note = "`retries` is 3: more of them only waste the bank's time."
    stores.store(note, at(tree))
    (tree / "c.py").write_text("retries = 4\n")
    assert stores.remark("retries of the bank", at(tree)) is None
    (tree / "c.py").write_text("retries = 3\n")
    stores.ground.read(tree / "c.py", at(tree).project)
    stores.store(f"{note} So said the bank itself.", at(tree))
    (tree / "c.py").write_text("retries = 4\n")
    assert "c.py:1 now reads" in (stores.remark("What did the bank itself say of retries?", at(tree)) or "")


def test_a_credential_in_a_changed_line_is_not_told(stores: Stores, tree: Path) -> None:
    (tree / "config.py").write_text("BANK_TOKEN = read_token()\n")
    stores.store("The bank's token comes from `BANK_TOKEN` in config.py.", at(tree))
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tree / "config.py").write_text(f'BANK_TOKEN = "{secret}"\n')
    remark = stores.remark("Where does the token of the bank come from?", at(tree))
    assert remark is not None
    assert secret not in remark


def test_a_digest_leaves_out_what_its_files_contradict(
    stores: Stores, database: Database, queue: EmbeddingQueue, tree: Path, clock: Clock
) -> None:
    caller = at(tree)
    ports = {name: f"{name.upper()}_PORT" for name in ("bank", "mail", "cart", "stock", "login", "audit")}
    (tree / "config.py").write_text(
        "".join(f"{port} = 5{place}\n" for place, port in enumerate(ports.values()))
    )
    for place, (name, port) in enumerate(ports.items()):
        stores.store(
            f"The {name} server of the staging cluster listens on port 5{place}, `{port}` in config.py.",
            caller,
        )
    with database.write() as tx:
        tx.projects.mark_folder(1, str(tree))
    clock.advance(days=90)
    stores.store("Somebody looked at the cluster today.", replace(caller, session="s2"))
    text = (tree / "config.py").read_text()
    (tree / "config.py").write_text(text.replace("MAIL_PORT = 51", "MAIL_PORT = 99"))
    assert DigestService(database, queue).make_due() == 1
    with database.read() as tx:
        sources = {id for (id,) in tx.statements.rows("SELECT item_id FROM digested")}
    assert sources == {1, 3, 4, 5, 6}


def test_another_text_speaks_of_the_ground_of_today(stores: Stores, tree: Path) -> None:
    id = stores.store(NOTE, at(tree))
    (tree / "config.py").write_text("DEBUG = False\nSTAGING_PORT = 6000\n")
    change = MemoryChange(content=NOTE.replace("5433", "6000"))
    stores.memories.update(MemoryId(id), change, at(tree))
    assert stores.remark(QUESTION, at(tree)) is None
    stores.ground.observe()
    assert stores.remark(QUESTION, at(tree)) is None
    (tree / "config.py").write_text("DEBUG = False\nSTAGING_PORT = 6001\n")
    assert "6001" in (stores.remark(QUESTION, at(tree)) or "")


def test_facts_have_a_ground_too(stores: Stores, tree: Path) -> None:
    value = "5433, `STAGING_PORT` in config.py"
    stores.facts.write(FactDraft("staging.port", value), Scope.PROJECT, at(tree))
    stores.ground.observe()
    (tree / "config.py").write_text("STAGING_PORT = 6000\n")
    assert "now reads `STAGING_PORT = 6000`" in stores.recall("What is the staging port?", at(tree))


def test_what_was_deleted_leaves_no_anchor(stores: Stores, database: Database, tree: Path) -> None:
    id = MemoryId(stores.store(NOTE, at(tree)))
    with database.read() as tx:
        assert tx.anchors.select(Embedded.MEMORIES, [id], at(tree).project.key)
    stores.memories.forget(id, purge=True, caller=at(tree))
    with database.read() as tx:
        assert tx.anchors.select(Embedded.MEMORIES, [id], at(tree).project.key) == {}


def test_a_text_that_changed_before_it_was_looked_up_keeps_no_anchor(
    stores: Stores, database: Database, tree: Path, clock: Clock
) -> None:
    memory = stores.memories.store(MemoryDraft(NOTE, MemoryType.OBSERVATION), None, at(tree)).memory
    clock.advance(minutes=1)
    stores.memories.update(memory.id, MemoryChange(content="Nobody knows the port."), Caller("Claude"))
    stores.ground.observe()
    with database.read() as tx:
        assert tx.anchors.select(Embedded.MEMORIES, [memory.id], at(tree).project.key) == {}


def test_a_review_lists_what_has_changed(
    stores: Stores, database: Database, segmenter: JiebaSegmenter, tree: Path
) -> None:
    id = stores.store(NOTE, at(tree))
    review = ReviewService(database, segmenter)
    assert [
        each for each in review.review(None, at(tree)).findings if each.kind is ReviewKind.CHANGED_GROUND
    ] == []
    (tree / "config.py").write_text("STAGING_PORT = 6000\n")
    (finding,) = review.review(None, at(tree)).findings
    assert finding.kind is ReviewKind.CHANGED_GROUND
    assert finding.refs == (f"m{id}",)
    assert "STAGING_PORT = 6000" in finding.problem.text


def test_a_briefing_tells_what_has_changed(stores: Stores, database: Database, tree: Path) -> None:
    draft = MemoryDraft(NOTE, MemoryType.DECISION, importance=8)
    stores.memories.store(draft, None, at(tree))
    stores.ground.observe()
    (tree / "config.py").write_text("STAGING_PORT = 6000\n")
    resumed = ResumeService(database).resume(500, frozenset(), WORDING, at(tree))
    assert "now reads `STAGING_PORT = 6000`" in resumed.briefing.text
