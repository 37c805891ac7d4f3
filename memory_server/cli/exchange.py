"""`memory-server import`, `export` and `merge`: from file to file."""

from pathlib import Path

import click

from memory_server.cli import options
from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb(
    "import",
    examples=("memory-server import ~/memory.jsonl", "memory-server import notes/ --project shop --dry-run"),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option(
    "--from", "form", metavar="FORMAT", help="Default: recognised by the content. A wrong name lists all."
)
@click.option(
    "--project",
    help="File all of it under this project.",
    shell_complete=options.completed("projects"),
)
@options.dry_run_option
@options.json_option
def import_command(
    settings: Settings,
    paths: tuple[Path, ...],
    form: str | None,
    project: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take over the memories of other programs, account exports of Claude and ChatGPT, or an export of this program.

    The source is only read. A second import of it adds nothing.
    """
    from memory_server.cli.importing import take

    return take(settings, paths, form, project, dry_run, as_json)


@verb(
    "export",
    examples=("memory-server export memory.jsonl", "memory-server export --format markdown notes/"),
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=options.Word(["jsonl", "markdown"]),
    default="jsonl",
    help="jsonl: lossless, for import. markdown: for people; FILE is a folder, with a file for each project.",
)
@click.option("--project", help="Only of this project.", shell_complete=options.completed("projects"))
@click.option("--embeddings", is_flag=True, help="jsonl: with the vectors.")
@click.option(
    "--force", is_flag=True, help="Replace a file that is no earlier export. A SQLite file is never replaced."
)
def export_command(
    settings: Settings, file: Path | None, form: str, project: str | None, embeddings: bool, force: bool
) -> int:
    """Write everything, or a project, as text: to FILE, or to standard output. It replaces an earlier export."""
    from memory_server.cli.exporting import export

    return export(settings, file, form, project, embeddings, force)


@verb("merge", examples=("memory-server merge laptop.db", "memory-server merge laptop.db --dry-run"))
@click.argument("file", type=click.Path(path_type=Path))
@options.dry_run_option
@options.json_option
def merge_command(settings: Settings, file: Path, dry_run: bool, as_json: bool) -> int:
    """Take over what is new in another database of memory-server. That is only read."""
    from memory_server.cli.merging import merge

    return merge(settings, file, dry_run, as_json)
