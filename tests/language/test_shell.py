"""Lines that no shell takes are left at once, and are text in which any command may stand."""

import pytest

from memory_server.language import commands


@pytest.mark.parametrize(
    "line",
    [
        "for id in 1 <2 3; do rm $id; done",
        "for x in ))rm x",
        "git status && for x in rm & ls",
        "select x in a | rm",
        "for f in $(ls) >a; do rm $f; done",
        "rm 'x",
        'rm "$(x',
    ],
)
def test_a_line_that_no_shell_takes_has_an_end(line: str) -> None:
    reading = commands.read(line)
    assert line in reading.code


def test_a_loop_runs_its_command_with_all_its_words() -> None:
    *_, command = commands.read("for f in a $(ls) b; do rm $f; done").commands
    assert command.programs == ("rm",)
    assert {"a", "b"} <= set(command.words)
