"""A command that a person types: its streams are a terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests import warm


def typed(*arguments: str, env: Mapping[str, str], folder: Path, columns: int = 200) -> tuple[str, int]:
    """Run the program on a terminal; return what it prints and its exit code."""
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            warm.program(*arguments), env={**env, "COLUMNS": str(columns)}, cwd=folder,
            stdin=slave, stdout=slave, stderr=slave, timeout=60, check=False,
        )  # fmt: skip
        os.close(slave)
        printed = b""
        while part := _read(master):
            printed += part
    finally:
        os.close(master)
    return printed.decode(), done.returncode


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody writes any more
        return b""
