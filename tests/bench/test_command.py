"""The command as it is typed."""

import subprocess
import sys

from show import pages

from tests.conftest import ROOT


def _bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "scripts/bench", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_a_run_compared_with_itself_has_changed_nothing() -> None:
    done = _bench("--compare", pages.KEPT.as_posix(), pages.KEPT.as_posix())
    assert done.returncode == 0, done.stderr
    _, _, *rows = done.stdout.splitlines()
    assert {row.split(" | ")[-1] for row in rows} == {"1.00 |"}


def test_figures_of_other_sizes_are_not_written() -> None:
    done = _bench("--sizes", "200", "--write")
    assert done.returncode == 2
    assert "--write takes the figures of the usual sizes" in done.stderr
