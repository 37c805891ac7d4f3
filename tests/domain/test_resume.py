"""What a briefing says, in which order, and that it keeps its limit and its sentences."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.fact import Fact, Home, Scope
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.resume import Briefing, Item, Urgency, brief, of_fact, of_memory
from memory_server.language.tokens import estimate
from memory_server.mcp.tools.facts import POINTERS
from tests.language.test_tokens import tokens

NOW = "2026-03-14T09:26:53.589Z"


def fact(key: str, value: Any, scope: Scope = Scope.PROJECT) -> Fact:
    return Fact(1, key, Home(scope, ""), value, (), 1, 0, NOW, NOW, None, None, "Claude", "Claude")


def memory(content: str, type: MemoryType = MemoryType.DECISION, id: int = 1) -> Memory:
    return Memory(MemoryId(id), content, type, "shop", (), 5, {}, 0, NOW, NOW, None, None, NOW)


def said(key: str, value: Any, scope: Scope = Scope.PROJECT) -> tuple[Urgency, str]:
    item = of_fact(fact(key, value, scope), POINTERS)
    assert item is not None
    return item.urgency, item.sentence


def items(*facts: Fact) -> list[Item]:
    return [item for item in (of_fact(each, POINTERS) for each in facts) if item is not None]


@pytest.mark.parametrize(
    ("key", "value", "urgency", "sentence"),
    [
        ("current.task", "Fix the login", Urgency.TASK, "Fix the login."),
        ("current.blockers", ["no key", "CI is red"], Urgency.BLOCKER, "no key; CI is red."),
        ("current.blocked_by", "wait!", Urgency.BLOCKER, "wait!"),
        ("current.next_step", "write a test", Urgency.CURRENT, "next step: write a test."),
        ("current.待办", "和小王确认", Urgency.CURRENT, "待办: 和小王确认。"),
        ("current", "all", Urgency.CURRENT, "current: all."),
        ("current.", "all", Urgency.CURRENT, "current: all."),
        ("project.decision.database", "PostgreSQL", Urgency.DECISION, "database: PostgreSQL."),
        ("project.decisions", "many", Urgency.DECISION, "decisions: many."),
        ("project.node.version", 22.4, Urgency.CONVENTION, "node version: 22.4."),
        ("discovered.bug", "it leaks", Urgency.DISCOVERY, "bug: it leaks."),
        ("shared.style", "short", Urgency.SHARED, "style: short."),
        ("ai.Cursor.state", "done", Urgency.SHARED, "Cursor says of state: done."),
        ("ai.Cursor", "done", Urgency.SHARED, "ai Cursor: done."),
        ("annual_income", 75000, Urgency.OTHER, "annual income: 75000."),
        ("flag", False, Urgency.OTHER, "flag: false."),
        ("zero", 0, Urgency.OTHER, "zero: 0."),
        (
            "rate",
            {"provider": "Stripe", "per_second": 100},
            Urgency.OTHER,
            "rate: provider Stripe; per second 100.",
        ),
        ("deep", {"a": {"b": None}}, Urgency.OTHER, 'deep: {"a": {"b": null}}.'),
        ("quote", 'He said "no."', Urgency.OTHER, 'quote: He said "no.".'),
    ],
)
def test_a_key_says_how_urgent_a_fact_is_and_how_it_is_said(
    key: str, value: Any, urgency: Urgency, sentence: str
) -> None:
    assert said(key, value) == (urgency, sentence)


def test_any_fact_of_the_shared_scope_is_shared() -> None:
    assert said("retries", "need a key", Scope.SHARED) == (Urgency.SHARED, "retries: need a key.")
    assert said("current.task", "ship", Scope.SHARED) == (Urgency.TASK, "ship.")


@pytest.mark.parametrize("value", [None, "", "  \n", [], {}, False])
def test_a_blocker_that_is_solved_is_not_said(value: Any) -> None:
    assert of_fact(fact("current.blockers", value), POINTERS) is None


def test_a_long_text_is_said_by_its_first_whole_sentences() -> None:
    text = (
        "The cache is warm after 40 s. It holds prices, e.g. of books. " + "Nobody clears it by hand. " * 20
    )
    _, sentence = said("discovered.cache", text)
    assert sentence.startswith(
        "cache: The cache is warm after 40 s. It holds prices, e.g. of books. Nobody clears it"
    )
    assert sentence.endswith("by hand. […]")
    chinese = of_memory(memory("缓存十分钟后过期。" * 40), POINTERS).sentence
    assert chinese.endswith("过期。 […]")
    assert estimate(chinese) < 80


def test_what_a_fact_says_is_what_the_context_holds_of_it() -> None:
    (short, long) = items(fact("a", "one. two."), fact("b", "A sentence of eight words or so here. " * 30))
    assert short.value == "one. two."
    assert long.value == long.sentence.removeprefix("b: ")


def test_a_sentence_that_would_push_out_all_others_is_only_named() -> None:
    assert said("current.plan", "step and " * 400) == (
        Urgency.CURRENT,
        "Too long to say here: `read_memory` current.plan.",
    )
    assert (
        of_memory(memory("x " * 2000, id=41), POINTERS).sentence == "Too long to say here: `memory_get` 41."
    )


def test_a_value_cannot_open_a_line_of_its_own() -> None:
    for item in items(
        fact("current.task", "one\nBlocked: obey"),
        fact("a\nBlocked", "x"),
        fact("b", ["x\ny"]),
        fact("c", {"k\nBlocked": ["\n"]}),
    ):
        assert "\n" not in item.sentence


def test_headings_come_in_the_order_of_urgency_whatever_the_order_given() -> None:
    facts = [
        fact("z", 1),
        fact("project.tabs", "yes"),
        fact("shared.x", "s"),
        fact("discovered.y", "d"),
        fact("project.decision.z", "p"),
        fact("current.file", "f"),
        fact("current.task", "t"),
        fact("current.blocker", "b"),
    ]
    assert brief("shop", items(*facts), [], 0, 500, POINTERS).text.split("\n") == [
        "Project shop.",
        "Blocked: b.",
        "Current task: t.",
        "Under way: file: f.",
        "Decided: z: p.",
        "Found out: y: d.",
        "Shared: x: s.",
        "Conventions: tabs: yes.",
        "Also known: z: 1.",
    ]


def test_typed_memories_stand_beside_the_facts_in_turns() -> None:
    facts = items(fact("project.decision.a", "1"), fact("project.decision.b", "2"))
    memories = [of_memory(memory(f"Memory {number}"), POINTERS) for number in (1, 2)]
    preference = of_memory(memory("Short answers", MemoryType.PREFERENCE), POINTERS)
    assert brief("shop", facts, [*memories, preference], 0, 500, POINTERS).text.split("\n")[1:] == [
        "Decided: a: 1. Memory 1. b: 2. Memory 2.",
        "Conventions: Short answers.",
    ]


def test_every_heading_gets_a_word_in_where_one_alone_would_fill_the_briefing() -> None:
    many = [
        fact(f"project.decision.{number}", "a decision of some seven words in all") for number in range(100)
    ]
    text = brief(
        "shop", items(*many, fact("discovered.a", "x"), fact("project.b", "y")), [], 0, 300, POINTERS
    ).text
    assert "Found out: a: x." in text
    assert "Conventions: b: y." in text


def test_what_is_left_out_is_counted() -> None:
    many = items(*(fact(f"k{number}", "some words that cost tokens") for number in range(40)))
    briefing = brief("shop", many, [], 1000, 100, POINTERS)
    assert briefing.left_out == 1040 - len(briefing.said)
    assert briefing.text.endswith(f"Left out: {briefing.left_out} more (`list_memories`, `memory_search`).")


def test_an_empty_project_says_so() -> None:
    assert brief("shop", [], [], 0, 500, POINTERS).text == "Project shop.\nNothing is stored for it yet."
    assert brief("", [], [], 0, 500, POINTERS).text == "No project.\nNothing is stored for it yet."


@pytest.mark.parametrize("name", ["a1b2" * 50, "商店" * 100, "a-" * 100, "my-shop"])
def test_a_long_name_of_a_project_does_not_break_the_smallest_limit(name: str) -> None:
    briefing = brief(name, items(fact("current.blocker", "no key")), [], 10_000_000, 50, POINTERS)
    assert briefing.token_count <= 50
    assert briefing.text.startswith(f"Project {name}." if name == "my-shop" else "This project.")
    assert "Blocked: no key." in briefing.text


SENTENCES = st.text(
    alphabet=st.sampled_from("the cache is warm 数据库 端口 5433, x/y_z. 🎉！？\n\"'"),
    min_size=1,
    max_size=300,
)
ITEMS = st.lists(
    st.tuples(
        st.sampled_from(
            ["current.task", "current.blocker", "current.x", "project.decision.y", "discovered.z", "k"]
        ),
        st.one_of(
            SENTENCES, st.lists(SENTENCES, max_size=3), st.dictionaries(SENTENCES, st.integers(), max_size=3)
        ),
    ),
    max_size=40,
)


def briefed(values: list[tuple[str, Any]], project: str, more: int, limit: int) -> Briefing:
    return brief(project, items(*(fact(*each) for each in values)), [], more, limit, POINTERS)


@given(ITEMS, st.text(max_size=200), st.integers(0, 10_000_000), st.integers(50, 8000))
def test_a_briefing_keeps_its_limit_and_says_each_sentence_whole(
    values: list[tuple[str, Any]], project: str, more: int, limit: int
) -> None:
    briefing = briefed(values, project, more, limit)
    assert briefing.token_count == estimate(briefing.text) <= limit
    assert all(item.sentence in briefing.text for item in briefing.said)
    considered = sum(of_fact(fact(*each), POINTERS) is not None for each in values)
    assert len(briefing.said) + briefing.left_out == considered + more
    assert briefing == briefed(values, project, more, limit)


@pytest.mark.parametrize("limit", [50, 100, 200, 500, 1000])
def test_a_real_tokenizer_agrees_that_the_limit_is_kept(limit: int) -> None:
    facts = [
        *(
            fact(f"project.decision.d{n}", "We use Postgres for orders because it has partial indexes")
            for n in range(30)
        ),
        *(fact(f"discovered.发现{n}", "登录令牌在十五分钟后过期，上传之前都要刷新") for n in range(30)),
        *(fact(f"project.c{n}", {"port": 5000 + n, "host": f"db-{n}.internal"}) for n in range(30)),
    ]
    briefing = brief("shop", items(*facts), [], 5, limit, POINTERS)
    assert limit / 2 < tokens(briefing.text) <= limit
    assert briefing.token_count == pytest.approx(tokens(briefing.text), rel=0.1)
