"""A clause of a prompt changes a text that says the same with another value, and names that value."""

import pytest

from memory_server.domain import differences, updates
from memory_server.domain.changing import changed
from memory_server.domain.consolidation import Text
from memory_server.domain.updates import LIKELY, TextPair
from memory_server.language.changes import clauses


def told(written: str, prompt: str) -> str:
    """Return what a prompt changes of a text: "sure" or "maybe", and the old values."""
    changes = [change for clause in clauses(prompt) if (change := changed(clause, prompt, written))]
    best = max(changes, key=lambda change: (change.is_sure, change.weight), default=None)
    return " ".join(["sure" if best.is_sure else "maybe", *best.values]) if best else ""


@pytest.mark.parametrize(
    ("written", "prompt", "says"),
    [
        (
            "Staging api runs on port 5433",
            "hook the smoke test up to staging, it moved to 5544 last week",
            "sure 5433",
        ),
        ("Our sprint planning is on Monday at 10", "planning got pushed to 11, shift the invite", "sure 10"),
        (
            "I take 20 mg of lisinopril in the morning",
            "dr cut my lisinopril to 10, is grapefruit ok",
            "sure 20",
        ),
        ("我们店的退货期是7天", "哦忘了说，退货期放宽到15天了，所以这个可以退", "sure 7"),
        ("组会是每周三下午2点", "组会挪到周五了，改一下日程", "sure 周三"),
        ("康复在周二和周四下午", "康复挪到周一和周五了", "sure 周二 周四"),
        ("Jonas plays bass in the band", "Lea plays bass now, not Jonas", "sure jonas"),
        ("The vet is Dr Vos", "Dr Vos retired, we have Dr Smit", "sure dr vos"),
        ("我老板叫李伟", "李伟走了，新老板是王芳，帮我写封邮件给她", "sure 李伟"),
        (
            "Office hours are on Tuesday and Thursday",
            "office hours are on Friday instead of Thursday now",
            "sure thursday",
        ),
        (
            "The job retries 3 times and waits 20 seconds",
            "the job waits 45 seconds instead of 20 now",
            "sure 20",
        ),
        ("The job retries 3 times and waits 20 seconds", "the job waits 45 seconds now", "sure 20"),
        ("The regatta starts at 9:30", "umpire says the regatta starts at 10:15", "maybe 9:30"),
        ("仓库在义乌", "仓库搬去嘉兴了", "maybe"),
        ("网店搭在 Shopify 上", "朋友的店从 Shopify 搬到 WooCommerce 了", ""),
        ("我的答辩在6月12日", "师姐的答辩推到6月20号了", ""),
        ("师姐的答辩在6月12日", "师姐的答辩推到6月20号了", "sure 12日"),
        ("数据库是 MySQL 5.7", "听说 MySQL 8 比 5.7 快不少", ""),
        ("Boss is called Mr. Tang", "Tang is in love with Rust again", ""),
        ("Cart package is owned by Ines", "Coverage of the cart package is 71.4", ""),
        (
            "The bakery is open on Sundays",
            "'Our bakery in Fulda has closed on Sundays.' What do you think?",
            "",
        ),
        ("The disk alert goes to Ines", "at 03:10 the disk alert fired", ""),
        ("Staging api runs on port 5433", "set the port of the staging api to 5544", ""),
        ("Staging api runs on port 5433", "what if the staging api moved to port 5544?", ""),
        ("Staging api runs on port 5433", "my other staging api is on port 5544, add it", ""),
        ("The annual fee of the club is 180 euros", "the youth fee of the club is 90 euros, add a line", ""),
        ("店里拿铁卖28元一杯", "美式卖22元一杯，加到菜单", ""),
        ("爸爸今年74岁", "爷爷今年90岁，写首生日诗", ""),
        ("会员打9折", "要不要把会员改成8折？", ""),
        ("Our sprint planning is on Monday at 10", "sprint planning is at 11 tomorrow", ""),
        ("组会是每周三下午2点", "这次组会改到周五了", ""),
        ("Training is on Tuesdays", "training on Tuesday is cancelled, tell the crew", ""),
        ("实验的 batch size 是 64", "验证集的 batch size 是 32", ""),
    ],
)
def test_a_clause_names_the_value_that_it_changes(written: str, prompt: str, says: str) -> None:
    assert told(written, prompt) == says


@pytest.mark.parametrize(
    ("old", "new", "is_update", "differs"),
    [
        (
            "Training runs on the A100 box gpu-07, the conda env is vlm2",
            "gpu-07 is gone, the group took it, we use gpu-11",
            True,
            "conda, env, vlm2 → gone, took, gpu-11",
        ),
        ("Mobile push goes through Firebase", "The web app uses Sentry now", False, ""),
    ],
)
def test_a_new_text_that_ends_a_thing_of_the_old_one_updates_it_and_differs_in_words(
    old: str, new: str, is_update: bool, differs: str
) -> None:
    texts = Text(old, list), Text(new, list)
    aligned = updates.aligned(texts[0].wording, texts[1].wording)
    pair = TextPair(texts[0].wording, texts[1].wording, None, 0.0, aligned)
    assert (updates.probability(pair) >= LIKELY) is is_update
    assert not differs or differences.told(*texts, aligned) == differs
