"""Which processes have a file open, while those open and close other files."""

import subprocess
import sys
from pathlib import Path

import pytest

from memory_server.cli.holders import holders

LOOKS = 50
"""Before this was mended, a look overlooked the process in one of five times."""

BUSY = """
import os, sys
others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
file = open(sys.argv[1])
print("open", flush=True)
while True:
    for descriptor in others:
        os.close(descriptor)
    others = [os.open(os.devnull, os.O_RDONLY) for _ in others]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_no_look_overlooks_a_process_that_opens_and_closes_other_files(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with subprocess.Popen([sys.executable, "-c", BUSY, str(path)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            assert [holders(path) for _ in range(LOOKS)] == [[process.pid]] * LOOKS
        finally:
            process.kill()
