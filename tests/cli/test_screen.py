"""What a person sees and types: a real terminal of 80 columns, driven by tmux."""

import os
import re
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import HARBOUR, ORCHID, Terminal, fill
from tests.conftest import Servers, Sqlite, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.skipif(
        not Path(os.devnull).is_char_device(), reason="tmux does not start where /dev/null is no device"
    ),
]

LONG = "一篇很长的文字" * 40


@dataclass(frozen=True, slots=True)
class Screen:
    """A shell in a terminal of 80 × 40. `memory` is the command line of the program."""

    socket: str
    terminal: Terminal

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=30,
            check=True, env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        return done.stdout

    def start(self) -> None:
        env = {**self.terminal.servers.env, "PS1": "$ ", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        given = [f"-e{name}={value}" for name, value in env.items()]
        shell = ["env", "-u", "NO_COLOR", "sh"]
        settings = self.terminal.folder / "tmux.conf"
        settings.touch()
        self.tmux(
            "-f", str(settings), "new-session", "-d", "-x", "80", "-y", "40", "-c", str(self.terminal.folder), *given,
            shlex.join(shell),
        )  # fmt: skip

    def type(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def run(self, *arguments: str, before: str = "") -> None:
        """Type a command of the program; `before` stands in front of it. The screen is empty when it begins."""
        begun = f"BEGUN {uuid.uuid4().hex[:8]}"
        command = [*self.terminal.servers.command()[:3], *arguments, "--db", str(self.terminal.servers.db)]
        script = self.terminal.folder / "run.sh"
        script.write_text(
            f"clear\necho {begun}\n{before} {shlex.join(command)}\necho ENDED $?\n", encoding="utf-8"
        )
        self.type(". ./run.sh", "Enter")
        self.shows(begun)

    def text(self, colours: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def shows(self, text: str) -> str:
        """The screen, once it shows a text."""
        until(lambda: text in self.text(), f"the screen shows {text!r}", 60)
        return self.text()

    def ended(self, code: int = 0) -> str:
        return self.shows(f"ENDED {code}")


@pytest.fixture
def screen(terminal: Terminal) -> Iterator[Screen]:
    screen = Screen(f"memory-server-{uuid.uuid4().hex[:8]}", terminal)
    screen.start()
    yield screen
    screen.tmux("kill-server")


async def test_tables_fit_80_columns_with_chinese_and_have_colours(
    server: Servers, terminal: Terminal, ledger: Path, screen: Screen, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    sqlite(server.db, f"INSERT INTO memories (content, type, project) VALUES ('{LONG}', 'error', '项目')")
    screen.run("list")
    shown = screen.ended()
    lines = [line for line in shown.splitlines() if re.match(r"m\d|id ", line)]
    assert [line.split()[0] for line in lines] == ["id", "m4", "m3", "m2", "m1"]
    assert lines[1].endswith("…")
    assert ORCHID in shown
    wide = sum(2 if ord(letter) > 0x2E80 else 1 for letter in lines[1])
    assert wide <= 80
    assert "\x1b[" in screen.text(colours=True)
    screen.run("list", before="NO_COLOR=1")
    screen.ended()
    coloured = re.findall(r"\x1b\[(?:[12][m;]|3[0-7]|9[0-7]|38;)", screen.text(colours=True))
    assert coloured == []


async def test_the_editor_changes_a_memory(
    server: Servers, terminal: Terminal, ledger: Path, screen: Screen, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    editor = ledger / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/noon/one/' \"$1\"\n", encoding="utf-8")
    editor.chmod(0o700)
    screen.run("edit", "1", before=f"EDITOR={editor}")
    assert "m1 changed" in screen.ended()
    assert sqlite(server.db, "SELECT content FROM memories WHERE id = 1") == "The harbour opens at one"
    screen.run("edit", "1", before="EDITOR=true")
    assert "m1 is unchanged" in screen.ended()
    screen.run("edit", "1", before="EDITOR=false")
    assert "memory-server: " in screen.ended(1)
    assert "no terminal for an editor" in terminal("edit", "1", code=2).err
    screen.run("undo")
    screen.shows("Undo this? [y/N]")
    screen.type("y", "Enter")
    assert "Undid 1 change." in screen.ended()
    assert sqlite(server.db, "SELECT content FROM memories WHERE id = 1") == HARBOUR


async def test_a_purge_asks_and_no_is_an_answer(
    server: Servers, terminal: Terminal, ledger: Path, screen: Screen, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    screen.run("forget", "1", "--purge")
    screen.shows("Erase this for good?")
    screen.type("n", "Enter")
    assert HARBOUR in screen.ended(1)
    screen.run("forget", "1", "--purge")
    screen.shows("Erase this for good?")
    screen.type("C-c")
    screen.ended(1)
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "3"
    screen.run("forget", "1", "--purge")
    screen.shows("Erase this for good?")
    screen.type("y", "Enter")
    assert "m1 erased for good." in screen.ended()
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "2"


def test_without_a_database_nothing_is_made(screen: Screen, server: Servers) -> None:
    server.db.unlink()
    screen.run("list")
    assert "There is no database" in screen.ended(1)
