"""Texts are cut into sentences, and shortened at the end of a clause or a word."""

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_server.language.sentences import ended, joined, lengths, shortened, split
from memory_server.language.tokens import weigh

TEXTS = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()
"""Texts in English, German and Chinese, with ‖ between sentences."""

ORDERS = "We store orders in PostgreSQL 16 because it has partial indexes, and the team knows it; Redis caches 1,000 s"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "It holds prices, e.g. of books. Nobody clears it.",
            ["It holds prices, e.g. of books.", "Nobody clears it."],
        ),
        ("缓存十分钟后过期。上传之前刷新！", ["缓存十分钟后过期。", "上传之前刷新！"]),
        ("他说：“不行。”然后走了。", ["他说：“不行。”然后走了。"]),
        ("- one\n- two\n\n# three", ["one", "two", "three"]),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_after_each_sentence_and_line(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("我每天早上喝美式（冰）\n组里周会改到周四", "我每天早上喝美式（冰）；组里周会改到周四"),
        ("缓存十分钟后过期。\n上传之前刷新！", "缓存十分钟后过期。上传之前刷新！"),
        ("Use make\nDeploys are on Fridays.\nNobody is alone", "Use make; Deploys are on Fridays. Nobody is alone"),
        ("To buy:\n- `tea`\n- 面包", "To buy: `tea`；面包"),
        (f"{ORDERS[:70]}\n{ORDERS[70:]}", f"{ORDERS[:70]} {ORDERS[70:]}"),
    ],
)  # fmt: skip
def test_lines_on_one_line_stay_apart(text: str, line: str) -> None:
    assert joined(split(text)) == line


def _cuts(parts: list[str]) -> set[int]:
    """The numbers of characters, spaces aside, after which the parts of a text end."""
    return set(accumulate(len("".join(part.split())) for part in parts))


@pytest.mark.parametrize("text", TEXTS)
def test_no_sentence_ends_at_an_abbreviation_a_number_or_a_file_name(text: str) -> None:
    assert _cuts(split(text.replace("‖", ""))) <= _cuts(text.split("‖"))


def test_of_three_hundred_sentences_few_stay_together() -> None:
    ends = [_cuts(text.split("‖")) for text in TEXTS]
    together = [cuts - _cuts(split(text.replace("‖", ""))) for cuts, text in zip(ends, TEXTS, strict=True)]
    assert sum(map(len, ends)) > 300
    assert sum(map(len, together)) <= 3


@pytest.mark.parametrize(
    ("most", "short"),
    [
        (6, "We store orders in…"),
        (10, "We store orders in PostgreSQL 16…"),
        (17, "We store orders in PostgreSQL 16 because it has partial indexes…"),
        (100, ORDERS),
    ],
)
def test_a_text_is_shortened_to_the_last_clause_or_word_that_fits(most: int, short: str) -> None:
    assert shortened(ORDERS, most) == short


def test_a_chinese_text_is_shortened_between_its_clauses() -> None:
    text = "登录令牌在十五分钟后过期，上传之前都要刷新，否则会出错"
    assert shortened(text, 14) == "登录令牌在十五分钟后过期…"
    assert shortened(text, 100) == text


def test_each_of_several_lengths_is_what_it_is_alone() -> None:
    assert lengths(ORDERS, (6, 10, 100)) == [shortened(ORDERS, most) for most in (6, 10, 100)]


def test_a_text_ends_with_the_full_stop_of_its_script() -> None:
    assert [ended(text) for text in ("done", "完成", "why?", "more…")] == ["done.", "完成。", "why?", "more…"]


@example("3a🎉3a口", 4)
@given(
    st.text(alphabet=st.sampled_from("the cache 数据库，端口 5433, x/y_z. 🎉；\n\"'("), max_size=400),
    st.integers(4, 60),
)
def test_a_shortened_text_is_a_beginning_on_one_line_within_its_tokens(text: str, most: int) -> None:
    short = shortened(text, most)
    assert " ".join(text.split()).startswith(short.removesuffix("…"))
    assert weigh(short.removesuffix("…")) <= most + 4
    assert "\n" not in short


@pytest.mark.parametrize(
    ("text", "most", "spared"),
    [
        (
            "From 20 November card payments go through Mollie, because Stripe raises its fees.",
            10,
            "From 20 November card payments go through Mollie…",
        ),
        ("The allotment gate has had a new code since Monday morning.", 10, None),
        ("购物车过期时间改为 30 天。", 8, None),
        ("购物车过期时间改为 30 天，因为顾客抱怨太短。", 8, "购物车过期时间改为 30 天…"),
    ],
)
def test_the_last_words_of_a_text_or_a_clause_are_not_cut(text: str, most: float, spared: str | None) -> None:
    assert lengths(text, (most,), spare=True) == [spared or text]
    assert lengths(text, (most,))[0].endswith("…")
