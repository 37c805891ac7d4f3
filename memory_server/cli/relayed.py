"""Runs the command of a client in an engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from memory_server.app import Services
from memory_server.call import acting, deadline
from memory_server.cli import terminal
from memory_server.cli.guard import guarded
from memory_server.cli.program import NAME, program

Json = dict[str, Any]


def run(services: Services, words: Sequence[str], session: Mapping[str, object], client: Json) -> Json | None:
    """Return the exit code and what the command prints. None where a process of its own has to run it: it has
    settings that make another engine, or says how commands are written."""
    of_client = terminal.TerminalClient(
        services, Path(client["folder"]), client["width"], client["colors"], client["language"]
    )
    settings: dict[str, object] = dict(session)
    with terminal.of(of_client), acting.as_(None), deadline.within(deadline.CALL):
        try:
            code = guarded(lambda: _done(words, settings))
        except click.ClickException:
            return None
    return {"code": code, "out": of_client.out.getvalue(), "err": of_client.err.getvalue()}


def _done(words: Sequence[str], settings: dict[str, object]) -> int:
    terminal.read(words)
    done = program.main(list(words), prog_name=NAME, standalone_mode=False, obj=settings)
    return done if isinstance(done, int) else 0
