"""Patterns, tags and the lookup order, without a database."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.fact import LOOKUP_ORDER, Headline, Home, Scope, matches, narrowest, tagged

KEYS = st.text(alphabet="ab._%?[]'\"数*", max_size=12)


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
    headlines = [Headline(id, key, Home(scope, "")) for id, (key, scope) in enumerate(given)]
    left = narrowest(headlines)
    assert [each for each in headlines if each in left] == left
    assert {each.key: each.home.scope for each in left} == {
        key: min((s for k, s in given if k == key), key=LOOKUP_ORDER.index) for key, _ in given
    }
