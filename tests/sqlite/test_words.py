"""The word index: always what the memories say, whoever wrote them, in any script."""

import json
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.language.han import TO_SIMPLIFIED
from memory_server.language.query import index_phrase, parse
from memory_server.language.text import SPACELESS, fold
from memory_server.sqlite import candidates
from memory_server.sqlite.candidates import Candidates
from memory_server.sqlite.database import Database
from memory_server.sqlite.peers import Peers
from memory_server.sqlite.transaction import Transaction
from memory_server.storage import peers
from tests.conftest import ROOT, Sqlite, rounds, undone

SCRIPTS = st.sampled_from([
    *"aZzéÉñßøİıſ09_-'./:@+#*\"()[]{}<>|^~`\\ \t\n",  # Latin and marks
    *"你好世界数据库记憶資料庫臺灣龍龜〇々，。！「」　",
    *"ひらがなカタカナーヽ゛ﾃｰﾀ",
    *"한국어가힣ㅋㅎ",
    *"ПриветЁёΣσςΆάԨ",
    *"שלוםمرحبا٣ﷺﻻ",
    *"นี่ไทยनमस्तेবাংলা",
    *"ＡＢｃ１２！～①②㎏㈱㍿½²³ªﬁﬃⅣ℃™№Ⓐ𝐁𝒙𝟛",
    *"😀👩\u200d💻🇨🇳♥\ufe0f€£¥→",
    "\u0301", "\u3005", "\uf900", "\ufa0e", "\U00020000", "\U0002f800", "\u2f00",
])  # fmt: skip
UNUSED = ("Cn", "Cs", "Co", "Cc")
TEXTS = st.text(SCRIPTS, min_size=1, max_size=40)

MANY = settings(max_examples=rounds(60))


def put(tx: Transaction, content: str, tags: str = "[]") -> int:
    tx.execute("INSERT INTO memories (content, type, tags) VALUES (?, 'error', ?)", (content, tags))
    return int(tx.value("SELECT max(id) FROM memories"))


def found(tx: Transaction, text: str) -> list[int]:
    """The memories that hold any word of a text, by the index alone."""
    postings = [Candidates(tx).posting(Embedded.MEMORIES, term) for term in parse(text).terms]
    return sorted({id for posting in postings for id in posting.ids.tolist()})


def indexed(tx: Transaction) -> list[tuple[object, ...]]:
    """Every token of the index with the memories it is in, and where."""
    tx.connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.v USING fts5vocab(main, memory_words, instance)"
    )
    return sorted(tx.rows("SELECT term, doc, col, offset FROM temp.v"))


def assert_index_is_whole(tx: Transaction) -> None:
    """The index holds what the memories say, no more and no less, and equals one built anew."""
    assert tx.rows("SELECT rowid FROM memory_words ORDER BY 1") == tx.rows(
        "SELECT id FROM memories ORDER BY 1"
    )
    for content, tags, indexed_content, indexed_tags in tx.rows(
        "SELECT m.content, m.tags, w.content, w.tags FROM memories AS m JOIN memory_words AS w ON w.rowid = m.id"
    ):
        assert tx.tokenize(indexed_content) == tx.tokenize(index_phrase(content))
        assert tx.tokenize(indexed_tags) == tx.tokenize(index_phrase(tags))
    before = indexed(tx)
    tx.execute("INSERT INTO memory_words (memory_words) VALUES ('rebuild')")
    assert indexed(tx) == before


# Folding: what Python does to a question, SQL does to a memory


@MANY
@given(TEXTS)
def test_python_and_sql_fold_any_text_into_the_same_tokens(database: Database, text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    with undone(database) as tx:
        put(tx, text)
        assert tx.tokenize(tx.value("SELECT content FROM memory_words")) == tx.tokenize(index_phrase(text))


def test_python_and_sql_fold_every_single_character_into_the_same_tokens(database: Database) -> None:
    """Of Unicode 3.2, which every Python knows beside its own: each in a word of its own, 50 words in a text."""
    old = unicodedata.ucd_3_2_0
    characters = [each for each in map(chr, range(0x20, 0x30000)) if old.category(each) not in UNUSED]
    words = [f"a{each}b" for each in characters]
    texts = [" ".join(words[start : start + 50]) for start in range(0, len(words), 50)]
    with undone(database) as tx:
        tx.execute(
            "INSERT INTO memories (content, type) SELECT value, 'error' FROM json_each(?)",
            (json.dumps(texts),),
        )
        rows = tx.rows("SELECT content FROM memory_words ORDER BY rowid")
        unlike = [
            f"among U+{ord(text[1]):04X} and the next"
            for text, (content,) in zip(texts, rows, strict=True)
            if tx.tokenize(content) != tx.tokenize(index_phrase(text))
        ]
    assert unlike == []


def test_the_table_of_forms_is_what_python_folds(database: Database) -> None:
    with database.read() as tx:
        forms = dict(tx.rows("SELECT form, folded FROM character_forms"))
    for form, folded in forms.items():
        assert len(form) == 1
        assert folded.lower().split() == (fold(form) if len(folded) == 1 else index_phrase(form)).split()
    han = {chr(one): chr(other) for one, other in TO_SIMPLIFIED.items()}
    assert {form: forms.get(form) for form in han} == han
    full_width = {chr(0xFF00 + i): chr(0x20 + i) for i in range(1, 95)}
    assert {form: forms[form].lower() for form in full_width} == {a: b.lower() for a, b in full_width.items()}


def test_the_migration_sets_apart_the_characters_that_a_question_sets_apart() -> None:
    sql = (ROOT / "migrations" / "0001_memories.sql").read_text(encoding="utf-8")
    classes = set(re.findall(r"GLOB '\[(⺀[^\]]*)\]'", sql))
    assert len(classes) == 1
    in_sql, in_python = re.compile(f"[{classes.pop()}]"), re.compile(f"[{SPACELESS}]")
    for each in map(chr, range(0x20, 0x323B0)):
        assigned = unicodedata.category(each) not in UNUSED
        folded_away = fold(each) != each
        if assigned and not folded_away:
            assert bool(in_sql.match(each)) == bool(in_python.match(each)), f"U+{ord(each):04X}"


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("我喜欢AI技术", "技术"),
        ("我喜欢AI技术", "AI"),
        ("臺灣的資料庫", "台湾"),
        ("台湾的数据库", "資料庫 數據庫"),
        ("用户身份需要确认", "身份"),
        ("server pve-01 is down", "pve-01"),
        ("TODO: x", "TODO: x"),
        ("I write C++ daily", "C++"),
        ("the café opens", "cafe"),
        ("We deployed it", "deploying"),
        ("ＰＹＴＨＯＮ ３", "python 3"),
        ("重さは5㎏", "5kg"),
        ("ﾃｽﾄ", "テスト"),
        ("step ① done", "1"),
        ("10m² flat", "10m2"),
        ("𝗯𝗼𝗹𝗱 claim", "bold"),
        ("ありがとう", "ありがとう"),
        ("안녕하세요", "안녕하세요"),
        ("/etc/nginx/nginx.conf", "nginx.conf"),
    ],
)
def test_a_memory_is_found_by_its_words(database: Database, memory: str, question: str) -> None:
    with database.write() as tx:
        put(tx, "something else entirely")
        id = put(tx, memory)
        assert found(tx, question) == [id]


def test_tags_are_found_too(database: Database) -> None:
    with database.write() as tx:
        id = put(tx, "x", '["部署", "release-notes"]')
        assert found(tx, "部署") == found(tx, "release") == [id]


@MANY
@given(st.text(st.one_of(SCRIPTS, st.characters()), min_size=1, max_size=60))
def test_any_text_is_a_valid_question(database: Database, text: str) -> None:
    with database.read() as tx:
        asked = parse(text.encode("utf-8", "replace").decode())
        for term in (*asked.terms, asked.text):
            Candidates(tx).posting(Embedded.MEMORIES, term)
        tx.peers.find([*asked.terms, asked.text], 0.6, Filter(), 10)
        tx.candidates.containing(Embedded.MEMORIES, asked.text, 10)


VOCABULARY = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


@MANY
@given(
    VOCABULARY,
    st.lists(VOCABULARY, max_size=8),
    st.sampled_from([0.3, 0.6, 1.0]),
    st.sampled_from([1, 2, 200]),
)
def test_no_memory_with_enough_of_the_terms_is_missing_among_the_peers(
    database: Database, terms: list[str], others: list[list[str]], least: float, counted: int
) -> None:
    with undone(database) as tx, pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers, "COUNTED", counted)
        held = {put(tx, " ".join(each)): set(each) for each in others}
        found = tx.peers.find(terms, least, Filter(), 50)
    enough = {id for id, each in held.items() if len(each & set(terms)) >= least * len(terms)}
    assert enough <= set(found)
    assert all(held[id] & set(terms) for id in found)


OF_PROJECTS = st.lists(st.tuples(st.sampled_from(["p", "q", None]), VOCABULARY, st.booleans()), max_size=8)


@MANY
@given(OF_PROJECTS, st.sampled_from(["p", "q", "", "never heard of"]), st.sampled_from([1, 3, 6]))
def test_in_a_small_project_words_score_as_they_do_among_all(
    database: Database, texts: list[tuple[str | None, list[str], bool]], project: str, others: int
) -> None:
    """A long text has parts, which are of its project."""
    terms = [*"abcdefgh", "a b", "absent"]
    with undone(database) as tx:
        of: dict[int, str] = {}
        for name, words, long in texts:
            text = " ".join(words)
            id = tx.value(
                "INSERT INTO memories (content, type, project) VALUES (?, 'error', ?) RETURNING id",
                (f"{text} {'z ' * 3_000} {text}" if long else text, name),
            )
            of[id] = name or ""
        all_of = [Candidates(tx).posting(Embedded.MEMORIES, term) for term in terms]
        held = tx.candidates.postings(Embedded.MEMORIES, terms, Filter(project=project))
        own = held.postings
        more = [id for id in of if of[id] != project][:others]
        joined = Candidates(tx).extended(terms, held, np.array(more, np.int64)).postings
        assert Candidates(tx).count(Embedded.MEMORIES) == tx.value(
            "SELECT count(*) FROM memory_words_docsize"
        )
    for every, found, both in zip(all_of, own, joined, strict=True):
        whole = every.ids & parts.WHOLE
        for these, among in ((found, {project}), (both, {project})):
            wanted = [of[id] in among or (these is both and id in more) for id in whole.tolist()]
            assert these.ids.tolist() == every.ids[wanted].tolist()
            assert these.scores.tolist() == every.scores[wanted].tolist()
            assert these.everywhere == every.everywhere


def test_only_a_project_that_is_small_is_looked_through_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "SMALL", 2)
    with undone(database) as tx:
        for name in ("p", "p", "p", "q", "q", None):
            tx.execute("INSERT INTO memories (content, type, project) VALUES ('x', 'error', ?)", (name,))
        found = {
            name: tx.candidates.postings(Embedded.MEMORIES, ["x"], Filter(project=name)).project
            for name in ("p", "q", "", None)
        }
        assert found == {"p": None, "q": "q", "": "", None: None}
        assert tx.candidates.postings(Embedded.FACTS, ["x"], Filter(project="q")).project is None


@MANY
@given(VOCABULARY, st.lists(VOCABULARY, max_size=8), st.sampled_from([0.3, 0.6, 1.0]))
def test_among_the_peers_by_rare_terms_alone_none_is_missing_that_holds_one(
    database: Database, terms: list[str], others: list[list[str]], least: float
) -> None:
    with undone(database) as tx, pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers, "COUNTED", 3)
        held = {put(tx, " ".join(each)): set(each) for each in others}
        found = tx.peers.find(terms, least, Filter(), 50, rare_only=True)
        every = tx.peers.find(terms, least, Filter(), 50)
    rare = {term for term in terms if sum(term in each for each in held.values()) < 3}
    assert all(held[id] & rare for id in found)
    if rare == set(terms):
        assert found == every


def test_peers_are_those_that_a_filter_lets_pass(database: Database) -> None:
    with undone(database) as tx:
        ids = [
            tx.value(
                "INSERT INTO memories (content, type, project) VALUES (?, 'error', ?) RETURNING id",
                (f"word {'x' * 5_000 if number == 3 else number}", "p" if number % 2 else "q"),
            )
            for number in range(300)
        ]
        assert tx.peers.find(["word"], 1.0, Filter(project="p"), 1_000) == ids[1::2]
        assert tx.peers.find(["word"], 1.0, Filter(project="p"), 20) == ids[1::2][:20]


def test_of_a_common_word_few_rows_are_read(database: Database) -> None:
    with undone(database) as tx:
        ids = [put(tx, f"common {number}") for number in range(peers.COUNTED + 50)]
        held = Peers(tx)._holding(["common", "7", "absent"])
        assert {term: len(rows) for term, rows in held.items()} == {
            "common": peers.COUNTED,
            "7": 1,
            "absent": 0,
        }
        # What it alone decides is still found whole.
        assert tx.peers.find(["common"], 1.0, Filter(), 1_000) == ids


# Triggers

CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(1, 6), TEXTS),
        st.tuples(st.just("put"), st.integers(1, 6), TEXTS),
        st.tuples(st.just("upsert"), st.integers(1, 6), TEXTS),
        st.tuples(st.just("reword"), st.integers(1, 6), TEXTS),
        st.tuples(st.just("retag"), st.integers(1, 6), TEXTS),
        st.tuples(st.just("delete"), st.integers(1, 6), st.just("")),
        st.tuples(st.just("reword all"), st.just(0), TEXTS),
    ),
    max_size=12,
)
STATEMENTS = {
    "insert": "INSERT OR IGNORE INTO memories (id, content, type) VALUES (:id, :text, 'error')",
    "put": "INSERT OR REPLACE INTO memories (id, content, type, tags) VALUES (:id, :text, 'error', json_array(:text))",
    "upsert": "INSERT INTO memories (id, content, type) VALUES (:id, :text, 'error')"
    " ON CONFLICT (id) DO UPDATE SET content = excluded.content",
    "reword": "UPDATE memories SET content = :text WHERE id = :id",
    "retag": "UPDATE OR REPLACE memories SET tags = json_array(:text) WHERE id = :id",
    "delete": "DELETE FROM memories WHERE id = :id",
    "reword all": "UPDATE memories SET content = :text || id",
}


@MANY
@given(CHANGES)
def test_the_index_follows_every_change(database: Database, changes: list[tuple[str, int, str]]) -> None:
    with undone(database) as tx:
        for kind, id, text in changes:
            tx.connection.execute(STATEMENTS[kind], {"id": id, "text": unicodedata.normalize("NFC", text)})
        assert_index_is_whole(tx)


def test_the_index_follows_the_stock_program(file_database: Database, sqlite: Sqlite) -> None:
    path = file_database.path
    assert path is not None
    sqlite(
        path,
        "INSERT INTO memories (content, type, tags) VALUES ('bread with 蜂蜜', 'error', '[\"breakfast\"]')",
        "INSERT INTO memories (content, type) VALUES ('milk', 'error'), ('cheese', 'error')",
        "UPDATE memories SET content = '臺北 tea' WHERE content = 'milk'",
        "DELETE FROM memories WHERE content = 'cheese'",
        "INSERT OR REPLACE INTO memories (id, content, type) VALUES (2, 'coffee', 'pattern')",
    )
    with file_database.write() as tx:
        assert_index_is_whole(tx)
        answers = {
            question: found(tx, question)
            for question in ("蜂蜜", "breakfast", "milk", "台北", "cheese", "coffee")
        }
    assert answers == {"蜂蜜": [1], "breakfast": [1], "milk": [], "台北": [], "cheese": [], "coffee": [2]}


def test_the_id_of_a_memory_cannot_be_changed(file_database: Database, sqlite: Sqlite) -> None:
    assert file_database.path is not None
    sqlite(file_database.path, "INSERT INTO memories (content, type) VALUES ('x', 'error')")
    for statement in ("UPDATE memories SET id = 9", "UPDATE OR REPLACE memories SET id = 9"):
        assert "the id of a memory never changes" in sqlite(file_database.path, statement, fails=True)


def test_an_id_is_never_used_twice(database: Database) -> None:
    with database.write() as tx:
        first = put(tx, "x")
        tx.execute("DELETE FROM memories")
        assert put(tx, "y") > first


@pytest.mark.parametrize(
    "row",
    [
        "('', 'error')",
        "(printf('%100001s', 'x'), 'error')",
        "('x', 'rumour')",
        "(NULL, 'error')",
    ],
)
def test_the_stock_program_cannot_write_what_a_tool_would_refuse(
    file_database: Database, sqlite: Sqlite, row: str
) -> None:
    assert file_database.path is not None
    assert "constraint failed" in sqlite(
        file_database.path, f"INSERT INTO memories (content, type) VALUES {row}", fails=True
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("importance", "11"),
        ("tags", "'{}'"),
        ("tags", "'a, b'"),
        ("metadata", "'[]'"),
        ("created_at", "'yesterday'"),
    ],
)
def test_a_hand_edit_that_makes_no_sense_is_refused(
    file_database: Database, sqlite: Sqlite, column: str, value: str
) -> None:
    assert file_database.path is not None
    sqlite(file_database.path, "INSERT INTO memories (content, type) VALUES ('x', 'error')")
    assert "failed" in sqlite(file_database.path, f"UPDATE memories SET {column} = {value}", fails=True)
