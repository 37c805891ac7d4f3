"""New results change every page that shows them, and nothing else on these pages."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from show import pages, readme, results
from show.results import OURS, STORE, WALL

from tests.conftest import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The pages and results of this repository, in another folder."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("README.md", "README.zh-CN.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _save_with_store_of(milliseconds: float, root: Path) -> None:
    found = results.load(root / pages.KEPT)
    changed = [
        replace(each, values={**each.values, WALL: milliseconds})
        if (each.who, each.what, each.size) == (OURS, STORE, readme.SIZE)
        else each
        for each in found.measured
    ]
    results.save(replace(found, load=0.0, measured=changed), root / pages.KEPT)


def test_one_new_figure_is_in_both_readmes_and_on_the_page(copy: Path) -> None:
    _save_with_store_of(77.7, copy)
    assert set(pages.write(copy)) >= {pages.PAGE, Path("README.md"), Path("README.zh-CN.md")}
    for name in ("README.md", "README.zh-CN.md"):
        assert (copy / name).read_text(encoding="utf-8").count("| 77.7 ms | `python scripts/lab/bench") == 1
    assert "77.7 / " in (copy / pages.PAGE).read_text(encoding="utf-8")


def test_a_figure_of_a_busy_machine_says_so_in_both_readmes(copy: Path) -> None:
    _save_with_store_of(77.7, copy)
    results.save(replace(results.load(copy / pages.KEPT), load=2.5), copy / pages.KEPT)
    pages.write(copy)
    for name in ("README.md", "README.zh-CN.md"):
        assert "| 77.7 ms (busy) |" in (copy / name).read_text(encoding="utf-8")


def test_what_is_shown_already_is_not_written_again(copy: Path) -> None:
    pages.write(copy)
    assert pages.write(copy) == []


def test_a_plot_that_nothing_shows_is_removed(copy: Path) -> None:
    old = copy / pages.RESULTS / "old.svg"
    old.write_text("<svg/>", encoding="utf-8")
    pages.write(copy)
    assert not old.exists()


def test_a_figure_that_was_not_measured_is_named(copy: Path) -> None:
    found = results.load(copy / pages.KEPT)
    small = [each for each in found.measured if each.size != readme.SIZE]
    results.save(replace(found, measured=small), copy / pages.KEPT)
    with pytest.raises(KeyError, match="has not measured 'memory_store' at 10,000 memories"):
        pages.write(copy)
