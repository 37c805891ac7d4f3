"""The command as it is typed."""

import runpy

import pytest
from show import pages

from tests.conftest import ROOT


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """`python scripts/lab/bench` in this process, from the root of the repository."""
    monkeypatch.chdir(ROOT)
    return monkeypatch


def _run(bench: pytest.MonkeyPatch, *arguments: str) -> None:
    bench.setattr("sys.argv", ["scripts/lab/bench", *arguments])
    runpy.run_path("scripts/lab/bench", run_name="__main__")


def test_a_run_compared_with_itself_has_changed_nothing(
    bench: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(bench, "--compare", pages.KEPT.as_posix(), pages.KEPT.as_posix())
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert {row.split(" | ")[-1] for row in rows} == {"1.00 |"}


def test_figures_of_other_sizes_are_not_written(
    bench: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _run(bench, "--sizes", "200", "--write")
    assert "--write takes the figures of the usual sizes" in capsys.readouterr().err
