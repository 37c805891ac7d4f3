"""`memory-server view`: pages over the memory for a browser on this machine."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from memory_server import installation
from memory_server.cli import options, output
from memory_server.cli.listening import listen
from memory_server.cli.opened import caller as person
from memory_server.cli.opened import opened
from memory_server.cli.program import verb
from memory_server.settings import LOOPBACK, Settings

CLIENT = "browser"
"""The name under which what a person does on the pages is signed."""


@verb(
    "view",
    json=False,
    examples=(
        "memory-server view",
        "memory-server view --open",
        "memory-server view --port 8765 --read-only",
    ),
)
@click.option(
    "--port", type=options.Number(0, 65_535), default=0, help="The port on 127.0.0.1. Default: a free one."
)
@click.option("--open", "opens", is_flag=True, help="Open the address in the browser.")
def view_command(settings: Settings, port: int, opens: bool) -> None:
    """Look at the memory in a browser: search, read and edit. The graph, triggers and facts have pages too. Ctrl-C
    ends it.

    It prints an address that works once, and only on this machine. With --read-only nothing can be changed.
    """
    with installation.needs("view", "A look at the memory in a browser"):
        from memory_server.web.serving import serve  # a web server, which the help does without

    with opened(settings, makes=not settings.read_only) as services, ExitStack() as stack:
        services.database.open()  # else each page and job would say why it cannot be
        services.start()

        def told(address: str) -> None:
            output.say_whole(address)
            sys.stdout.flush()  # whoever reads it through a pipe waits for it, and the server goes on
            output.note("The address works once, on this machine. Ctrl-C ends it.")
            if opens:
                click.launch(stack.enter_context(page_to(address)).as_uri())

        caller, listening = replace(person(settings), client=CLIENT), listen(LOOPBACK, port)
        serve(services, caller, listening, settings.read_only, told)


@contextmanager
def page_to(address: str) -> Iterator[Path]:
    """A page that only this user can read, and that opens an address: a command line can be read by all users."""
    from memory_server.web.gate import onward  # a web framework, which the help does without

    with tempfile.TemporaryDirectory(prefix="memory-server-") as folder:
        page = Path(folder) / "open.html"
        page.write_text(onward(address), encoding="utf-8")
        yield page
