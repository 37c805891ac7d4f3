"""What is left of a sentence without the task in it, and which sentences belong together."""

import pytest

from memory_server.language.told import spoken
from memory_server.language.without_request import without_request


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("we ship on wednesdays, bump the version", "we ship on wednesdays"),
        (
            "my landlord only takes bank transfers, draft the email to him",
            "my landlord only takes bank transfers",
        ),
        ("i have type 1 diabetes, plan a hiking day with snacks", "i have type 1 diabetes"),
        ("the backup runs at 3am on host oslo, check why it failed", "the backup runs at 3am on host oslo"),
        ("my wife eats no meat so find me a restaurant", "my wife eats no meat"),
        ("the bucket is called elm - list what is in it", "the bucket is called elm"),
        ("our choir has 31 women, what can we sing", "our choir has 31 women"),
        ("I'm a nurse and i need a letter to the ward", "I'm a nurse"),
        ("I'm a vegetarian; please plan the dinners", "I'm a vegetarian"),
        ("Schrift mindestens 16, mach den Zettel größer", "Schrift mindestens 16"),
        ("我对海鲜过敏，推荐个餐厅", "我对海鲜过敏"),
        ("我们店的退货期是7天，写进FAQ里", "我们店的退货期是7天"),
        ("我女儿今年上三年级，出十道数学题", "我女儿今年上三年级"),
        ("CI 跑在 GitLab 上，顺便看下这个 yml", "CI 跑在 GitLab 上"),
    ],
)
def test_a_task_behind_a_statement_is_cut(sentence: str, statement: str) -> None:
    assert without_request(sentence) == statement


@pytest.mark.parametrize(
    "sentence",
    [
        "Call me Theo, please.",
        "answers in French, please, always",
        "I'm an electrician, so skip the safety lecture",
        "I learn by doing, so give me exercises before theory",
        "im dyslexic so pls no walls of text ever",
        "After each release, update the changelog.",
        "neck pain was the screen, put it on a box and it's gone",
        "Stop using print, always use the logger.",
        "不要剧透，什么都不要",
        "上传失败是因为证书过期，更新一下证书就好了",
        "原来是探针太短，改成三十秒就稳了",
        "改成冻结时钟了，把旧的也改成这样才过",
        "我更喜欢看图，不喜欢看大段文字",
    ],
)
def test_what_belongs_to_a_statement_is_not_cut(sentence: str) -> None:
    assert without_request(sentence) == sentence


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("never use emojis. ever. not even in commit messages.", None),
        ("no comments about what code does, i hate them. only why.", None),
        ("We never deploy on Fridays. Ever. Except hotfixes.", None),
        ("以后不要用表情。一个都不要。提交信息里也不要。", None),
        ("We bake on Tuesdays. I live in Porto.", ["We bake on Tuesdays.", "I live in Porto."]),
        ("Does it work? Not on my machine.", []),
    ],
)
def test_a_sentence_stays_with_its_limits(text: str, statements: list[str] | None) -> None:
    assert [statement.text for statement in spoken(text)] == ([text] if statements is None else statements)


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            "之前内存一直涨是因为没关 session，加了 with 就好了。",
            ["之前内存一直涨是因为没关 session，加了 with 就好了。"],
        ),
        ("yesterday it hung because the disk was full, clearing the log fixed it", None),
        ("之前我们用 npm", []),
        ("if we were to move to unreal we'd drop our LODs, how much work is that", []),
        ("my other project is on node 22, why does fetch differ", []),
        ("need a reply to Mrs Lund, she wants an appointment", []),
    ],
)
def test_a_cause_with_its_mend_is_judged_and_a_supposition_is_not(
    text: str, statements: list[str] | None
) -> None:
    assert [statement.text for statement in spoken(text)] == ([text] if statements is None else statements)
