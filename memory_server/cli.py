"""The command line: arguments in, exit code out."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memory_server import __version__, app
from memory_server.errors import Invalid, MemoryServerError
from memory_server.server import MemoryServer, chosen_tools, nearest
from memory_server.settings import Settings
from memory_server.sqlite.migrate import APPLICATION_ID
from memory_server.stdio import serve
from memory_server.tools.tool import Tool

_HEADER, _OURS = 72, APPLICATION_ID.to_bytes(4, "big")
"""A SQLite file says in the last 4 of its first 72 bytes to which program it belongs."""

DEMO_LOG = Path(__file__).with_name("demo") / "worklog.jsonl"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. 0 is success, 1 a failure that was explained, 2 wrong arguments."""
    arguments = _parsed(sys.argv[1:] if argv is None else list(argv))
    try:
        settings = Settings(**_given(arguments))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            name, wrong = ".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")
            print(f"memory-server: {name}: {wrong}, got {each['input']!r}", file=sys.stderr)
        return 2
    logging.basicConfig(
        stream=sys.stderr, level=settings.log_level, format="memory-server: %(levelname)s: %(message)s"
    )
    try:
        match arguments.command:
            case "demo":
                from memory_server.demo import run

                return run(arguments.file, settings)
            case "doctor":
                return _doctor(settings)
            case "backup":
                return _backup(settings, arguments.file)
            case _:
                return _serve(settings)
    except MemoryServerError as error:
        print(f"memory-server: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """Every setting is a flag of the same name, before or after the command."""
    flags = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS, allow_abbrev=False)
    for name, field in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        if field.annotation is bool:
            flags.add_argument(flag, dest=name, action="store_true", help=field.description)
        else:
            flags.add_argument(flag, dest=name, metavar=name.upper(), help=field.description)
    main_parser = argparse.ArgumentParser(
        "memory-server",
        description="A memory for AI assistants: one SQLite file behind an MCP server on standard input and output.",
        parents=[flags],
        allow_abbrev=False,
    )
    main_parser.add_argument("--version", action="version", version=f"memory-server {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "serve", parents=[flags], help="serve over stdio; also what happens without a command"
    )
    demo = commands.add_parser("demo", parents=[flags], help="work through a log of memories and questions")
    demo.add_argument(
        "file", type=Path, nargs="?", default=DEMO_LOG, help="a JSONL file; default: the packaged one"
    )
    commands.add_parser("doctor", parents=[flags], help="check the database and say what is at work")
    backup = commands.add_parser("backup", parents=[flags], help="write a checked copy of the database")
    backup.add_argument("file", type=Path, help="where to write the copy")
    return main_parser


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    flags = parser()
    known = list(flags._option_string_actions)
    for each in argv:
        name = each.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and name not in known:
            flags.error(f"unknown flag {name}. {nearest(name, known)}")
    return flags.parse_args(argv)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(arguments).items() if name in Settings.model_fields}


def _serve(settings: Settings) -> int:
    built = app.build(settings)
    tools = _tools(built)
    everything = [tool.name for toolset in built.toolsets.values() for tool in toolset]
    server = MemoryServer(tools, everything, settings.log_level)
    built.start()
    serve(server, built.close)
    return 0


def _tools(built: app.App) -> list[Tool]:
    settings = built.settings
    return chosen_tools(
        built.toolsets, settings.toolsets, settings.tools, settings.exclude_tools, settings.read_only
    )


def _doctor(settings: Settings) -> int:
    """Says what is at work and what is wrong; 1 when something is. Makes no file."""
    if not settings.db.exists():
        raise Invalid(
            f"There is no database {settings.db} yet. The first assistant that starts makes it; see --db."
        )
    built = app.build(settings)
    built.indexer.warm_up()
    coverage = built.indexer.coverage()
    problems = [*built.database.problems(), *([coverage.problem] if coverage.problem else [])]
    facts = {
        "database": f"{settings.db} ({built.database.size():,} bytes)",
        **built.database.facts(),
        "memories": str(built.memories.statistics(None).total),
        "embedder": coverage.embedder,
        "embeddings": f"{coverage.embedded} ready, {coverage.waiting} waiting",
        "project": settings.here.key or "(none)",
        "tools": ", ".join(tool.name for tool in _tools(built)),
        "problems": "; ".join(problems) or "none",
    }
    for name, fact in facts.items():
        print(f"{name:<11} {fact}")
    built.close(-1)
    return 1 if problems else 0


def _backup(settings: Settings, target: Path) -> int:
    _refuse_backup(settings.db, target)
    built = app.build(settings)
    built.database.backup(target)
    print(f"{target}: {target.stat().st_size:,} bytes, checked")
    built.close(-1)
    return 0


def _refuse_backup(source: Path, target: Path) -> None:
    """A backup replaces an older one, and never anything else."""
    if not source.exists():
        raise Invalid(f"There is no database {source} to back up. Say which one with --db.")
    if not target.parent.is_dir():
        raise Invalid(f"The folder of {target} does not exist. Create it: mkdir -p {target.parent}")
    if target.is_dir():
        raise Invalid(f"{target} is a folder. Give the name of a file in it.")
    if not target.exists():
        return
    if target.samefile(source):
        raise Invalid(f"{target} is the database itself. Give another name.")
    with target.open("rb") as file:
        if file.read(_HEADER)[-len(_OURS) :] != _OURS:
            raise Invalid(
                f"{target} is there and is no backup of a memory-server, so it stays. Give another name."
            )
