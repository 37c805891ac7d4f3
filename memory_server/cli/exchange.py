"""`memory-server import`, `export` and `merge`: from file to file."""

import argparse

from memory_server.settings import Settings


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Returns 0, or 1 where a part of the source could not be taken over."""
    project: str | None = getattr(arguments, "project", None)
    match arguments.command:
        case "import":
            from memory_server.cli.importing import take

            return take(settings, arguments.paths, arguments.form, project, arguments.dry_run, arguments.json)
        case "merge":
            from memory_server.cli.merging import merge

            return merge(settings, arguments.file, arguments.dry_run, arguments.json)
        case _:
            from memory_server.cli.exporting import export

            return export(settings, arguments.file, arguments.form, project, arguments.embeddings)
