"""The command line: arguments in, exit code out."""

import argparse
import errno
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from memory_server import __version__
from memory_server.cli.exchange_flags import FLAGS as EXCHANGE_FLAGS
from memory_server.cli.exchange_flags import add as add_exchange
from memory_server.cli.hints import WORDS
from memory_server.errors import MemoryServerError, told
from memory_server.language.nearest import nearest
from memory_server.language.text import visible
from memory_server.settings import Settings

CLIENTS = ("claude", "claude-desktop", "codex", "cursor", "vscode", "opencode", "gemini")
"""The clients that can be connected; `cli/install/clients.py` knows each."""


_FOR_PEOPLE = ("log", "captured", "forget", "learnt", "unlearn")
"""What `hook` does besides the events of clients."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 for success, 1 for a failure that was explained, 2 for wrong arguments.

    Each command imports what it needs: `--version` and `--help` import no server.
    """
    arguments = _parsed(sys.argv[1:] if argv is None else list(argv))
    try:
        settings = Settings(**_given(arguments))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            name, wrong = ".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")
            _complain(f"{name}: {wrong}, got {each['input']!r}")
        return 2
    log = logging.StreamHandler(sys.stderr)
    log.setFormatter(_Formatter("memory-server: %(levelname)s: %(message)s"))
    logging.basicConfig(handlers=[log], level=settings.log_level)
    try:
        match arguments.command:
            case "demo":
                from memory_server.demo import DEMO_LOG, run

                return run(arguments.file or DEMO_LOG, settings)
            case "doctor":
                from memory_server.cli.doctor import doctor

                return doctor(settings, arguments.fix)
            case "backup":
                from memory_server.cli.backup import backup

                backup(settings, arguments.file)
            case "projects":
                from memory_server.cli.projects import projects

                projects(settings, arguments)
            case "import" | "export" | "merge":
                from memory_server.cli import exchange

                return exchange.run(settings, arguments)
            case "install" | "uninstall":
                from memory_server.cli.install import command

                action = command.install if arguments.command == "install" else command.uninstall
                action(settings, arguments.client, arguments.print)
            case "hook" if arguments.event in _FOR_PEOPLE:
                from memory_server.cli import hooks

                match arguments.event:
                    case "log":
                        hooks.log(settings)
                    case "captured":
                        hooks.captured(settings, arguments.session_id)
                    case "learnt":
                        hooks.learnt(settings)
                    case "unlearn":
                        hooks.unlearn(settings, arguments.session_id)
                    case _:
                        hooks.forget(settings, arguments.session_id)
            case "hook":
                from memory_server.hook.main import main as hook

                return hook([arguments.event, *(sys.argv[1:] if argv is None else argv)])
            case _:
                from memory_server.cli.serve import serve

                serve(settings)
    except MemoryServerError as error:
        _complain(told([error.problem], WORDS) or "")
        return 1
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        _complain("too many files are open. Raise the limit (ulimit -n 256), then try again.")
        return 1
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _complain(text: str) -> None:
    print(f"memory-server: {visible(text)}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Every setting is a flag of the same name, before or after the command."""
    flags = _Parser(add_help=False, argument_default=argparse.SUPPRESS, allow_abbrev=False)
    for name, field in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        if field.annotation is bool:
            flags.add_argument(flag, dest=name, action="store_true", help=field.description)
        else:
            flags.add_argument(flag, dest=name, metavar=name.upper(), help=field.description)
    main_parser = _Parser(
        "memory-server",
        description="A memory for AI assistants: one SQLite file behind an MCP server on standard input and output.",
        parents=[flags],
        allow_abbrev=False,
    )
    main_parser.add_argument("--version", action="version", version=f"memory-server {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("serve", parents=[flags], help="serve over stdio (the default command)")
    demo = commands.add_parser(
        "demo", parents=[flags], help="store a log of memories, ask questions, print the answers"
    )
    demo.add_argument("file", type=Path, nargs="?", help="a JSONL file; default: the packaged one")
    doctor = commands.add_parser(
        "doctor", parents=[flags], help="check the database; report what is in use and what is wrong"
    )
    doctor.add_argument(
        "--fix",
        action="store_true",
        help="first let only you read the file, remove unfinished copies, and let clients start this program",
    )
    backup = commands.add_parser("backup", parents=[flags], help="write a checked copy of the database")
    backup.add_argument("file", type=Path, help="where to write the copy")
    add_exchange(commands, flags)
    _add_projects(commands, flags)
    _add_clients(commands, flags)
    return main_parser


def _add_clients(commands: "argparse._SubParsersAction[_Parser]", flags: "_Parser") -> None:
    for name, does in (
        ("install", "connect a client: enter this program and its hooks in the client's files"),
        ("uninstall", "take both out of the client's files again"),
    ):
        command = commands.add_parser(name, parents=[flags], help=does)
        command.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
        command.add_argument(
            "--print", action="store_true", help="show what would be written, and write nothing"
        )
    hook = commands.add_parser(
        "hook",
        parents=[flags],
        help="what clients run at an event; what was said and kept, and forgetting it",
    )
    hook.add_argument(
        "event",
        metavar="EVENT",
        help="log: what was said. captured: what was kept unasked. forget: erase that. learnt: what sessions have used "
        "and asked in vain. unlearn: forget that. Else the name of an event",
    )
    hook.add_argument(
        "session_id",
        nargs="?",
        metavar="SESSION",
        help="with captured and forget: a session, or all. With unlearn: m12, q3, or all",
    )
    hook.add_argument(
        "--client", default=argparse.SUPPRESS, help="the client that runs the hook, by its name for install"
    )


def _add_projects(commands: "argparse._SubParsersAction[_Parser]", flags: "_Parser") -> None:
    """The command lists; it has two actions."""
    known = "its name, the path of its folder, or the address of its remote"
    projects = commands.add_parser("projects", parents=[flags], help="list the projects; rename or join them")
    actions = projects.add_subparsers(dest="action", metavar="ACTION")
    rename = actions.add_parser("rename", parents=[flags], help="give a project another name")
    rename.add_argument("old", metavar="OLD", help=known)
    rename.add_argument("new", metavar="NEW", help="a name that no other project has")
    join = actions.add_parser(
        "join", parents=[flags], help="move all of a project into another one, for good"
    )
    join.add_argument("source", metavar="FROM", help=known)
    join.add_argument("target", metavar="INTO", help=known)


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    flags = parser()
    known = [
        "-h",
        "--help",
        "--version",
        "--fix",
        "--print",
        "--client",
        *EXCHANGE_FLAGS,
        *("--" + name.replace("_", "-") for name in Settings.model_fields),
    ]
    for each in argv:
        name = each.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and name not in known:
            flags.error(f"unknown flag {name}. {nearest(name, known)}")
    return flags.parse_args(argv)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(arguments).items() if name in Settings.model_fields}
