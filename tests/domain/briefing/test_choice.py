"""What a briefing says of what it could, and that it keeps its limit."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_server.domain.briefing.choice import Briefing, brief
from memory_server.domain.briefing.forms import Reader
from memory_server.domain.briefing.headings import Heading, Item
from memory_server.domain.briefing.items import of_fact
from memory_server.domain.briefing.text import Frame
from memory_server.domain.fact import Fact, Home, Scope
from memory_server.domain.memory import MemoryId
from memory_server.domain.moment import timestamp
from memory_server.language.tokens import weigh_json
from tests.tokenizer import tokens_of

NOW = "2026-03-14T09:26:53.589Z"


def item(
    heading: Heading,
    text: str,
    worth: float = 1.0,
    days: float = 0,
    leads: bool = True,
    closing: bool = False,
    by_user: bool = False,
) -> Item:
    at = timestamp(datetime.fromisoformat(NOW) - timedelta(days=days))
    words = text.split()
    forms = tuple(dict.fromkeys((" ".join(words[:3]), text)))
    return Item(heading, lambda: forms, worth, at, leads=leads, closing=closing, by_user=by_user)


def of_facts(facts: Sequence[tuple[str, Any]]) -> list[Item]:
    reader = Reader(NOW, "Claude", "shop")
    return [
        item
        for key, value in facts
        for item in of_fact(
            Fact(1, key, Home(Scope.PROJECT, ""), value, (), 1, 0, NOW, NOW, None, None, None, None), reader
        )
    ]


def briefed(items: Sequence[Item], room: float = 500, more: int = 0, project: str = "shop") -> Briefing:
    total = sum(each.counted for each in items) + more
    return brief(items, Frame(project, total, "`list_memories`, `memory_search`"), room)


def lines(items: Sequence[Item], room: float = 500) -> list[str]:
    return briefed(items, room).text.split("\n")


def test_headings_come_in_the_order_of_urgency_whatever_the_order_given() -> None:
    items = [item(heading, f"about {heading.name.lower()}") for heading in reversed(Heading)]
    assert [line.partition(":")[0] for line in lines(items)[1:]] == [
        "Blocked",
        "Current task",
        "Under way",
        "Older, perhaps done",
        "Due now",
        "Last session",
        "Decided",
        "Found out",
        "Shared",
        "Conventions",
        "In all projects",
        "Also known",
        "Open questions",
    ]


def test_the_newest_item_of_each_heading_gets_its_first_words_whatever_else_there_is() -> None:
    headings = [heading for heading in Heading if heading not in (Heading.CONVENTIONS, Heading.EVERYWHERE)]
    items = [
        item(heading, f"{heading.name} {n} is something of some ten words or so in all", 2.0, days=n + 1)
        for heading in headings
        for n in range(30)
    ]
    items += [item(heading, f"newest {heading.name} here", 0.1) for heading in headings]
    text = briefed(items, 180).text
    assert all(f"newest {heading.name} here" in text for heading in headings)


def test_what_is_not_important_does_not_lead_its_heading() -> None:
    items = [
        item(Heading.FOUND_OUT, "noise of today and nothing more than that", 0.2, leads=False),
        item(Heading.FOUND_OUT, "a finding of yesterday that matters a lot", 0.5, days=1),
    ]
    assert "a finding of" in briefed(items, 25).text
    assert "noise" not in briefed(items, 25).text
    assert "noise of today" in briefed(items[:1], 25).text


def test_where_time_is_no_matter_the_most_important_item_leads() -> None:
    items = [
        item(Heading.EVERYWHERE, "answer in German and be brief about it", 2.0, days=300),
        item(Heading.EVERYWHERE, "use tabs in all files of all projects", 1.0),
    ]
    assert "answer in German" in briefed(items, 25).text
    assert "tabs" not in briefed(items, 25).text


def test_items_are_shortened_before_they_are_left_out() -> None:
    items = [item(Heading.DECIDED, f"decision {n}: {'and so on ' * 10}end") for n in range(8)]
    text = briefed(items, 90).text
    assert all(f"decision {n}:" in text for n in range(8))
    assert text.count("end") <= 1


def test_what_counts_more_gets_more_words() -> None:
    items = [
        item(Heading.DECIDED, f"decision {n}: {'and so on ' * 6}end{n}", worth=2.0 if n == 5 else 0.5)
        for n in range(8)
    ]
    assert [n for n in range(8) if f"end{n}" in briefed(items, 90).text] == [5]


def test_no_heading_takes_the_room_of_all_others() -> None:
    items = [item(Heading.DECIDED, f"decision {n} of some seven words") for n in range(100)]
    items += [item(Heading.FOUND_OUT, f"finding {n} of some words") for n in range(10)]
    assert briefed(items, 200).text.count("finding") >= 5


def test_what_another_item_has_said_is_not_said_again() -> None:
    items = of_facts(
        [
            ("project.decision.database", "PostgreSQL stores all orders of the shop"),
            ("discovered.database", "PostgreSQL stores all orders of the shop"),
        ]
    )
    assert briefed(items).text.count("PostgreSQL") == 1


def test_what_closes_a_heading_is_said_last_and_first_of_all() -> None:
    items = [item(Heading.LAST_SESSION, f"event {n} of the session") for n in range(20)]
    items.append(item(Heading.LAST_SESSION, "Next: deploy it all to staging", 0.1, closing=True))
    (_, last, *_) = lines(items, 60)
    assert "Next: deploy it" in last.split("event")[-1]


def test_what_is_left_out_is_counted() -> None:
    items = of_facts([(f"k{n}", "some words that cost tokens") for n in range(40)])
    briefing = briefed(items, 260, more=1000)
    assert briefing.left_out == 1040 - len(briefing.items)
    assert briefing.text.endswith(f"+{briefing.left_out} more: `list_memories`, `memory_search`")
    assert briefed(items, 100).text.split("\n")[-1].startswith("+")


def test_an_empty_project_says_so() -> None:
    assert briefed([]).text == "Project shop.\nNothing is stored for it yet."
    assert briefed([], project="").text == "No project.\nNothing is stored for it yet."


def test_who_wrote_most_is_named_once_where_there_is_room() -> None:
    frame = Frame("shop", 1, "", author="Cursor")
    items = [item(Heading.TASK, "Fix the login")]
    assert brief(items, frame, 500).text.startswith("Project shop. By Cursor unless named:\n")
    assert brief(items, frame, 60).text.startswith("Project shop. By assistants:\n")


@pytest.mark.parametrize("name", ["a1b2" * 50, "商店" * 100, "a-" * 100, "my-shop"])
def test_a_long_name_of_a_project_does_not_break_the_smallest_limit(name: str) -> None:
    items = of_facts([("current.blocker", "no key")])
    briefing = briefed(items, 35, 10_000_000, name)
    assert briefing.cost <= 35
    assert briefing.text.startswith(f"Project {name}." if name == "my-shop" else "This project.")
    assert "Blocked: no key." in briefing.text


SENTENCES = st.text(
    alphabet=st.sampled_from("the cache is warm 数据库 端口 5433, x/y_z. 🎉！？\n\"'"),
    min_size=1,
    max_size=300,
)
VALUES = st.one_of(
    SENTENCES, st.lists(SENTENCES, max_size=3), st.dictionaries(SENTENCES, st.integers(), max_size=3)
)
KEYS = st.sampled_from(
    ["current.task", "current.blocker", "current.x", "project.decision.y", "discovered.z", "k"]
)


@given(
    st.lists(st.tuples(KEYS, VALUES), max_size=40),
    st.text(max_size=200),
    st.integers(0, 10_000_000),
    st.integers(40, 8000),
)
@example([], "0\x07\x07:0:0\x07\x07:0:0:0A\U00020000", 0, 40)
def test_a_briefing_keeps_its_limit_and_is_the_same_each_time(
    values: list[tuple[str, Any]], project: str, more: int, room: int
) -> None:
    items = of_facts(values)
    briefing = briefed(items, room, more, project)
    assert briefing.cost == weigh_json(briefing.text) <= room
    assert all(any(form in briefing.text for form in item.worded()) for item in briefing.items)
    total = sum(item.counted for item in items)
    assert briefing.left_out == total + more - sum(item.counted for item in briefing.items)
    assert briefing == briefed(items, room, more, project)


@pytest.mark.parametrize("room", [50, 100, 200, 500, 1000])
def test_a_real_tokenizer_agrees_with_the_estimate(room: int) -> None:
    items = of_facts(
        [
            *(
                (
                    f"project.decision.d{n}",
                    f"We use Postgres {n} for orders because it has partial indexes of number {n}",
                )
                for n in range(30)
            ),
            *((f"discovered.发现{n}", f"登录令牌在{n}分钟后过期，上传之前都要刷新") for n in range(30)),
            *((f"project.c{n}", {"port": 5000 + n, "host": f"db-{n}.internal"}) for n in range(30)),
        ]
    )
    briefing = briefed(items, room, 5)
    real = tokens_of(json.dumps(briefing.text, ensure_ascii=False)) - 1
    assert room / 2 < real <= room * 1.12
    assert briefing.cost == pytest.approx(real, rel=0.12)


def test_what_the_user_said_comes_first_and_apart_from_what_was_noted() -> None:
    items = [
        item(Heading.CONVENTIONS, "Fetch the helper before each deploy"),
        item(Heading.CONVENTIONS, "Squash each merge", by_user=True),
        item(Heading.EVERYWHERE, "Answer in German", by_user=True),
        item(Heading.TASK, "Fix the exporter", by_user=True),
        item(Heading.TASK, "Read the wiki"),
    ]
    assert lines(items) == [
        "Project shop.",
        "From the user: Squash each merge Answer in German",
        "Current task, from the user: Fix the exporter",
        "Noted, perhaps not the user's word:",
        "Current task: Read the wiki",
        "Conventions: Fetch the helper before each deploy",
    ]
    assert lines(items, 60)[1].startswith("From the user: Squash each merge")


def test_without_a_word_of_the_user_all_is_noted() -> None:
    noted = item(Heading.CONVENTIONS, "Squash each merge")
    assert lines([noted])[0] == "Project shop. Noted, perhaps not the user's word:"
    assert lines([noted], 100)[0] == "Project shop. By assistants:"


def test_what_an_assistant_says_again_stays_the_word_of_the_user() -> None:
    rule = "Squash each merge into the main branch of this project"
    said = Item(Heading.CONVENTIONS, lambda: (rule,), 1.0, NOW, memory=MemoryId(1), by_user=True)
    again = Item(
        Heading.CONVENTIONS, lambda: (f"{rule} always",), 5.0, "2026-03-15T00:00:00.000Z", memory=MemoryId(2)
    )
    apart = Item(Heading.DECIDED, lambda: (rule,), 9.0, NOW, memory=MemoryId(3))
    assert f"From the user: {rule}" in lines([again, apart, said])[1]
    assert "Conventions" not in briefed([again, said]).text
