"""`memory-server completion`: what lets a shell complete commands, flags and ids."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from memory_server.cli import output
from memory_server.cli.program import NAME, program, verb
from memory_server.settings import Settings

MADE = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@verb(
    "completion",
    examples=(
        'eval "$(memory-server completion bash)"     # in ~/.bashrc',
        'eval "$(memory-server completion zsh)"      # in ~/.zshrc, after compinit',
        "memory-server completion fish > ~/.config/fish/completions/memory-server.fish",
    ),
)
@click.argument("shell", type=click.Choice(list(MADE)))
def completion_command(_: Settings, shell: str) -> None:
    """Print what lets a shell complete commands and flags."""
    output.say_text(MADE[shell](program, {}, NAME, "_MEMORY_SERVER_COMPLETE").source())
