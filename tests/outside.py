"""The programs of others that judge this one. `scripts/outside` installs them and runs the tests marked `outside`."""

import os
import shutil
from pathlib import Path

import pytest

CLIENTS = Path(__file__).resolve().parents[1] / ".clients"
PATH = os.pathsep.join([str(CLIENTS / "node_modules/.bin"), os.environ["PATH"]])
"""The programs, and the node that they need, come first."""


def program(name: str) -> str:
    """The path of a program; without any of them, the test is skipped."""
    if not CLIENTS.exists():
        pytest.skip("scripts/outside installs the programs of others, and runs this")
    path = shutil.which(name, path=str(CLIENTS / "node_modules/.bin"))
    assert path, f"{name} is not in .clients: remove that folder, then run scripts/outside"
    return path
