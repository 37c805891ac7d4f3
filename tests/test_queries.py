"""Any text is a valid query, and an exact token finds the memory that holds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.language.text import clean
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.services.search import SearchService
from tests.conftest import InMemory, Servers, call, problems

MODES = ("hybrid", "keyword", "semantic")
HARD = [
    *(
        '"',
        '""',
        '"a',
        'a"b',
        "'",
        "''",
        "pve-01",
        "TODO: x",
        "C++",
        "C#",
        ".NET",
        "#42",
        "@alice",
        "a*",
        "*",
        "^a",
    ),
    *(
        "a:b",
        "content:a",
        "tags : x",
        "(a",
        ")",
        "a AND b",
        "AND",
        "OR OR",
        "NOT",
        "NOT a",
        "NEAR(a b, 2)",
        "a NEAR b",
    ),
    *(
        "{a b}: c",
        "-a",
        "+a",
        "a + b",
        "a.b.c",
        "%",
        "_",
        "a_b",
        "\\",
        "\\\\",
        "/",
        "//",
        ";",
        "--",
        "/* x */",
        "1=1",
    ),
    *(
        "'; DROP TABLE memories; --",
        "SELECT * FROM memories",
        "\0",
        "a\0b",
        "\ud800",
        "a\udfffb",
        "🚀",
        "👩‍👩‍👧‍👦",
        "🤖",
        "5₽",
    ),
    *(
        "\u200b",
        "\u202e",
        "\ufeff",
        "用户身份",
        "的",
        "我",
        "カタカナ",
        "ｶﾀｶﾅ",
        "한국어",
        "ﬁle",
        "①",
        "m²",
        "½",
        "Ⅳ",
        "İstanbul",
    ),
    *(
        "ß",
        "ẞ",
        "ſ",
        "Ǆ",
        "naïve",
        "e\u0301",
        "x\u0302",
        "हिन्दी",
        "ภาษาไทย",
        "עברית",
        "العربية",
        "\ue000",
        "\U000f0000",
    ),
    *("\U0002ebf0", "\U0001f1e9\U0001f1ea", " ", "\n", "\t\n"),
]

anything = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Co", "Cf", "Mn", "Lo"]),
        st.sampled_from("\"'*^:(){}+-_.%\\/#@用户身份的我ＡＢCcé🚀 \0\ud800"),
    ),
    max_size=60,
)


def _clock() -> datetime:
    return datetime(2026, 3, 14, tzinfo=UTC)


@dataclass(frozen=True)
class Store:
    """Memories, and searches in them."""

    memories: MemoryService
    search: SearchService

    def add(self, content: str, project: str) -> MemoryId:
        draft = MemoryDraft(content, MemoryType.OBSERVATION, project)
        return self.memories.store(draft, None, Caller()).memory.id

    def hits(self, query: str, mode: str, project: str | None = None, limit: int = 10) -> list[Memory]:
        found = self.search.search(query, Filter(project=project), limit, mode, caller=Caller()).hits
        return [hit.memory for hit in found]

    def found(self, query: str, mode: str, project: str | None = None) -> list[MemoryId]:
        return [memory.id for memory in self.hits(query, mode, project)]


@pytest.fixture(scope="module")
def store(segmenter: JiebaSegmenter) -> Iterator[Store]:
    """Real searches on a real database in memory, with hashed vectors."""
    database = InMemory(_clock)
    embedder = HashingEmbedder()
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, _clock)
    queue.warm_up()
    store = Store(MemoryService(database, queue, segmenter), SearchService(database, queue))
    for number, text in enumerate(HARD):
        if clean(text):
            store.add(f"Note {number}: {clean(text)} was seen", "hard")
    yield store
    assert problems(database) == []
    database.close()


# Any text is a query


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query", [*HARD, "x" * 10_000, "用" * 10_000, '"' * 10_000, "a " * 5_000, "🚀" * 10_000]
)
def test_a_hard_query_gets_an_answer(store: Store, query: str, mode: str) -> None:
    store.found(clean(query) or "?", mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=150)
@given(query=anything)
def test_any_query_gets_an_answer(store: Store, query: str, mode: str) -> None:
    store.found(clean(query) or "?", mode)


@settings(max_examples=500)
@given(text=anything)
def test_a_cleaned_text_has_nothing_left_to_clean(text: str) -> None:
    assert clean(clean(text)) == clean(text)


# What is stored is found by its own words


@settings(max_examples=200)
@given(text=anything)
@example("\u2e80")
@example("x\u0302y")
@example("a\ue000b")
@example("ｶﾀｶﾅ")
@example("ﬁle m² ½ Ⅳ ①")
@example("İstanbul")
@example("か\u3099")
@example("\U0002ebf0")
@example("한국어")
def test_a_memory_is_found_by_its_own_text(store: Store, text: str) -> None:
    text = clean(text)
    if text:
        id = store.add(text, "own")
        try:
            assert id in store.found(text, "keyword", "own")
            assert id in store.found(text, "hybrid", "own")
        finally:
            store.memories.forget(id, True, Caller())


@pytest.mark.parametrize("token", [clean(text) for text in HARD if clean(text) not in ("", "*")])
def test_a_hard_token_is_found_among_all_the_others(store: Store, token: str) -> None:
    contents = [memory.content for memory in store.hits(token, "keyword", "hard")]
    assert any(f": {token} was seen" in content for content in contents), contents


def test_an_asterisk_alone_lists_the_newest(store: Store) -> None:
    assert store.found("*", "keyword", "hard") == store.found("", "hybrid", "hard")
    last = [clean(text) for text in HARD if clean(text)][-1]
    assert f": {last} was seen" in store.hits("*", "keyword", "hard")[0].content


# An exact token is first among what looks like it

TOKENS = {
    "pve-01": ["pve-02", "pve-10", "pve 01", "pve_01", "pve01", "01-pve", "pve-011", "pve"],
    "TODO: x": ["TODO: y", "TODO: xy", "x TODO", "DONE: x", "todo list"],
    "C++": ["C", "C#", "F#", "Objective-C", "C+", "++"],
    "用户身份": ["用户", "身份", "身份用户", "用户名和身份", "用户名身份证", "用户权限"],
    "LGR-2207": ["LGR-2208", "LGR 2207", "LGR2207", "RGL-2207", "LGR-22071", "2207"],
    "/data/pgdump": ["/data/pgdumps", "/data/pg_dump", "data pgdump", "/data", "/pgdump/data"],
    "foo_bar": ["foo_baz", "foo bar", "foo-bar", "bar_foo", "foobar", "foo_bar_baz"],
    "café": ["cafe", "caffè", "cafés", "caf"],
    "ありがとう": ["ありが", "とう", "ありがたい", "とうありが", "ありがと"],
    "🚀": ["🛸", "🌒", "rocket"],
    "3.14": ["3.15", "31.4", "3 14", "14.3", "3.141", "13.14"],
    "user@example.com": ["user@example.org", "user example com", "other@example.com", "user.example.com"],
    "v1.2.3": ["v1.2.4", "v1.2.30", "v1 2 3", "1.2.3", "v1.2"],
}
"""Each with others that share parts of it; all stand in the same sentence, so nothing else tells them apart."""


def sentence(token: str) -> str:
    return f"On Monday the team wrote down {token} in the shared notes"


def other_sentences() -> list[str]:
    return [sentence(other) for others in TOKENS.values() for other in others]


@pytest.fixture(scope="module")
def tokens(store: Store) -> dict[str, MemoryId]:
    """The ids of the tokens' memories, stored before those that look like them: newer ones win a tie."""
    ids = {token: store.add(sentence(token), "tokens") for token in TOKENS}
    others = [store.add(text, "tokens") for text in other_sentences()]
    assert len(others) > 50
    return ids


def test_sentences_that_differ_in_one_token_are_not_merged(tokens: dict[str, MemoryId], store: Store) -> None:
    assert store.memories.statistics("tokens", caller=Caller()).total == len(TOKENS) + len(other_sentences())


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize("token", TOKENS)
def test_an_exact_token_is_found_first(
    store: Store, tokens: dict[str, MemoryId], token: str, mode: str
) -> None:
    hits = store.hits(token, mode, "tokens")
    assert hits[0].id == tokens[token], [memory.content for memory in hits]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize("token", TOKENS)
def test_a_question_about_an_exact_token_finds_it_among_the_first_three(
    store: Store, tokens: dict[str, MemoryId], token: str, mode: str
) -> None:
    ask = f"what do we know about {token}?" if token.isascii() else f"{token} 是什么？"
    hits = store.hits(ask, mode, "tokens", limit=3)
    assert tokens[token] in [memory.id for memory in hits], [memory.content for memory in hits]


@pytest.mark.anyio
async def test_exact_tokens_and_hard_queries_through_the_real_server_with_the_bundled_embedder(
    server: Servers,
) -> None:
    async with server("--embedder", "bundled") as client:

        async def stored(text: str) -> int:
            answer = await call(client, "memory_store", content=text, type="observation", project="tokens")
            id: int = answer["id"]
            return id

        ids = {token: await stored(sentence(token)) for token in TOKENS}
        for text in other_sentences():
            await stored(text)
        wrong: dict[Any, Any] = {}
        for mode in ("keyword", "hybrid"):
            for token, id in ids.items():
                results = (await call(client, "memory_search", query=token, project="tokens", mode=mode))[
                    "results"
                ]
                if results[0]["id"] != id:
                    wrong[token, mode] = [hit["content"] for hit in results[:3]]
        assert sorted(wrong) == [], wrong
        for query in HARD:
            result = await client.call_tool(
                "memory_search", {"query": query.encode(errors="replace").decode()}
            )
            assert not result.is_error, query
