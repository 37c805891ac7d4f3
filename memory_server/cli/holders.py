"""Finds the processes that have the database open: a file must not be taken from under them."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def holders(path: Path) -> list[int] | None:
    """The processes that have a file open, without this one; None where that cannot be told."""
    if not path.exists():
        return []
    if sys.platform == "linux":
        return _by_proc(path)
    program = shutil.which("lsof")
    if program is None:
        return None
    done = subprocess.run(  # noqa: S603 - the program is lsof, the path is a file that exists
        [program, "-t", "--", str(path)], capture_output=True, text=True, check=False, timeout=30
    )
    return [int(line) for line in done.stdout.split() if line.isdigit() and int(line) != os.getpid()]


def _by_proc(path: Path) -> list[int]:
    file = path.stat()
    processes = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [
        int(process.name)
        for process in processes
        if int(process.name) != os.getpid() and _has_open(process, file)
    ]


def _has_open(process: Path, file: os.stat_result) -> bool:
    """True if the process has the file open. A descriptor that is closed meanwhile is another file's."""
    with suppress(OSError):  # the process has ended, or is another user's
        for descriptor in (process / "fd").iterdir():
            with suppress(FileNotFoundError):
                if os.path.samestat(file, descriptor.stat()):
                    return True
    return False
