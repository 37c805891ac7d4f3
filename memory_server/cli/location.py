"""`memory-server where`: prints where the memory is."""

from memory_server.cli import output
from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb("where", examples=("memory-server where", 'sqlite3 "$(memory-server where)"'))
def where_command(settings: Settings) -> None:
    """Print the path of the database file, or the address of the PostgreSQL database."""
    output.say(str(settings.db))
