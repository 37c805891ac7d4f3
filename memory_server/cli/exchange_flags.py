"""The arguments of `import`, `export` and `merge`."""

import argparse
from pathlib import Path
from typing import Any

FLAGS = ("--from", "--dry-run", "--json", "--format", "--embeddings")


def add(commands: Any, flags: argparse.ArgumentParser) -> None:
    """Add the three commands to the commands of a parser."""
    taking = commands.add_parser(
        "import",
        parents=[flags],
        help="take over what other memory programs, or another file, know",
        epilog="Examples: memory-server import ~/memory.jsonl; memory-server import --dry-run export.zip.d/",
    )
    taking.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="a file or a folder; it is only read"
    )
    taking.add_argument("--from", dest="form", metavar="FORMAT", help="default: recognised by the content")
    giving = commands.add_parser("export", parents=[flags], help="write everything, or a project, as text")
    giving.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: standard output")
    giving.add_argument(
        "--format", dest="form", choices=("jsonl", "markdown"), default="jsonl",
        help="jsonl: lossless, for import. markdown: for people; FILE is a folder, with a file for each project",
    )  # fmt: skip
    giving.add_argument("--embeddings", action="store_true", help="jsonl: with the vectors")
    merging = commands.add_parser("merge", parents=[flags], help="take over what is new in another memory.db")
    merging.add_argument("file", type=Path, metavar="FILE", help="another database; it is only read")
    for each in (taking, merging):
        each.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
        each.add_argument("--json", action="store_true", help="print the summary as JSON")
