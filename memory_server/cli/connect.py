"""`memory-server install` and `uninstall`: connects a client, or takes it out again."""

import click

from memory_server.cli import options
from memory_server.cli.program import verb
from memory_server.settings import Settings

CLIENTS = ("claude", "claude-desktop", "codex", "cursor", "vscode", "opencode", "gemini")
"""The clients that can be connected; `cli/install/clients.py` knows each."""

client = click.argument("client", type=options.Word(CLIENTS), metavar="CLIENT")
only_print = click.option(
    "--print", "only_print", is_flag=True, help="Show what would be written, and write nothing."
)


@verb("install", examples=("memory-server install claude", "memory-server install cursor --print"))
@client
@only_print
def install_command(settings: Settings, client: str, only_print: bool) -> None:
    """Connect a client: enter this program and its hooks in the client's files.

    CLIENT is claude, claude-desktop, codex, cursor, vscode, opencode or gemini.
    """
    from memory_server.cli.install import command

    command.install(settings, client, only_print)


@verb("uninstall", examples=("memory-server uninstall claude",))
@client
@only_print
def uninstall_command(settings: Settings, client: str, only_print: bool) -> None:
    """Disconnect a client: take this program and its hooks out of the client's files. The memory itself stays."""
    from memory_server.cli.install import command

    command.uninstall(settings, client, only_print)
