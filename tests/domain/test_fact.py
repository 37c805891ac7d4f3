"""Patterns, tags, the lookup order and what a value may be, without a database."""

import re
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.fact import (
    LOOKUP_ORDER,
    Headline,
    Home,
    Scope,
    is_plain,
    matches,
    narrowest,
    tagged,
)

KEYS = st.text(alphabet="ab._%?[]'\"数*", max_size=12)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(KEYS, parts, max_size=4),
    max_leaves=10,
)
"""Any JSON value."""


@given(KEYS, KEYS)
def test_a_pattern_means_what_the_same_regular_expression_means(key: str, pattern: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert matches(key, pattern) == (re.fullmatch(expression, key, re.DOTALL) is not None)


@given(KEYS)
def test_every_key_fits_itself_and_a_star(key: str) -> None:
    assert matches(key, key.replace("*", "**"))
    assert matches(key, "*")


@pytest.mark.parametrize(
    ("pattern", "key", "fits"),
    [
        ("user_name", "userXname", False),
        ("100%", "100 apples", False),
        ("a?", "ab", False),
        ("a.b", "axb", False),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("*.端口", "数据库.端口", True),
        ("a*a", "a", False),
        ("a*b*c", "a.b.b.c", True),
        ("A", "a", False),
        ("", "", True),
    ],
)
def test_only_the_star_is_a_wildcard(pattern: str, key: str, fits: bool) -> None:
    assert matches(key, pattern) == fits


def test_ten_thousand_stars_cost_no_time() -> None:
    """Tried one way after the other, as `fnmatch` and GLOB do, this would outlast the universe."""
    assert not matches("a" * 200, "*a" * 100 + "*b")
    assert matches("a" * 5000, "*a" * 5000 + "*")


@pytest.mark.parametrize(
    ("tags", "wanted", "passes"),
    [
        ((), (), True),
        (("a",), (), True),
        ((), ("a",), False),
        (("Ops", "É"), ("é",), True),
        (("a", "b"), ("c", "B"), True),
    ],
)
def test_a_fact_passes_with_any_of_the_tags_in_upper_or_lower_case(
    tags: tuple[str, ...], wanted: tuple[str, ...], passes: bool
) -> None:
    assert tagged(tags, wanted) == passes


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Scope)), unique=True))
def test_of_each_key_the_narrowest_scope_is_left_in_the_order_given(given: list[tuple[str, Scope]]) -> None:
    headlines = [Headline(id, key, Home(scope, ""), "") for id, (key, scope) in enumerate(given)]
    left = narrowest(headlines)
    assert [each for each in headlines if each in left] == left
    assert {each.key: each.home.scope for each in left} == {
        key: min((s for k, s in given if k == key), key=LOOKUP_ORDER.index) for key, _ in given
    }


def nested(value: Any, levels: int, name: str = "a") -> Any:
    """The value inside so many lists and objects by turns, each with a neighbour before and after it."""
    for level in range(levels):
        value = [0, value, 0] if level % 2 else {"": 0, name: value, "z": 0}
    return value


@given(PLAIN)
def test_any_json_value_of_a_few_levels_is_plain(value: Any) -> None:
    assert is_plain(value)


@given(st.integers(0, 100), st.sampled_from([nan, inf, -inf]))
def test_a_number_that_is_not_finite_is_not_plain_wherever_it_lies(level: int, number: float) -> None:
    assert not is_plain(nested(number, level))
    assert is_plain(nested(1e308, level))


@pytest.mark.parametrize("name", ["nan", "NaN", "Infinity"])
def test_a_text_or_a_name_that_looks_like_such_a_number_is_plain(name: str) -> None:
    assert is_plain(nested(name, 2, name))


@pytest.mark.parametrize("inmost", [[], {}], ids=["list", "object"])
def test_a_hundred_levels_are_plain_and_one_more_is_not(inmost: Any) -> None:
    """An empty list or object is a level too."""
    assert is_plain(nested(inmost, 99))
    assert not is_plain(nested(inmost, 100))
    assert is_plain(nested("text", 100))
    assert not is_plain(nested("text", 101))


def test_levels_beyond_the_stack_of_python_are_counted_and_no_crash() -> None:
    assert not is_plain(nested("text", 100_000))


def test_the_deepest_of_many_parts_counts() -> None:
    """Side by side they may be any number."""
    assert is_plain([nested("text", 99)] * 1000)
    assert not is_plain([*["text"] * 1000, nested("text", 100)])
