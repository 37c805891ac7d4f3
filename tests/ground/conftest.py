"""A git repository in a temporary folder, and what changes it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_server.ground import Anchor, Verdict, look, observe

AMPLE = 20.0
"""Seconds of CPU: a test of what is found is no test of the budget."""


@dataclass(frozen=True, slots=True)
class Repository:
    root: Path

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
        options = ("-c", "core.autocrlf=false", "-c", "commit.gpgsign=false")
        environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *identity, *options, *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            timeout=60,
            env=environment,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, files: Mapping[str, str | bytes] | None = None) -> None:
        """Write files, and commit all that the folder has."""
        for path, text in (files or {}).items():
            self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "next")

    def observe(self, text: str, *read: str) -> tuple[Anchor, ...]:
        return observe(text, self.root, read=read, seconds=AMPLE)

    def look(self, anchors: tuple[Anchor, ...]) -> tuple[Verdict, ...]:
        return look(anchors, self.root, seconds=AMPLE)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit, at a path without links."""
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    made = Repository(folder)
    made.git("init", "-q", "-b", "main")
    made.commit(
        {
            "config.py": 'HOST = "a"\nPORT = 5433\n',
            "src/a.py": "def load_settings(path):\n    return path\n",
        }
    )
    return made
