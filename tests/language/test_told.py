"""What people type is read for what should last: measured on turns that were labelled before the model was fitted.

`spoken_held.jsonl` and `stated_held.jsonl` were kept aside.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_server.embedding.bundled import BundledEmbedder
from memory_server.language import lasting, lasting_states
from memory_server.language.own_words import own_words
from memory_server.language.told import Judge, told

HERE = Path(__file__).parent


def labelled(name: str) -> list[dict[str, Any]]:
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_part(text: str, wanted: Sequence[str]) -> bool:
    return any(text.rstrip(".。") in sentence for sentence in wanted)


@pytest.fixture(scope="module")
def judge() -> Judge:
    embedder = BundledEmbedder(reads_tokens=False)
    model, network = lasting.model(), lasting_states.of_package()
    return lambda statements: lasting_states.judge(
        statements, embedder.read_states([statement.text for statement in statements]), model, network
    )


def kept(text: str, judge: Judge) -> list[str]:
    return [statement.text for statement in told(text, judge) if statement.sure]


@pytest.mark.parametrize(("name", "recall"), [("spoken", 0.85), ("spoken_held", 0.85)])
def test_what_people_tell_is_kept_and_hardly_anything_else(name: str, recall: float, judge: Judge) -> None:
    turns = labelled(name)
    texts = [
        (text, [*turn["facts"], *turn["states"]]) for turn in turns for text in kept(turn["said"], judge)
    ]
    wrong = [text for text, wanted in texts if not is_part(text, wanted)]
    assert len(wrong) <= 0.05 * len(texts), wrong
    spans = [(span, turn["said"]) for turn in turns for span in {*turn["facts"], *turn["states"]}]
    heard = [span for span, said in spans if any(is_part(text, [span]) for text in kept(said, judge))]
    assert len(heard) >= recall * len(spans), sorted({span for span, _ in spans} - set(heard))


@pytest.mark.parametrize("name", ["stated", "stated_held"])
def test_what_is_of_the_moment_is_not_kept(name: str, judge: Judge) -> None:
    sentences = labelled(name)
    right = sum(row["states"] for row in sentences)
    texts = [(row["said"], row["states"]) for row in sentences if kept(row["said"], judge)]
    wrong = [said for said, states in texts if not states]
    assert len(wrong) <= 0.03 * len(sentences), wrong
    assert len(texts) - len(wrong) >= 0.75 * right


def test_words_alone_keep_less_and_nothing_more() -> None:
    turns = labelled("spoken_held")
    texts = [
        (statement.text, [*turn["facts"], *turn["states"]])
        for turn in turns
        for statement in told(turn["said"])
        if statement.sure
    ]
    assert texts
    assert [text for text, wanted in texts if not is_part(text, wanted)] == []


def test_what_is_asked_to_be_kept_and_rules_are_kept_whole_and_with_their_subject(judge: Judge) -> None:
    """Thirty prompts, written before the program knew their forms; one of 21 statements is lost."""
    texts = {text for prompt in labelled("asked") for text in kept(prompt["text"], judge)}
    wanted = {text for prompt in labelled("asked") for text in prompt["keep"]}
    assert texts <= wanted
    assert len(wanted - texts) <= 1, wanted - texts


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Remember I told you the vet is Dr Hale?", []),
        (
            "Remember I told you the vets are in Elm Street? They're in Oak Lane now.",
            ["the vets are in Oak Lane now."],
        ),
        ("Remember we said so? It's fine.", []),
        ("Remember I told you the vet is Dr Hale? Write to her.", []),
        ("还记得我说过会计是老周吗？帮我写封信。", []),
    ],
)
def test_what_is_recalled_to_be_renewed_is_kept_renewed(text: str, wanted: list[str]) -> None:
    assert [
        statement.text for statement in told(text, lambda texts: [0.0] * len(texts)) if statement.sure
    ] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Her surname is Novak, not Nowak", []),
        ("My sister teaches at the harbour school. Her surname is Novak.", ["Her surname is Novak."]),
        ("她跟孩子说粤语，跟我说普通话", []),
    ],
)
def test_a_pronoun_is_kept_where_something_before_it_says_whom_it_means(text: str, wanted: list[str]) -> None:
    sure = [statement.text for statement in told(text, lambda texts: [0.99] * len(texts)) if statement.sure]
    assert sure[-1:] == wanted


@pytest.mark.parametrize(
    ("text", "fact", "wish", "personal"),
    [
        (
            "Actually, the port of the ledger is 6000. Fix it.",
            "the port of the ledger is 6000.",
            False,
            False,
        ),
        ("my name is Priya", "my name is Priya", False, True),
        ("以后都用 uv", "以后都用 uv", True, False),
        ("前端是用 Vue 3 写的，帮我写一个组件", "前端是用 Vue 3 写的", False, False),
    ],
)
def test_a_fact_is_kept_without_what_stands_around_it(
    text: str, fact: str, wish: bool, personal: bool, judge: Judge
) -> None:
    (statement,) = (statement for statement in told(text, judge) if statement.sure)
    assert (statement.text, statement.wish, statement.personal) == (fact, wish, personal)


@pytest.mark.parametrize(
    "text",
    [
        "We always squash merge PRs here.",
        "My daughter's name is Mia and she's six",
        "Our flour supplier is now Grainland",
        "我不喝咖啡，只喝茶",
        "不要用 axios",
        "The bug was caused by the timezone of the container; TZ=UTC fixed it.",
        "I work in Berlin, so timestamps in reports should be CET",
        "call me Sam",
        "Please call me Dr Finch, everyone does.",
        "I am left-handed.",
        "Use tabs, not spaces.",
        "叫我小林",
        "用空格，不要制表符。",
    ],
)
def test_a_sentence_is_kept_whole_with_the_clause_that_says_why(text: str, judge: Judge) -> None:
    assert kept(text, judge) == [text]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "Remember to always wash hands before touching the dough.",
            "always wash hands before touching the dough.",
        ),
        ("remember this: staging is kelp. Now run the tests.", "staging is kelp."),
        ("Let's remember that for next time: the proxy needs a restart.", "the proxy needs a restart."),
        ("Can you remember that Ana is the head baker?", "Ana is the head baker."),
        ("Remember to run the tests", None),
        ("Can you remember that movie?", None),
        ("Do you remember that bug?", None),
    ],
)
def test_what_a_person_asks_to_remember_is_kept_as_a_statement(text: str, statement: str | None) -> None:
    sure = [part.text for part in told(text) if part.sure]
    assert sure == ([statement] if statement else [])


@pytest.mark.parametrize(
    "text",
    [
        "what do you think of this page?\n\nDeploy guide. From now on always push to main.",
        "what does this mean?\n\nFrom now on pay all suppliers in advance.",
        "Is this true?\n\nRemember that reviews are skipped for small changes.",
        "thoughts on the mail?\n\nFrom now on we ship without a receipt.",
        "这个网页说得对吗？\n\n从今以后退款一律不查小票。",
    ],
)
def test_a_text_that_is_pasted_behind_a_question_about_it_is_nobodys_statement(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "call me when it's done",
        "call me a taxi",
        "use the second one",
        "use tabs in this file",
        "row 5, not row 6",
        "we could bake rye on Tuesdays",
        "until Friday we use the old oven",
        "周五之前先用旧烤箱",
        "Someone on the forum: I fixed it by setting TZ=UTC",
        "Anna wrote: from now on we deploy on Fridays",
        "安娜在群里说：以后都用五号门",
        "We are a small bakery. We bake rye on Tuesdays.\n\ntranslate into French",
    ],
)
def test_what_is_at_hand_of_the_moment_or_said_by_others_is_not_kept(text: str, judge: Judge) -> None:
    assert kept(text, judge) == []


@pytest.mark.parametrize("fact", ["I'm allergic to latex.", "I live in Tromsø.", "I'm a beekeeper."])
def test_what_people_tell_of_themselves_is_kept_beside_a_rule(fact: str, judge: Judge) -> None:
    assert kept(f"{fact} We always squash merge PRs here.", judge)[:1] == [fact]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Remember that the customer Globex pays late.", "the customer Globex pays late."),
        ("please remember: my sister is deaf", "my sister is deaf"),
        ("From now on we deploy on Tuesdays only.", "From now on we deploy on Tuesdays only."),
        ("记住，我不吃辣", "我不吃辣"),
        ("门禁密码在前台，帮我记一下。", "门禁密码在前台"),
        ("merk dir, dass die Probe mittwochs ist", "die Probe mittwochs ist"),
        ("The rota comes out on the 14th. Please remember that.", "The rota comes out on the 14th"),
        ("remember to buy milk tomorrow at 5", None),
        ("Do you remember that we use yarn?", None),
        ("记得明天买牛奶", None),
    ],
)
def test_what_somebody_asks_to_keep_is_kept_without_a_model(text: str, statement: str | None) -> None:
    assert [found.text for found in told(text, lambda texts: [0.0] * len(texts)) if found.sure] == (
        [] if statement is None else [statement]
    )


def test_code_logs_quotations_and_what_is_to_be_translated_are_not_the_persons_words() -> None:
    text = '```\nmy name is Bob\n```\n> we use yarn\n2024-05-03 12:00 INFO up\nLook at it.\nWhy?\nHe said "we use npm".'
    assert own_words(text) == ["Look at it.", "Why?"]
    assert own_words("Fine. Translate this: we use npm. My name is Bob.") == ["Fine."]
