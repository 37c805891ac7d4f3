"""The demo, one of the two commands of README: every step works, and it leaves nothing behind."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT


def test_every_step_of_the_demo_works(user_folders: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memory_server", "demo"],
        cwd=ROOT,
        env={**user_folders, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    lines = done.stdout.splitlines()
    steps = [line for line, below in pairwise(lines) if below.startswith("---")]
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert steps[-1] == "Done"
    assert {"What the conversation was about lately", "Memories that wake by themselves"} <= set(steps)
    assert list(tmp_path.iterdir()) == []
