"""The index of words finds and scores as SQLite's does: the same texts in both, the same answers."""

import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import FactDraft, Home, Scope
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.domain.turn import TurnDraft
from memory_server.language import query
from memory_server.postgres import terms
from memory_server.sqlite.database import Database
from memory_server.storage.candidates import Posting
from memory_server.storage.database import Database as AnyDatabase
from memory_server.storage.tx import WriteTx
from tests.conftest import Clock, InMemory, rounds
from tests.postgres_server import new_tenant

WORDS = (
    "deploy deployed deploys running runs the of memory_server 2026-11-23 10.10.10 v1.2 naïve Straße pve-01 a "
    "10.10.10.10 a.b.a.b.a C++ 数据库 数据 資料庫 据库的 記憶 我 服务器 サーバー 데이터 ① ㎏ ﬁne 🚀 — "
    "!? '' \\ ' & | :* <-> 7:x İstanbul ΣΑΣ x\u0301 ſ Ԩ"
).split()
"""Words of both languages, compounds that repeat themselves, and what a query language could take for its own."""

NUMBERS = (10**20, -(2**63), 1e16, 1e300, 0.1, -0.0)
"""Numbers that SQLite writes in its own way."""

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
LONG = TEXTS.map(lambda text: f"{text} " * (6_000 // len(text) + 1))
"""So long that it has parts."""
TAGS = st.lists(st.sampled_from(["deploy", "数据", "a.b", "Ops"]), max_size=3, unique=True).map(tuple)
TERMS = [
    *(term for word in WORDS for term in query.parse(word).terms),
    *map(query.index_phrase, WORDS),
    "",
    " ",
]
PEOPLE = (None, Person("Ann", frozenset({"p"})), Person("Bob", None))


@contextmanager
def stores() -> Iterator[tuple[AnyDatabase, AnyDatabase]]:
    """A file of SQLite and a tenant on PostgreSQL, both empty."""
    with tempfile.TemporaryDirectory() as folder:
        both = (Database(Path(folder) / "memory.db", Clock()), new_tenant(Clock()))
        yield both
        for each in both:
            each.close()


def put(tx: WriteTx, person: Person | None, text: str, tags: tuple[str, ...], project: str | None) -> None:
    """A text as each kind that has an index; what is of no project is the person's own."""
    caller = Caller("tests", "s")
    tx.memories.insert(MemoryDraft(text, MemoryType.ERROR, project, tags), caller)
    tx.turns.insert(TurnDraft(text, text[:40]), caller)
    own = f"{person.name}\x1f" if person else ""
    home = Home(Scope.PROJECT, project) if project else Home(Scope.GLOBAL, own)
    if tx.facts.find(home, text[:150]) is None:
        tx.facts.insert(
            home,
            FactDraft(text[:150], {"said": [text, 3, None, True, *NUMBERS], text[:20]: 1.5}),
            None,
            caller,
        )


def same(one: Posting, other: Posting) -> None:
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert one.everywhere == other.everywhere


@settings(
    max_examples=rounds(2),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(PEOPLE),
            st.one_of(TEXTS, TEXTS, TEXTS, LONG),
            TAGS,
            st.sampled_from([None, "p", "q"]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_both_stores_find_the_same_texts_with_the_same_scores(
    rows: list[tuple[Person | None, str, tuple[str, ...], str | None]],
) -> None:
    with stores() as both:
        for store in both:
            for person, text, tags, project in rows:
                with acting.as_(person), store.write() as tx:
                    if (
                        person is None
                        or project is None
                        or person.projects is None
                        or project in person.projects
                    ):
                        put(tx, person, text, tags, project)
        for person in PEOPLE:
            answers = []
            for store in both:
                with acting.as_(person), store.read() as tx:
                    everywhere = [tx.candidates.postings(kind, TERMS, Filter()) for kind in Embedded]
                    answers.append(
                        (
                            [each for held in everywhere for each in held.postings],
                            tx.candidates.postings(Embedded.MEMORIES, TERMS, Filter(project="p")).postings,
                            [
                                [held.texts for held in everywhere],
                                tx.word_hits.hits(TERMS),
                                [
                                    tx.peers.find(
                                        TERMS[:-2][start : start + 6], 0.5, Filter(), 20, rare_only=rare
                                    )
                                    for start in range(0, len(TERMS) - 8, 6)
                                    for rare in (False, True)
                                ],
                                tx.words.holds_han(),
                            ],
                        )
                    )
            (one, of_one, rest), (other, of_other, others) = answers
            for a, b in zip([*one, *of_one], [*other, *of_other], strict=True):
                same(a, b)
            assert rest == others


@pytest.fixture(scope="module")
def indexed() -> Iterator[WriteTx]:
    """A transaction of SQLite, whose triggers index."""
    store = InMemory(Clock())
    with store.write() as tx:
        yield tx


@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Cn", "Co"], exclude_characters="\0"), min_size=1, max_size=60
    )
)
def test_the_tokens_of_any_text_are_those_of_sqlite(indexed: WriteTx, text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    tx = indexed
    stored = tx.memories.insert(MemoryDraft(text, MemoryType.ERROR), Caller())
    of_index = tx.value("SELECT content FROM memory_words WHERE rowid = ?", (stored.id,))  # type: ignore[attr-defined]
    assert terms.tokens(text) == [terms._short(each) for each in tx.tokenize(of_index)]  # type: ignore[attr-defined]


def test_every_character_of_unicode_3_2_has_the_tokens_of_sqlite(indexed: WriteTx) -> None:
    old = unicodedata.ucd_3_2_0
    characters = [
        each for each in map(chr, range(1, 0x30000)) if old.category(each) not in ("Cn", "Cs", "Co")
    ]
    words = [f"a{each}b {each} c{each}" for each in characters]
    for start in range(0, len(words), 500):
        text = " ".join(words[start : start + 500])
        stored = indexed.memories.insert(MemoryDraft(text, MemoryType.ERROR), Caller())
        of_index = indexed.value("SELECT content FROM memory_words WHERE rowid = ?", (stored.id,))  # type: ignore[attr-defined]
        assert terms.tokens(text) == indexed.tokenize(of_index)  # type: ignore[attr-defined]


def test_a_text_with_more_terms_than_an_index_takes_is_found_by_its_words(clock: Clock) -> None:
    store = new_tenant(clock)
    text = " ".join(f"word{number}" for number in range(60_000))
    with store.write() as tx:
        tx.turns.insert(TurnDraft(text, "many words"), Caller())
    with store.read() as tx:
        for term in ("word1", "word59999", "many words"):
            (posting,) = tx.candidates.postings(Embedded.TURNS, [term], Filter()).postings
            assert posting.ids.tolist() == [1]
    store.close()
