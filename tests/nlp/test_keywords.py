"""What a text is about: words of English and Chinese with jieba's weights."""

import json
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.message import Message
from memory_server.domain.short_term import KEYWORDS, Keyword, keywords
from memory_server.nlp.jieba import PIECE, REMEMBERED, JiebaSegmenter
from memory_server.nlp.keywords import COMMON_IDF, LONGEST, MEDIAN_IDF, JiebaKeywords
from tests.conftest import ROOT

ROLES = ("user", "assistant", "system")
SHORT = [
    "数据库连接池需要优化",
    "部署流程使用容器",
    "深度学习模型训练速度",
    "北京大学图书馆闭馆时间",
    "用户身份认证系统升级",
    "机器学习算法，机器学习框架，算法优化",
    "网络延迟导致服务器响应超时",
]
"""Texts without single characters, which jieba counts never and we sometimes."""


@pytest.fixture(scope="session")
def extractor(segmenter: JiebaSegmenter) -> JiebaKeywords:
    return JiebaKeywords(segmenter)


@pytest.fixture(scope="session")
def reference() -> Any:
    """`jieba.analyse.TFIDF`, which the product does without."""
    with warnings.catch_warnings(action="ignore"):
        from jieba.analyse import TFIDF

        return TFIDF()


def words(found: Sequence[Keyword]) -> list[str]:
    return [each.word for each in found]


def weighed(found: Sequence[Keyword]) -> dict[str, float]:
    return {each.word: each.weight for each in found}


# As jieba has it


@pytest.mark.parametrize("text", SHORT)
def test_the_words_of_a_short_chinese_text_weigh_what_jieba_says(
    extractor: JiebaKeywords, reference: Any, text: str
) -> None:
    expected = dict(reference.extract_tags(text, topK=KEYWORDS, withWeight=True))
    found = weighed(extractor.extract(text))
    assert {word: found.get(word) for word in expected} == pytest.approx(expected)
    assert all(
        any(word in run for run in re.findall(r"[\u4e00-\u9fff]+", text)) for word in found.keys() - expected
    )


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我们把后端部署到新服务器了", "后端还慢吗"),
        ("花椒粉不够麻", "花椒在哪买"),
        ("牛肉面真好吃", "想吃牛肉"),
        ("我养了一只猫，叫小黑", "猫怎么样了"),
        ("用户身份需要确认", "身份"),
    ],
)
def test_a_chinese_word_is_found_however_the_text_is_cut(
    extractor: JiebaKeywords, said: str, asked: str
) -> None:
    assert weighed(extractor.extract(said)).keys() & weighed(extractor.extract(asked)).keys()


@given(
    st.lists(
        st.sampled_from([*SHORT, "我喜欢喝茶", "为什么这个接口很慢", "deploy失败了", "，。"]), max_size=6
    )
)
def test_words_that_both_count_weigh_in_the_same_proportion(
    extractor: JiebaKeywords, reference: Any, texts: list[str]
) -> None:
    text = "\n".join(texts)
    ours = weighed(extractor.extract(text))
    theirs = dict(reference.extract_tags(text, topK=10_000, withWeight=True))
    shared = sorted(ours.keys() & theirs.keys())
    ratios = [ours[word] / theirs[word] for word in shared]
    assert ratios == pytest.approx(ratios[:1] * len(ratios))
    assert shared or not ours


# Which words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We are deploying", "some deployments"),
        ("it was tested", "all the tests"),
        ("the server's", "servers"),
        ("DEPLOY", "deploy"),
        ("數據庫", "数据库"),
        ("ＤＥＰＬＯＹ　１２３", "deploy 123"),
        ("ｃａｆｅ\u0301", "CAFÉ"),
        ("on 2026/3/4", "2026-03-04"),
        ("2026年3月4日", "2026-03-04"),
    ],
)
def test_spellings_and_forms_of_a_word_meet(extractor: JiebaKeywords, one: str, other: str) -> None:
    found = words(extractor.extract(one))
    assert found
    assert found == words(extractor.extract(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a multi-tenant server", "MULTITENANT"),
        ("the TMP-36 is hot", "tmp36"),
        ("TMP-36 太热了", "tmp36 坏了"),
        ("e-mails", "an email"),
        ("src/multi-tenant/app", "multitenant"),
        ("v3.12.4", "Python 3.12.4"),
        ("升级到V3.12.4-rc1了", "3.12.4-rc1"),
        ("on March 4, 2026", "2026-03-04"),
        ("on the 4th of March", "2026/3/4"),
        ("Mar 4", "March 4th"),
        ("3月4日开会", "March 4"),
        ("三月四号开会", "2026-03-04"),
        ("二〇二六年三月四日", "2026/3/4"),
        ("25/12/2026", "December 25"),
        ("two mice", "a mouse"),
        ("our wives", "my wife"),
        ("indices", "the index"),
        ("analyses", "an analysis"),
        ("buses", "the bus"),
        ("women", "that woman's"),
    ],
)
def test_a_second_spelling_finds_the_first(extractor: JiebaKeywords, one: str, other: str) -> None:
    assert weighed(extractor.extract(one)).keys() & weighed(extractor.extract(other)).keys()


def test_a_second_spelling_weighs_half_and_shows_the_form_of_the_text(extractor: JiebaKeywords) -> None:
    first, second = extractor.extract("Multi-Tenant")
    assert (first.word, first.form, second.word, second.form) == (
        "multi-tenant",
        "multi-tenant",
        "multiten",
        "multi-tenant",
    )
    assert second.weight == first.weight / 2


@pytest.mark.parametrize("text", ["3/4/2026", "the 31st", "in March", "版本 3.4", "月亮", "in-to the v2"])
def test_what_names_no_day_and_no_version_gets_no_second_spelling(
    extractor: JiebaKeywords, text: str
) -> None:
    assert not [word for word in words(extractor.extract(text)) if re.fullmatch(r"(\d+-)+\d+|2|into", word)]


def test_the_form_in_which_a_word_stands_is_kept(extractor: JiebaKeywords) -> None:
    assert [(each.word, each.form) for each in extractor.extract("Deployments, then deploying")] == [
        ("deploy", "deployments")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where was it and what is this about", []),
        ("这个是什么？我们为什么可以", []),
        ("他去了，很好", []),
        ("I don't, it's, let's", []),
        ("pve-01 memory_server v1.2.3 10.0.0.1 3.14 8080 c++ C# snake_case_name", [
            "pve-01", "memory_server", "v1.2.3", "10.0.0.1", "3.14", "8080", "c++", "c#", "snake_case_name",
            "pve01", "1.2.3",
        ]),
        ("src/app/config.yml", ["src/app/config.yml", "src", "app", "config.yml"]),
        ("ada@example.com", ["ada@example.com", "ada", "example.com"]),
        ("7", ["7"]),
        ("12/05/2026 12:30", ["12/05/2026", "12:30"]),
        ("1,800 or 12,345,678", ["1800", "12345678"]),
        ("1,80 2,8000 3,4,500 1,500.5", ["1", "80", "2", "8000", "3", "4", "500", "1500.5"]),
        ("x y z", []),
        ("猫", ["猫"]),
        ("养猫", ["养猫"]),
        ("猫去，茶，我的", ["猫", "茶"]),
        ("用nginx缓存", ["nginx", "缓存"]),
        ("我喜欢AI技术", ["ai", "喜欢", "技术"]),
        ("我用钢笔写字", ["钢笔", "写字"]),
        ("来算一下总数", ["算", "总数", "一下"]),
        ("我来算账", ["算账"]),
        ("我不", []),
        ("刘七是谁", ["刘七", "刘", "七"]),
        ("ありがとう 서버", ["ありがとう", "서버"]),
        ("😀 🎉 !!! … ---", []),
        ("", []),
    ],
)  # fmt: skip
def test_words_that_tell_of_a_text(extractor: JiebaKeywords, text: str, expected: list[str]) -> None:
    assert set(words(extractor.extract(text))) == set(expected)


@given(st.text() | st.text(st.sampled_from("ab c'’-./:@#+_1中文数据库ーあ한\n")))
def test_any_text_has_at_most_72_words_best_first_each_once(extractor: JiebaKeywords, text: str) -> None:
    found = extractor.extract(text)
    weights = [each.weight for each in found]
    assert len(found) == len(set(words(found))) <= KEYWORDS
    assert weights == sorted(weights, reverse=True)
    assert all(weight > 0 for weight in weights)


def test_traditional_text_has_the_words_of_the_simplified(extractor: JiebaKeywords) -> None:
    simplified = "服务器数据库网络连接"
    traditional = "服務器數據庫網絡連接"
    assert words(extractor.extract(traditional)) == words(extractor.extract(simplified))


def test_what_every_conversation_says_weighs_less_than_what_it_is_about(extractor: JiebaKeywords) -> None:
    found = extractor.extract("Please tell me which coffees you like, I think")
    assert words(found) == ["coffe", "pleas", "tell", "like", "think"]
    assert found[0].weight == pytest.approx(found[1].weight * MEDIAN_IDF / COMMON_IDF)


# Long texts


def test_data_in_a_text_is_no_word(extractor: JiebaKeywords) -> None:
    longest, longer = "a1" * (LONGEST // 2), "b2" * (LONGEST // 2) + "c"
    assert words(extractor.extract(f"{longest} {longer} image")) == [longest, "imag"]


def test_a_long_run_of_chinese_is_cut_in_pieces(extractor: JiebaKeywords, segmenter: JiebaSegmenter) -> None:
    run = "数据库连接" * 1000
    assert "".join(segmenter.segment(run)) == run
    assert segmenter.segment(run[:PIECE]) == ["数据库", "连接"] * (PIECE // 5)
    assert words(extractor.extract("中" * 200_000))


def test_the_words_of_a_long_run_are_not_kept_in_memory(segmenter: JiebaSegmenter) -> None:
    kept = segmenter._segment.cache_info
    segmenter.segment("长" * REMEMBERED)
    before = kept().currsize
    segmenter.segment("长" * (REMEMBERED + 1))
    assert kept().currsize == before
    segmenter.segment("短" * REMEMBERED)
    assert kept().currsize == before + 1


def vocabulary(extractor: JiebaKeywords, number: int) -> list[str]:
    """English, Chinese, numbers, names: each another word."""
    chance = random.Random(3)
    chinese = chance.sample(sorted(extractor._table()), number // 2)
    return [*chinese, *(f"word{i}" for i in range(number // 4)), *(f"v{i}.{i}" for i in range(number // 4))]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("number", [72, 73, 200, 5_000])
def test_a_long_message_keeps_keywords(extractor: JiebaKeywords, role: str, number: int) -> None:
    text = " ".join(vocabulary(extractor, number))
    assert 10 <= len(keywords([Message(role, text)], extractor.extract, {})) <= KEYWORDS


@pytest.mark.parametrize("role", ROLES)
def test_what_a_long_message_repeats_is_its_keyword(extractor: JiebaKeywords, role: str) -> None:
    text = " ".join(vocabulary(extractor, 5_000) + ["deploys", "数据库"] * 20)
    assert {"deploy", "数据库"} <= set(words(keywords([Message(role, text)], extractor.extract, {}))[:3])


# Roles


def test_a_word_weighs_by_who_said_it_and_sums_over_messages(extractor: JiebaKeywords) -> None:
    def weight(messages: Sequence[Message], **roles: float) -> float:
        return weighed(keywords(messages, extractor.extract, roles))["deploy"]

    (idf,) = weighed(extractor.extract("deploy")).values()
    said = {role: Message(role, "deploy") for role in (*ROLES, "tool")}
    for role, factor in {"user": 2.7, "assistant": 2.0, "system": 1.0, "tool": 1.0}.items():
        assert weight([said[role]]) == pytest.approx(idf * 5 * factor, abs=1e-4)
    assert weight([said["user"]], user=0.5) == pytest.approx(idf * 2.5, abs=1e-4)
    assert weight([said["tool"]], tool=3, user=9) == pytest.approx(idf * 15, abs=1e-4)
    assert weight([said["user"], said["system"], said["user"]]) == pytest.approx(idf * 5 * 6.4, abs=1e-4)
    assert keywords([said["user"]], extractor.extract, {"user": 0}) == []


@pytest.mark.parametrize(("weight", "kept"), [(0.7999, False), (0.8, True), (0.8001, True)])
def test_a_light_word_is_dropped(weight: float, kept: bool) -> None:
    def extract(text: str) -> list[Keyword]:
        return [Keyword(text, weight, text)]

    assert words(keywords([Message("user", "w")], extract, {"user": 0.2})) == ["w"] * kept


# As a part of a server


def test_several_threads_extract_the_same_at_once(segmenter: JiebaSegmenter) -> None:
    extractor = JiebaKeywords(segmenter)  # nothing of it is loaded yet
    texts = [f"{text} deploying servers {number}" for number, text in enumerate(SHORT * 10)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(extractor.extract, texts))
    assert found == [extractor.extract(text) for text in texts]


def test_nothing_is_printed_and_no_tagger_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from memory_server.nlp.jieba import JiebaSegmenter;"
        "from memory_server.nlp.keywords import JiebaKeywords;"
        "assert 'jieba' not in sys.modules and 'snowballstemmer' not in sys.modules;"
        "found = JiebaKeywords(JiebaSegmenter(Path(sys.argv[1]))).extract('deploying 数据库 to 猫');"
        "import json; print(json.dumps([[each.word for each in found],"
        "sorted(name for name in sys.modules if name.startswith(('jieba.analyse', 'jieba.posseg')))]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path / "cache")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [["deploy", "数据库", "猫", "据库", "数据"], []]


def test_a_long_message_of_common_words_keeps_its_best_twelve() -> None:
    def extract(text: str) -> list[Keyword]:
        return [Keyword(f"{text}{number}", 6.5 / 72 + (70 - number) / 1e4, "") for number in range(72)]

    found = keywords([Message("system", "w")], extract, {})
    assert words(found) == [f"w{number}" for number in range(12)]
    assert keywords([Message("system", "w")], extract, {"system": 0.1}) == []
    assert keywords([Message("system", "w")], extract, {"system": 0}) == []


def test_a_chinese_system_message_keeps_keywords(extractor: JiebaKeywords) -> None:
    rules = (
        "请根据用户的问题给出准确简洁的回答，使用礼貌的语气，避免提供错误的信息，并在必要时询问更多的细节。"
        * 3
    )
    assert keywords([Message("system", rules)], extractor.extract, {})
