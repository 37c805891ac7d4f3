"""Tables on screens of any width."""

from hypothesis import given
from hypothesis import strategies as st

from memory_server.cli.grid import LEAST, GridColumn, cut, lines
from memory_server.language.text import width

LAYOUTS = (
    GridColumn("id"),
    GridColumn("score", right=True),
    GridColumn("when"),
    GridColumn("type"),
    GridColumn("text", fills=True),
)
TEXT = "The staging database listens on port 5433 since the move of March"
ROW = ("m1", "0.91", "2026-03-14 09:26", "observation", TEXT)


def test_on_a_wide_screen_a_row_is_a_line() -> None:
    title, row = lines(LAYOUTS, [ROW], 80)
    assert title.count("\x1b[1m") == len(LAYOUTS)
    assert row == f"m1   0.91  2026-03-14 09:26  observation  {TEXT[:36]}…"


def test_at_46_columns_the_text_stands_whole_below_the_other_cells() -> None:
    assert list(lines(LAYOUTS, [ROW], 46)) == [
        "m1  score 0.91  2026-03-14 09:26  observation",
        "  The staging database listens on port 5433",
        "  since the move of March",
    ]


def test_a_long_text_says_in_its_third_line_that_it_goes_on() -> None:
    *_, third = shown = list(
        lines((GridColumn("id"), GridColumn("text", fills=True)), [("m1", TEXT * 3)], 26)
    )
    assert len(shown) == 4
    assert third == "  since the move of March…"


def test_cells_that_do_not_fit_stand_in_a_line_of_their_own_and_are_not_cut() -> None:
    key = "f:project/a.key.that.is.wider.than.the.whole.screen"
    row = ("d12", "0.91", "2026-03-14 09:26", key, "noon")
    assert list(lines(LAYOUTS, [row], 46)) == [
        "d12  score 0.91  2026-03-14 09:26",
        f"  {key[:44]}",
        f"  {key[44:]}",
        "  noon",
    ]


def test_a_table_without_a_text_names_its_cells_where_it_does_not_fit() -> None:
    layouts = tuple(map(GridColumn, ("id", "name", "projects", "may")))
    assert list(lines(layouts, [("1", "ada", "all projects", "read and write")], 30)) == [
        "1  name ada",
        "  projects all projects",
        "  may read and write",
    ]


def test_a_short_text_stays_beside_the_others_on_a_narrow_screen() -> None:
    shown = list(lines((GridColumn("id"), GridColumn("text", fills=True)), [("m1", "noon"), ("m2", "")], 12))
    assert shown[1:] == ["m1  noon", "m2"]


def test_a_chinese_text_is_cut_between_letters() -> None:
    assert cut("生产环境每周二发布", 8) == "生产环…"
    assert cut("生产", 4) == "生产"


@given(
    st.lists(st.tuples(st.text("ab界 ", max_size=30), st.text("cd发", max_size=80)), max_size=4),
    st.integers(8, 120),
)
def test_no_line_is_wider_than_the_screen(rows: list[tuple[str, str]], screen: int) -> None:
    shown = list(lines((GridColumn(""), GridColumn("", fills=True)), rows, screen))
    assert max(map(width, shown), default=0) <= screen
    if screen > LEAST + 40:
        assert len(shown) == len(rows) + 1
