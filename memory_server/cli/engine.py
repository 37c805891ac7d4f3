"""`memory-server engine`: the process that serves all windows of a database."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import EnginesAnswer
from memory_server.cli.program import verb
from memory_server.errors import Conflict
from memory_server.front import running
from memory_server.settings import Settings


@verb("engine", examples=("memory-server engine status", "memory-server engine stop"))
@click.argument("action", type=options.Word(["status", "stop"]))
def engine_command(settings: Settings, action: str) -> None:
    """Show or stop the process that serves all windows of a database.

    status: show it. stop: end it; calls that run are still answered, and the next call of a window starts it again.
    """
    engines = running.of(settings.db)
    for engine in engines:
        if action == "stop" and not running.stop(engine):
            raise Conflict(
                f"The engine at {engine.path} does not end. Kill its process: {engine.pid or 'unknown'}."
            )
    if output.answered(EnginesAnswer(engines, action == "stop")):
        return
    for engine in engines:
        output.say(f"{engine}: stopped" if action == "stop" else str(engine))
    if not engines:
        output.say(f"No engine runs for {settings.db}.")
