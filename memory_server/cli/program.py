"""The commands as click reads them: which there are, their help, every setting as a flag, what a wrong word meant.

A new command is a module beside this one and a word in VERBS.
"""

import os
import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click

from memory_server import __version__
from memory_server.cli import terminal
from memory_server.cli.guard import configured, failed
from memory_server.cli.help_page import HelpContext
from memory_server.cli.terminal import translated
from memory_server.flags import SERVE, SWITCHES, flag_of
from memory_server.front.finding import OF_A_SESSION
from memory_server.language.nearest import meant
from memory_server.language.text import by_word, visible
from memory_server.settings import Settings

NAME = "memory-server"

VERBS = {
    "Find": "search recall list show".split(),
    "Write": "add edit connect forget undo review log".split(),
    "Facts, triggers, rules, projects": "facts fact triggers rules projects stats".split(),
    "The file": "view where doctor backup restore rescue compact import export merge copy".split(),
    "Assistants, shells": "serve token install uninstall hook engine demo completion".split(),
}
"""The commands by the heading of the help."""

MODULES = by_word(
    {
        "connect": "install uninstall",
        "copying": "copy",
        "edges": "connect",
        "exporting": "export",
        "facts": "fact",
        "file": "where compact",
        "hooks": "hook",
        "importing": "import merge",
        "listing": "list",
        "serving": "serve demo",
    }
)
"""The modules with a `click.Command` for a command of another name."""

MEANT = {
    "delete": "forget", "remove": "forget", "rm": "forget", "purge": "forget",
    "store": "add", "remember": "add", "save": "add", "write": "add", "new": "add",
    "find": "search", "query": "search", "grep": "search", "ask": "recall",
    "get": "show", "read": "show", "cat": "show", "page": "view", "browse": "view", "path": "where",
    "ls": "list", "newest": "list",
    "update": "edit", "change": "edit", "history": "log", "changes": "log",
    "revert": "undo", "check": "doctor", "health": "doctor", "status": "stats", "count": "stats",
    "recover": "rescue", "repair": "rescue", "vacuum": "compact", "migrate": "copy", "clone": "copy",
    "link": "connect", "relate": "connect", "edges": "show",
    "tokens": "token", "user": "token", "start": "serve", "run": "serve",
}  # fmt: skip
"""Words that people type, each with the command that does it."""

HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How help is asked for, and how wide it is at most."""

OF_A_PERSON = ("db", "project")
"""The settings that a person at a terminal needs."""

_ARGUMENTS = f"{__name__}.arguments"

Function = Callable[..., Any]


class Verb(click.Command):
    """A command. It takes every setting as a flag too, unless it has an option of that name; only the help of `serve`
    lists these. `examples` are lines for a shell. `json` is False where nothing could be printed as JSON.
    """

    context_class = HelpContext

    def __init__(
        self, *arguments: Any, examples: Sequence[str] = (), json: bool = True, **options: Any
    ) -> None:
        options["context_settings"] = HELP
        super().__init__(*arguments, **options)
        self.params += [_json()] if json else []
        flags = {name for option in self.params for name in option.opts}
        self.examples = tuple(examples)
        listed = Settings.model_fields if self.name == SERVE else ()
        self.params += [option for option in _settings(listed) if not flags & set(option.opts)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        ctx.allow_extra_args = True
        try:
            extra = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # a missing value does not know its command
            raise
        if extra and not ctx.resilient_parsing:
            words = [param for param in self.params if isinstance(param, click.Argument)]
            raise click.UsageError(_extra(ctx, extra[0], words))
        return extra

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if self.name != SERVE:
            formatter.write_paragraph()
            formatter.write_text(f"Each setting of `{NAME} serve --help`, such as --db, works here too.")


class Verbs(click.Group):
    """A command with commands in it."""

    command_class = Verb
    context_class = HelpContext

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options["context_settings"] = HELP
        super().__init__(*arguments, **options)
        is_program = options.get("name") == NAME
        self.params += _settings(OF_A_PERSON) if is_program else [_json(), *_settings()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        self.write_commands("Commands", ctx, self.list_commands(ctx), formatter)

    def write_commands(
        self, title: str, ctx: click.Context, names: Sequence[str], formatter: click.HelpFormatter
    ) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in names]
        formatter.write_heading(title)
        with formatter.indentation():
            formatter.write_dl(
                [(name, command.get_short_help_str(200)) for name, command in commands if command]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            _refuse_unknown(name, self.list_commands(ctx), ctx)
        return super().resolve_command(ctx, args)


class Program(Verbs):
    """All commands; the module of one is imported when it is called or its help is shown."""

    def list_commands(self, _: click.Context) -> list[str]:
        return [name for verbs in VERBS.values() for name in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _verb(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, then the few options that a person needs, each by its first sentence."""
        self.format_commands(ctx, formatter)
        *options, help_ = self.get_params(ctx)
        records = [option.get_help_record(ctx) for option in (*options, _json(), help_)]
        with formatter.section("Options"):
            formatter.write_dl(
                [(flag, text.split(". ")[0].removesuffix(".") + ".") for flag, text in filter(None, records)]
            )

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(
            f"`{NAME} COMMAND -h` tells more, with examples. `{NAME} serve -h` lists all settings."
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one group right below the other: a screen has them all."""
        formatter.write_paragraph()
        for title, verbs in VERBS.items():
            self.write_commands(title, ctx, verbs, formatter)


def _verb(name: str) -> click.Command:
    module = import_module(f"memory_server.cli.{MODULES.get(name, name)}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


def verb(name: str, *, examples: Sequence[str] = (), json: bool = True) -> Callable[[Function], Verb]:
    """Makes a command of a function, which gets the settings first."""

    def decorate(function: Function) -> Verb:
        def called(*arguments: Any, **options: Any) -> Any:
            flags = click.get_current_context().find_root().ensure_object(dict)
            if terminal.client() is not None and flags.keys() - set(OF_A_SESSION):
                raise click.UsageError("These settings make another engine.")
            return function(configured(flags), *arguments, **options)

        called.__doc__ = function.__doc__
        called.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        return click.command(name, cls=Verb, examples=examples, json=json)(called)

    return decorate


def arguments() -> Sequence[str]:
    """Return the words of the command that runs, as they were typed."""
    typed: Sequence[str] = click.get_current_context().meta[_ARGUMENTS]
    return typed


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name. Returns its exit code."""
    _make_printable()
    terminal.read(arguments)
    try:
        _refuse_undecodable(arguments)
        done = program.main(_words(arguments), prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()  # a reader that has gone is noticed here, not at the exit
    except click.NoSuchOption as error:
        if error.option_name == "--json":
            return _wrong(error, "This command prints no JSON.")
        context = error.ctx or HelpContext(program)
        flags = [name for option in context.command.get_params(context) for name in option.opts]
        near = meant(error.option_name, flags)
        flag = error.option_name
        return _wrong(
            error, f"unknown flag {flag}. Did you mean `{near}`?" if near else f"unknown flag {flag}."
        )
    except click.BadParameter as error:
        return _wrong(error, _wrong_value(error))
    except click.exceptions.NoArgsIsHelpError as error:
        if not terminal.is_json():
            print(error.message, file=sys.stderr)
            return 2
        return failed("COMMAND is missing.", code=2)
    except click.UsageError as error:
        return _wrong(error, error.format_message())
    except click.ClickException as error:
        return failed(error.format_message())
    except click.Abort:
        return failed("stopped. Nothing more was changed.")
    except (
        FileExistsError,
        FileNotFoundError,
        IsADirectoryError,
        NotADirectoryError,
        PermissionError,
    ) as error:
        return failed(f"{error.filename or 'a file'}: {error.strerror}.")
    return done if isinstance(done, int) else 0


def _words(arguments: Sequence[str]) -> list[str]:
    """Return the words as click reads them: `help` is a flag of what follows it, --json one of a command.

    Raises:
        UsageError: help is wanted as JSON.
    """
    words = list(arguments)
    if words[:1] == ["--json"]:
        words[:2] = [*words[1:2], "--json"]
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if terminal.is_json() and {"-h", "--help"} & set(words):
        raise click.UsageError("Help is text: leave out --json.")
    return words


def _refuse_undecodable(arguments: Sequence[str]) -> None:
    """Raises UsageError where a terminal has written an argument in another encoding, as GBK."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(
                f"the argument {visible(argument)!r} is not UTF-8. Set the terminal to UTF-8, then type it again."
            ) from None


def _make_printable() -> None:
    """In a pipe text is UTF-8; a terminal gets an escape for a letter that it does not have. Closed is quiet."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the exit
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _wrong_value(error: click.BadParameter) -> str:
    """Say which argument is wrong, and why."""
    if error.param is None:
        return error.message
    name, kind = _name(error.param), error.param.type
    if not isinstance(error, click.MissingParameter):
        return f"{name}{terminal.colon()}{error.message}"
    if isinstance(kind, click.Choice):
        return f"{name} is missing. There are: {', '.join(map(str, kind.choices))}."
    return f"{name} is missing."


def _extra(context: click.Context, word: str, words: Sequence[click.Parameter]) -> str:
    """Say how many words a command takes, where one is too many."""
    command = context.command_path
    if not words:
        return f"`{command}` takes no argument: leave out {word!r}."
    if isinstance(words[0].type, click.Choice) and len(words) == 1:
        return f"`{command}` takes one {_name(words[0])} a call: type `{command} {shlex.quote(word)}` too."
    names = " ".join(map(_name, words))
    return f"`{command}` takes {names}: leave out {word!r}, or quote what belongs together."


def _name(param: click.Parameter) -> str:
    """Return the name of an argument or a flag, as the help has it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or (param.name or "").upper()).strip("[].")


def _wrong(error: click.UsageError, message: str) -> int:
    if not terminal.is_json():
        context = error.ctx or HelpContext(program, info_name=NAME)
        print(context.get_usage(), file=sys.stderr)
        print(translated(f"Try `{context.command_path} --help`."), file=sys.stderr)
    return failed(message, code=2)


def _refuse_unknown(name: str, commands: Sequence[str], context: click.Context) -> NoReturn:
    near = MEANT.get(name.lower()) if context.parent is None else None
    near = near if near in commands else meant(name, commands)
    unknown, names = visible(name), ", ".join(commands)
    raise click.UsageError(
        f"unknown command {unknown!r}. Did you mean `{near}`?" if near
        else f"unknown command {unknown!r}. There are: {names}.",
        context,
    )  # fmt: skip


def _json() -> click.Option:
    """Return the flag that `terminal.read` has seen already, for the help and for shells."""
    return click.Option(["--json"], is_flag=True, expose_value=False, help="Print JSON.")


def _settings(listed: Collection[str] = ()) -> list[click.Option]:
    """Each setting as a flag whose value goes to the settings of the call; the help has those that are listed."""

    def keep(context: click.Context, option: click.Parameter, value: object) -> None:
        if value not in (None, False) and option.name is not None:
            context.find_root().ensure_object(dict)[option.name] = value

    return [
        click.Option(
            [flag_of(name), name],
            is_flag=name in SWITCHES or None,  # False would make its value optional
            metavar=None if name in SWITCHES else name.upper(),
            help=field.description,
            expose_value=False,
            hidden=name not in listed,
            callback=keep,
        )
        for name, field in Settings.model_fields.items()
    ]


@click.command(NAME, cls=Program, invoke_without_command=True)
@click.version_option(__version__, "-V", "--version", prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> Any:
    """A memory for AI assistants: one SQLite file behind an MCP server on standard input and output. Without a command
    it serves.
    """
    if context.invoked_subcommand is None:
        return _verb("serve").invoke(context)
    return None
