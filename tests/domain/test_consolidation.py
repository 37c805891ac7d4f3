"""Consolidation merges what is said again, and never two facts that only look alike."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory_server.domain.consolidation import THRESHOLD, Likeness, Text, compare, jaccard, may_be_close
from memory_server.nlp.jieba import JiebaSegmenter

Compare = Callable[[str, str], Likeness]
Pair = tuple[str, str, str]
"""Two texts, and what differs between them."""

FOLDER = Path(__file__).parent
CORPORA = [
    json.loads((FOLDER / name).read_text(encoding="utf-8"))
    for name in (
        "consolidation_pairs.json",
        "consolidation_pairs_heldout.json",
        "consolidation_pairs_adversarial.json",
        "consolidation_pairs_order.json",
        "consolidation_pairs_spelling.json",
        "consolidation_pairs_phrases.json",
    )
]
MERGE: list[Pair] = [tuple(pair) for corpus in CORPORA for pair in corpus["merge"]]
APART: list[Pair] = [tuple(pair) for corpus in CORPORA for pair in corpus["apart"]]

MOVED = "a moved block may be an object, or the order decides whom a pronoun means"
MARK = "every mark counts that is not sentence punctuation"
POLITE = "请 is also to invite, 麻烦 trouble and 吧 a guess"
LE = "了 is past or a change; it is silent only after 已 and 太"
OWNER = "'s may be `is` as well as the owner"
NOT_MERGED = {
    "On Sunday Ruth calls her uncle in Haifa.": MOVED,
    "The mobile app's minimum supported version is Android 10.": MOVED,
    "我觉得这个方案可以先试试。": MOVED,
    "Alice and Bob share a desk by the window.": MOVED,
    "小张和小李住在同一个宿舍。": MOVED,
    "Use `ruff format` on the whole repository before each release.": MARK,
    "- the ferry tickets are in the glove box": MARK,
    "The marathon starts at 08:45 from the old harbour bridge.": MARK,
    "`pve-01` 的内存是 64GB，跑着三个虚拟机。": MARK,
    "李娜对花生过敏，聚餐时要注意。": MARK,
    "麻烦你以后回答尽量简短。": POLITE,
    "不要在日志里记录银行卡号。": POLITE,
    "麻烦你，家里的猫粮以后只买鸡肉味的。": POLITE,
    "索引重建比修复更快。": POLITE,
    "阳台上的薄荷两天浇一次水。": POLITE,
    "日志保留十四天后自动删除。": LE,
    "我们决定所有时间戳都用协调世界时保存。": LE,
    "合同的原件放在财务室的保险柜里。": LE,
    "房东说了热水器下个月检修。": LE,
    "The webhook signature uses SHA-256 with the merchant secret.": OWNER,
    "The drone's battery lasts 27 minutes in cold weather.": OWNER,
    "I just found out that the cron job skips leap days.": "just may be only",
    "Rate limiting happens in the proxy, and not in the service itself.": "and carries meaning",
    "Logs get rotated daily and are kept for 14 days.": "get carries meaning: got fired is not fired",
    "数据迁移期间系统只读。": "beside only (只) every comma counts",
    "妈妈的 iPad 只装了 Zoom 和微信。": "the case of more than the first letter counts",
    "Feature flags live in config/flags.yaml and are read at startup.": "pronouns carry meaning",
    "游泳馆周一闭馆维护。": "会 may be will",
    "陶艺课的材料费另外收取。": "是…的 is silent only before 由, 从, 在: 房子是租的 is not 房子租了",
    "中秋节公司给每位员工发两盒月饼。": "的时候 is when",
    "Airbnb 的入住密码 check-in 当天才发。": "在 is silent only before an hour or a day",
    "周末的值班都由小郑一个人负责。": "the segmenter reads 人来 as one word",
}
"""First text of each restatement that is knowingly kept apart, and why."""

SENTENCES = st.sampled_from([text for pair in MERGE + APART for text in pair[:2]])
PHRASES = st.lists(
    st.sampled_from(
        "the a and that be is was running run has paid pays do not n't just only all in on please Alice Bob "
        "$ -5 5 < > C++ --delete / ? , . 的 了 是 不 没 都 就 在 来 要 会 所有 我们 部署 服务 一些 吧".split()
    ),
    min_size=1,
    max_size=12,
).map(" ".join)
TEXTS = SENTENCES | PHRASES
WORDS = st.frozensets(st.text(alphabet="abc", min_size=1, max_size=2), max_size=8)


@pytest.fixture(scope="session")
def likeness(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    segmenter = JiebaSegmenter(tmp_path_factory.mktemp("jieba"))
    segmenter.load()

    def likeness(left: str, right: str) -> Likeness:
        draft, other = Text(left, segmenter.segment), Text(right, segmenter.segment)
        found = compare(draft, other)
        assert found is Likeness.DIFFERENT or may_be_close(draft, right)
        return found

    return likeness


@pytest.mark.parametrize(("left", "right", "differs"), [pair for pair in MERGE if pair[0] not in NOT_MERGED])
def test_what_is_said_again_is_a_restatement(likeness: Compare, left: str, right: str, differs: str) -> None:
    assert likeness(left, right) is Likeness.RESTATEMENT, differs


@pytest.mark.parametrize(("left", "right", "differs"), APART)
def test_another_fact_in_the_same_words_is_never_merged(
    likeness: Compare, left: str, right: str, differs: str
) -> None:
    assert likeness(left, right) is not Likeness.RESTATEMENT, differs
    assert likeness(right, left) is not Likeness.RESTATEMENT, differs


@pytest.mark.parametrize(("left", "right", "differs"), [pair for pair in MERGE if pair[0] in NOT_MERGED])
def test_a_restatement_that_cannot_be_told_for_sure_is_kept_apart(
    likeness: Compare, left: str, right: str, differs: str
) -> None:
    assert likeness(left, right) is Likeness.SIMILAR, differs


def test_every_text_named_as_not_merged_is_still_in_the_pairs() -> None:
    assert NOT_MERGED.keys() <= {left for left, _, _ in MERGE}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I spent $15.82 on coffee", "I spent $24.01 on coffee"),
        ("我的上司学历是本科", "我的同事学历是本科"),
        ("Marta's laptop has 32 GB of memory.", "Jonas's laptop has 32 GB of memory."),
        ("王芳的生日是三月五日。", "赵敏的生日是三月五日。"),
        ("The gateway must not cache tokens.", "The gateway must cache tokens."),
        ("The gateway hardly ever drops a packet.", "The gateway ever drops a packet."),
        ("生产库可以直接改。", "生产库不可以直接改。"),
        ("Robert approved the budget for May.", "Roberts approved the budget for May."),
    ],
)
def test_another_amount_role_name_or_a_negation_is_another_fact(
    likeness: Compare, left: str, right: str
) -> None:
    assert likeness(left, right) is Likeness.SIMILAR


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Tom was paid in full in May.", "Tom has paid in full in May."),
        ("The user got fired in May.", "The user fired in May."),
        ("Fix the login bug in the portal.", "Fixed the login bug in the portal."),
        ("TODO: rotate the API keys.", "TODO: rotated the API keys."),
        ("The clerk filed the form on Monday.", "The clerk filled the form on Monday."),
        ("The train starts at nine in the hall.", "The training starts at nine in the hall."),
        ("The rate is five percent this year.", "The rating is five percent this year."),
        ("Use http for the internal proxy.", "Use https for the internal proxy."),
        ("We deploy on Thursday at nine.", "We deploy on Thursdays at nine."),
        ("Plan A costs 20 euros a month.", "The plan costs 20 euros a month."),
        ("Just admins can export the trail.", "Admins can export the trail."),
        ("Tom is in Oslo and is paid in May.", "Tom is in Oslo and paid in May."),
        ("We do not deploy and test on Friday.", "We do not deploy, test on Friday."),
        ("不在每周一部署服务。", "不每周一部署服务。"),
        ("他们不都同意这个方案。", "他们都不同意这个方案。"),
        ("他不就是老板吗", "他不是老板吗"),
        ("一些用户喜欢深色主题。", "用户喜欢深色主题。"),
        ("失败的话重试任务。", "失败重试任务。"),
    ],
)
def test_a_small_word_or_ending_that_changes_the_fact_is_seen(
    likeness: Compare, left: str, right: str
) -> None:
    assert likeness(left, right) is not Likeness.RESTATEMENT
    assert likeness(right, left) is not Likeness.RESTATEMENT


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The area is 10² metres wide.", "The area is 102 metres wide."),
        ("The fee is 1,500 euros a year.", "The fee is 1, 500 euros a year."),
        ("The map says a -> b for it.", "The map says a > b for it."),
        ("Load .env before the start.", "Load env before the start."),
        ("Set !important on the rule.", "Set important on the rule."),
        ("The home is ~/data on the host.", "The home is /data on the host."),
        ("Temperature is - 5 degrees.", "Temperature is 5 degrees."),
        ("Vote 👍 for the plan.", "Vote 👎 for the plan."),
        ("We deploy on Fridays.", "We deploy on Fridays?"),
        ("No, deploy on Friday.", "No deploy on Friday."),
        ("周五不要，部署服务。", "周五不要部署服务。"),
    ],
)
def test_a_mark_that_changes_the_fact_is_seen(likeness: Compare, left: str, right: str) -> None:
    assert likeness(left, right) is Likeness.SIMILAR


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("We deploy the API on Fridays", "we deploy the API on fridays."),
        ("user prefers dark mode in vim", "User prefers dark mode in Vim."),
        ("anna lee leads the qa team", "Anna Lee leads the QA team"),
        ("THE QA TEAM IN ROME OWNS THE PORTAL", "The QA team in Rome owns the portal"),
        ("The bot deploys the API at noon", "The bot deploy the API at noon"),
        ("The server in rack 4 is listening on port 80", "The server in rack 4 listens on port 80"),
        ("Please do not call Anna at night", "Do not call Anna at night"),
        ("It is a good plan, the team likes it", "It's a good plan the team likes it"),
        ("Deploys go out on Monday. Anna signs them.", "Deploys go out on Monday; Anna signs them"),
        ("API 的 key 在 vault 里", "API的key在vault里。"),
    ],
)
def test_habits_of_writing_change_nothing(likeness: Compare, left: str, right: str) -> None:
    assert likeness(left, right) is Likeness.RESTATEMENT
    assert likeness(right, left) is Likeness.RESTATEMENT


def test_texts_that_share_less_than_the_threshold_are_different(likeness: Compare) -> None:
    assert likeness("alpha beta gamma delta", "alpha beta gamma sigma tau") is Likeness.DIFFERENT
    assert (
        likeness("alpha beta gamma", "alpha beta gamma delta tau") is Likeness.SIMILAR
    )  # 3 of 5: exactly 0.6
    assert likeness("", "") is Likeness.DIFFERENT


CHARACTERS = st.sampled_from("aA ıİΣσςß²½Ⅳ①½ﬁｱ  .,'%^-5 1,000 三万百分之十六 没 测试 測試") | st.characters(
    codec="utf-8"
)
WORDED = st.lists(CHARACTERS | st.sampled_from(["six ", "twenty-one", " test", "5万"]), max_size=14).map(
    "".join
)


@given(WORDED, WORDED, st.integers(0, 14))
def test_what_cannot_be_close_is_different(likeness: Compare, one: str, other: str, start: int) -> None:
    likeness(one, other)
    likeness(one, one[:start] + other)  # with the same beginning


def test_most_texts_are_told_apart_without_reading_their_words(segmenter: JiebaSegmenter) -> None:
    draft = Text("The staging proxy restarts every night at two", segmenter.segment)
    assert may_be_close(draft, "Every night at two the proxy of staging restarts")
    assert not may_be_close(draft, "Cats sleep in boxes")


@given(WORDS, WORDS)
def test_jaccard_is_symmetric_and_between_zero_and_one(left: frozenset[str], right: frozenset[str]) -> None:
    assert jaccard(left, right) == jaccard(right, left)
    assert 0.0 <= jaccard(left, right) <= 1.0


@given(WORDS)
def test_jaccard_of_equal_sets_is_one_unless_they_are_empty(words: frozenset[str]) -> None:
    assert jaccard(words, words) == (1.0 if words else 0.0)
    assert THRESHOLD < 1.0


@given(TEXTS, TEXTS)
def test_likeness_is_symmetric(likeness: Compare, left: str, right: str) -> None:
    assert likeness(left, right) is likeness(right, left)


@given(SENTENCES)
def test_a_text_restates_itself(likeness: Compare, text: str) -> None:
    assert likeness(text, text) is Likeness.RESTATEMENT


@given(
    text=TEXTS,
    inserted=st.sampled_from(
        [" 7 ", " 42 ", " not ", " never ", " no ", "不", "没", "未", "别", "两", " -1 "]
    ),
    data=st.data(),
)
def test_a_number_or_negation_inserted_anywhere_is_never_a_restatement(
    likeness: Compare, text: str, inserted: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(text)))
    assert likeness(text, text[:place] + inserted + text[place:]) is not Likeness.RESTATEMENT


@given(
    pair=st.sampled_from(MERGE + APART) | st.tuples(PHRASES, PHRASES, st.just("")),
    change=st.sampled_from(["width", ".", "!", "。", "！", ",", "；", "..."]),
)
@example(("Kaufe Milch, Eier und Mehl.", "Kaufe Eier, Mehl und Milch.", "order of a list"), ",")
def test_width_and_trailing_punctuation_change_nothing(likeness: Compare, pair: Pair, change: str) -> None:
    left, right, _ = pair
    assume(right.rstrip(".。!?")[-1:].isalnum())  # a mark that stands alone is a word: `cd .`
    assert likeness(left, _changed(right, change)) is likeness(left, right)


def _changed(text: str, change: str) -> str:
    if change == "width":
        return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)
    return text + change
