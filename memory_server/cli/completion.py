"""`memory-server completion`: what lets a shell complete commands, flags, their values, and what is stored."""

import shlex
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
)

from memory_server.cli import options, output
from memory_server.cli.program import NAME, program, verb
from memory_server.settings import Settings


class Bash(BashComplete):
    """Bash takes `f:current` for three words, and completes what is behind the last colon: `typed` is before that."""

    typed = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        split = False
        for word in (*args, incomplete):
            split = bool(words and word) and (word == ":" or words[-1].endswith(":"))
            if split:
                words[-1] += word
            else:
                words.append(word)
        self.typed = "".join(words[-1].rpartition(":")[:2]) if split else ""
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[Any]) -> str:
        value = str(item.value).removeprefix(self.typed)
        return f"{item.type},{value if value.isidentifier() else shlex.quote(value)}"


MADE = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def prepare() -> None:
    """Let click use our way of reading a line of bash."""
    add_completion_class(Bash)


@verb(
    "completion",
    json=False,
    examples=(
        'eval "$(memory-server completion bash)"     # ~/.bashrc',
        'eval "$(memory-server completion zsh)"      # ~/.zshrc (compinit)',
        "memory-server completion fish > ~/.config/fish/completions/memory-server.fish",
    ),
)
@click.argument("shell", type=options.Word(list(MADE)))
def completion_command(_: Settings, shell: str) -> None:
    """Print the script by which a shell completes commands. It completes flags, ids, keys, projects and trigger
    names too.
    """
    output.say_whole(MADE[shell](program, {}, NAME, "_MEMORY_SERVER_COMPLETE").source())
