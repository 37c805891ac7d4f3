"""What a half-written name may become."""

from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.completing import MOST, Completed, completed


def test_what_begins_so_comes_before_what_holds_it() -> None:
    names = ["the release", "Release day", "release", "other", "release"]
    assert completed("RELEASE", names) == Completed(("Release day", "release", "the release"), 3)


def test_another_width_or_case_is_the_same() -> None:
    assert completed("ａｂ", ["ABC", "abd"]).values == ("ABC", "abd")
    assert completed("发布", ["发布 计划", "计划发布"]).values == ("发布 计划", "计划发布")


def test_nothing_written_gives_all_in_their_order() -> None:
    names = [f"name {number}" for number in range(MOST + 3)]
    assert completed("", names) == Completed(tuple(names[:MOST]), MOST + 3)


@given(st.text(max_size=5), st.lists(st.text(max_size=8)))
def test_every_completion_is_one_of_the_names(written: str, names: list[str]) -> None:
    found = completed(written, names)
    assert set(found.values) <= set(names)
    assert len(found.values) == len(set(found.values)) == min(found.total, MOST)
