"""Which processes have the database open: a file must not be taken from under them."""

import os
import shutil
import subprocess
import sys
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
    wanted, found = path.stat(), []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            there = any(os.path.samestat(wanted, each.stat()) for each in (process / "fd").iterdir())
        except OSError:  # it has ended, or is another user's
            continue
        if there:
            found.append(int(process.name))
    return found
