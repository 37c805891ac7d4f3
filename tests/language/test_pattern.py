"""What says which texts are meant: words or a regular expression."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language.pattern import parse

LONG = 200_000
"""Characters: more than a call can bring."""


@pytest.mark.parametrize(
    ("given", "text", "there"),
    [
        ("art", "a party", False),
        ("art", "art, they say", True),
        ("ART", "ｆｉｎｅ ａｒｔ", True),
        ("  deploy on friday ", "We Deploy on Friday.", True),
        ("deploy friday", "We deploy on Friday", False),
        ("数据库", "讨论數據庫的连接", True),
        ("AI", "我喜欢AI技术", True),
        ("café", "CAFE\u0301", True),
        ("C++", "the C++ code", True),
        ("a.c", "abc", False),
        ("/", "either/or", True),
        ("/art", "the folder /art", True),
        ("// no words", "abc", False),
    ],
)
def test_words_are_found_whole_and_in_any_spelling(given: str, text: str, there: bool) -> None:
    assert parse(given).is_in(text) == there


@pytest.mark.parametrize(
    ("given", "text", "there"),
    [
        ("/art/", "a party", True),
        ("/Art/", "a party", False),
        ("/Art/i", "a party", True),
        ("/É/i", "café", True),
        ("/^b/", "a\nb", False),
        ("/^b$/m", "a\nb\nc", True),
        ("/a.b/", "a\nb", False),
        ("/a.b/s", "a\nb", True),
        ("/^.$/u", "😀", True),
        ("/a/g", "a", True),
        ("/a/y", "ba", True),
        ("/a/d", "a", True),
        ("/a/v", "a", True),
        ("/^A.b/imsugydv", "x\na\nb", True),
        ("/a/ii", "A", True),
        (" /a/ ", "a", True),
        ("/a\nb/", "a\nb", True),
        (r"/^\/srv\//", "/srv/x", True),
        ("/a|/b/", "/b", True),
        ("/数据库|缓存/", "把缓存清空", True),
        ("/数据库/", "數據庫", False),
        (r"/^\u4e2d$/", "中", True),
        (r"/^\u{4E2D}$/", "中", True),
        (r"/^\u{1F600}$/u", "😀", True),
        (r"/^\ud83d\ude00$/", "😀", True),
        (r"/^[\u4e00-\u9fff]+$/", "中文", True),
        (r"/\\u4e2d/", r"\u4e2d", True),
        (r"/\\u4e2d/", "中", False),
        (r"/\\\u4e2d/", "\\中", True),
        (r"/\p{Han}/u", "a中", True),
        (r"/(?<year>\d{4})-\d\d/", "2026-03", True),
    ],
)
def test_an_expression_is_found_as_it_stands(given: str, text: str, there: bool) -> None:
    assert parse(given).is_in(text) == there


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("/a/x", "has the unknown flag `x`: the flags are i, m, s, u, g, y, d, v"),
        ("/usr/bin", "i, m, s, u, g, y, d, v; to search for a path, omit its leading slash"),
        ("/[/", "is not a regular expression that RE2 accepts (missing ]: [)"),
        ("/(a/", "missing )"),
        ("/a\\/", "trailing \\"),
        ("/(?=a)b/", "(?=); RE2 has no lookaround and no backreferences"),
        ("/(?!a)b/", "no lookaround"),
        ("/(?<=a)b/", "no lookaround"),
        ("/(?<!a)b/", "no lookaround"),
        (r"/(a)\1/", "no backreferences"),
        (r"/\u{110000}/", "invalid escape sequence"),
        ("/a{1001}/", "invalid repetition size"),
        ("/((a{30}){30}){30}/", "is not a regular expression that RE2 accepts"),
        ("/" + "([ab]{0,990}c?)" * 20 + "/", "pattern too large"),
        ("", "has no visible character"),
        (" \n", "has no visible character"),
    ],
)
def test_what_is_neither_words_nor_an_expression_is_refused(given: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        parse(given)


@pytest.mark.parametrize(
    ("given", "there"),
    [
        ("/(a+)+$/", False),
        ("/^(a|a)*$/", False),
        ("/(a*)*b/", True),
        ("/(.*)*x/", False),
        ("/.*.*.*.*.*=.*/", False),
        ("/^(([a-z])+.)+[A-Z]([a-z])+$/", False),
        ("/a[ab]{400}$/", True),
        ("/(x+x+)+y/", False),
    ],
)
def test_an_expression_that_backtracks_elsewhere_is_answered(given: str, there: bool) -> None:
    assert parse(given).is_in("a" * LONG + "b") == there


@given(st.text(min_size=1).filter(str.strip), st.text())
def test_any_text_is_a_pattern_or_refused_with_a_reason(pattern: str, text: str) -> None:
    for each in (pattern, f"/{pattern}/", f"/{pattern}/i"):
        try:
            assert parse(each).is_in(text) in (True, False)
        except ValueError as error:
            assert str(error)  # noqa: PT017


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1))
def test_every_character_can_be_escaped_as_javascript_does(text: str) -> None:
    units = text.encode("utf-16-be")
    escaped = "".join(rf"\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
    assert parse(f"/^{escaped}$/").is_in(text)
    points = "".join(rf"\u{{{ord(character):x}}}" for character in text)
    assert parse(f"/^{points}$/").is_in(text)
