"""Tables, plots and comparisons are made of results alone."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from show import compare, markdown, part, plots, results, svg, tables
from show.part import Part
from show.results import CPU, CPU_P95, FLOOR, INSIDE, OURS, WALL, WALL_P95, Measured, Results

COST = {CPU: 10.0, CPU_P95: 25.0, WALL: 12.0, WALL_P95: 30.0}


def _sized(who: str, what: str) -> list[Measured]:
    """The same call costs three times as much beside ten times as many memories."""
    return [
        Measured(who, what, size, {name: value * factor for name, value in COST.items()})
        for size, factor in ((1000, 1.0), (10_000, 3.0))
    ]


FOUND = Results(
    "python scripts/lab/bench",
    "2 cores",
    0.5,
    "0123",
    [
        Measured(FLOOR, "start to `tools/list`, one tool on the same SDK", 0, COST),
        Measured(OURS, "start to `tools/list`", 0, {**COST, CPU: 15.0}),
        Measured(FLOOR, "one durable commit of one row", 0, COST),
        *_sized(FLOOR, "numpy: ten nearest vectors"),
        *_sized(OURS, "memory_search, hybrid"),
        *_sized(OURS, "memory_store"),
        *_sized(INSIDE, "memory_store"),
        Measured(OURS, "resident memory after all calls", 1000, {"MB": 200}),
        Measured(OURS, "resident memory after all calls", 10_000, {"MB": 300}),
        Measured(INSIDE, "import, before embedding", 1000, {"a second": 900, "a second of CPU": 3000}),
        Measured("another <server>", "start to `tools/list`", 0, COST),
        Measured("another <server>", "store", 1000, COST),
        Measured("another <server>", "search", 1000, COST),
    ],
)


def test_results_are_read_as_they_were_saved(tmp_path: Path) -> None:
    results.save(FOUND, tmp_path / "bench.json")
    assert results.load(tmp_path / "bench.json") == FOUND


def test_times_are_medians_and_95th_percentiles_in_milliseconds() -> None:
    spent = [(number / 1000, number / 100) for number in range(1, 101)]
    assert results.times(spent) == {CPU: 50.5, CPU_P95: 95.0, WALL: 505.0, WALL_P95: 950.0}
    assert results.times([(0.001, 0.002)]) == {CPU: 1.0, CPU_P95: 1.0, WALL: 2.0, WALL_P95: 2.0}


def test_tables_say_values_growth_and_floors() -> None:
    text = tables.text(FOUND)
    assert text.startswith("`python scripts/lab/bench` on 2 cores:\n\n")
    for row in (
        "| start to `tools/list` | CPU | wall | CPU, times the first |",
        "| memory-server | 15 / 25 ms | 12 / 30 ms | 1.50 |",
        "| CPU, ms | 1,000 | 10,000 | 10,000 : 1,000 |",
        "| memory_search, hybrid | 10.0 / 25.0 | 30.0 / 75.0 | 3.00 |",
        "| one durable commit of one row | 10.0 / 25.0 | 10.0 / 25.0 |  |",
        "| resident memory after all calls | 200 MB | 300 MB | 1.50 |",
        "| import, before embedding | 1,000 | 900 a second | 3,000 a second of CPU |",
        "| another <server> | 10.0 / 25.0 | 10.0 / 25.0 | – |",
    ):
        assert row in text.splitlines()


def test_figures_of_a_busy_machine_say_so() -> None:
    assert tables.text(replace(FOUND, load=3.2)).startswith(
        "`python scripts/lab/bench` on 2 cores (busy, load 3.2):\n"
    )


def test_plots_are_well_formed_and_the_same_every_time() -> None:
    made = plots.plots(FOUND)
    assert set(made) == {"calls.svg", "inside.svg", "start.svg", "others.svg"}
    assert made == plots.plots(FOUND)
    for text in made.values():
        page = ElementTree.fromstring(text)
        assert page.tag.endswith("svg")
        assert "prefers-color-scheme: dark" in text
        assert "NaN" not in text


def test_names_in_plots_are_text() -> None:
    made = plots.plots(FOUND)
    assert ">memory_search, hybrid</text>" in made["calls.svg"]
    assert ">another &lt;server&gt;: store</text>" in made["others.svg"]
    assert 'class="line floor"' in made["inside.svg"]


def test_without_other_servers_none_are_shown() -> None:
    alone = replace(FOUND, measured=[each for each in FOUND.measured if "another" not in each.who])
    assert "others.svg" not in plots.plots(alone)
    assert "another" not in tables.text(alone)


def test_one_size_can_be_drawn() -> None:
    drawn = svg.lines("one", [200], [svg.Line("a", [3.0]), svg.Line("b", [None])], "ms")
    assert drawn.count("<circle") == 1


def test_labels_do_not_cover_each_other() -> None:
    ends = [(100.0, 0), (101.0, 1), (99.0, 2), (415.0, 3)]
    heights = [at for at, _ in svg._apart(ends)]
    assert all(below - above >= svg.LABEL for above, below in pairwise(heights))
    assert heights[-1] < svg.HEIGHT


def test_two_runs_are_compared_where_both_measured() -> None:
    faster = replace(
        FOUND,
        measured=[
            replace(each, values={name: value / 2 for name, value in each.values.items()})
            for each in FOUND.measured
            if each.size != 10_000
        ],
    )
    lines = compare.compared(FOUND, faster).splitlines()
    assert "| memory-server | memory_search, hybrid | 1,000 | CPU, ms | 10 | 5 | 0.50 |" in lines
    assert not any("10,000" in line for line in lines)


def test_runs_on_other_memories_are_not_compared() -> None:
    with pytest.raises(ValueError, match="0123 and 4567"):
        compare.compared(FOUND, replace(FOUND, texts="4567"))


def test_a_part_keeps_its_cells(tmp_path: Path) -> None:
    kept = Part("python scripts/lab/bench/x.py", "2 cores", ["a", "b"], [["1", "2"], ["3", "4"]])
    part.save(kept, tmp_path / "x.json")
    again = part.load(tmp_path / "x.json")
    assert again == kept
    assert again.cell(["3"], "b") == "4"
    assert (
        again.text
        == "`python scripts/lab/bench/x.py` on 2 cores:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"
    )
    with pytest.raises(KeyError, match="no 'c' of '3'"):
        again.cell(["3"], "c")


def test_text_is_put_between_its_markers_and_nowhere_else() -> None:
    page = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nkept\n<!-- end -->\n"
    assert markdown.between(page, "<!-- x -->", "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="<!-- z -->"):
        markdown.between(page, "<!-- z -->", "new\n")
