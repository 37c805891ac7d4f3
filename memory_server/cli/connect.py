"""`memory-server install` and `uninstall`: connects a client, or takes it out again."""

from collections.abc import Sequence

import click

from memory_server.cli import options, output, terminal
from memory_server.cli.done import ClientAnswer, ClientFile
from memory_server.cli.install import files
from memory_server.cli.install.clients import CLIENTS, EVERY, Client, clients
from memory_server.cli.install.files import FileChange
from memory_server.cli.install.launch import lasting_program, this_program
from memory_server.cli.install.parts import InstallPart, ServerEntry
from memory_server.cli.install.trial import try_server
from memory_server.cli.program import verb
from memory_server.errors import Invalid, Unavailable
from memory_server.flags import EVERY_HOOK
from memory_server.mcp.first_answers import LISTED, offered, read
from memory_server.settings import Settings
from memory_server.where import Postgres

SENTENCE = 'Then type: "Remember that we deploy on Tuesdays."'
"""What a person may type to the assistant next."""

READING, EVERYTHING = "reading", "everything"
"""The tools that a client may be allowed to call."""

REFUSES = (
    "Claude Code asks before each call, and `claude -p` refuses all: `memory-server install claude --allow` writes the "
    "permissions that are needed, `mcp__memory__recall` and those of the other tools that only read."
)

_TOLD = {
    "none": "{}: needs no change.",
    "written": "{}: written.",
    "changed": "{}: changed.",
    "removed": "{}: removed.",
}
"""What was done to a file."""

client_argument = click.argument("client", type=options.Word(list(CLIENTS)), metavar="CLIENT")
print_option = click.option(
    "--print", "only_print", is_flag=True, help="Show what would be written, and write nothing."
)


@verb("install", examples=("memory-server install claude", "memory-server install cursor --print"))
@client_argument
@print_option
@click.option("--no-try", is_flag=True, help="Write the files, and start nothing.")
@click.option("--allow", flag_value=READING, help="Let claude call the tools that only read without asking.")
@click.option("--allow-all", "allow", flag_value=EVERYTHING, help="The same of every tool.")
def install_command(
    settings: Settings, client: str, only_print: bool, no_try: bool, allow: str | None
) -> None:
    """Connect a client: enter this program and its hooks in its files.

    Then it starts the server once, as the client will: that makes the database. CLIENT is claude, claude-desktop,
    codex, cursor, vscode, opencode or gemini.
    """
    chosen = clients()[client]
    events = frozenset() if EVERY_HOOK in settings.hooks_off else EVERY - set(settings.hooks_off)
    parts = [*chosen.parts(lasting_program(_flags(settings)), events), *_permissions(chosen, allow)]
    if only_print:
        _print(client, parts, connected=True)
        return
    is_here = chosen.is_here(_every_part(chosen, settings))
    changed = [_entered(change, parts) for change in files.entered(parts)]
    if not terminal.is_json():
        _tell(changed)
        if chosen.permissions and not files.entered(_permissions(chosen, READING))[0].is_none:
            output.say(REFUSES)
    if not no_try:
        _try(parts)
    works_now = None if no_try else True
    if output.answered(ClientAnswer(client, True, changed, works_now, chosen.then, True, is_here)):
        return
    works = "" if no_try else ", and the server works"
    if all(file.change == "none" for file in changed):
        output.say(f"{chosen.title} is already connected{works}. Nothing was changed.")
    elif is_here:
        output.say(f"{chosen.title} is connected{works}.")
    elif works:
        output.say("The server works.")
    if not is_here:
        written = ", ".join(file.path for file in changed)
        output.say(f"No sign of {chosen.title} was found on this machine. Once there, it reads {written}.")
    output.say(chosen.then)
    output.say(SENTENCE)


@verb("uninstall", examples=("memory-server uninstall claude",))
@client_argument
@print_option
def uninstall_command(settings: Settings, client: str, only_print: bool) -> None:
    """Disconnect a client: take out of its files what `install` wrote. The memory itself stays."""
    chosen = clients()[client]
    if only_print:
        _print(client, chosen.parts(this_program(_flags(settings)), EVERY), connected=False)
        return
    parts = _every_part(chosen, settings)
    changed = [_taken_out(change) for change in files.taken_out(parts) if not change.is_none]
    if output.answered(ClientAnswer(client, False, changed, None, None, True)):
        return
    _tell(changed)
    if changed:
        output.say(f"{chosen.title} is now disconnected. The memory stays in {settings.db}.")
    else:
        output.say(f"{chosen.title} was not connected. Nothing was changed.")


def _every_part(client: Client, settings: Settings) -> list[InstallPart]:
    """Return all that an installation may have written."""
    parts = client.parts(this_program(_flags(settings)), EVERY)
    return [*parts, *_permissions(client, EVERYTHING)] if client.permissions else parts


def _entered(change: FileChange, parts: Sequence[InstallPart]) -> ClientFile:
    """Write a file with its entries."""
    path = str(change.path)
    if change.is_none:
        return ClientFile(path, "none")
    has_backup = files.keep_backup(change, parts)
    change.write()
    return ClientFile(
        path, "changed" if has_backup else "written", change.backup.name if has_backup else None
    )


def _taken_out(change: FileChange) -> ClientFile:
    """Write a file without the entries."""
    change.write()
    word = "removed" if change.after is None else "changed"
    return ClientFile(str(change.path), word, None if files.drop_backup(change) else change.backup.name)


def _tell(changed: Sequence[ClientFile]) -> None:
    for file in changed:
        output.say(_TOLD[file.change].format(file.path))
        if file.backup is not None:
            output.say(f"{file.backup} is the file from before.", indent=2)


def _flags(settings: Settings) -> list[str]:
    """Return the flag of the database, where one is named."""
    if "db" not in settings.model_fields_set:
        return []
    return ["--db", settings.db.given if isinstance(settings.db, Postgres) else str(settings.db.absolute())]


def _permissions(client: Client, allow: str | None) -> list[InstallPart]:
    """Return the entry that lets the client call tools: none, those that only read, or all.

    Raises:
        Invalid: it keeps no permissions in a file.
    """
    if allow is None:
        return []
    if client.permissions is None:
        raise Invalid(
            f"--allow is for Claude Code: {client.title} asks for permissions itself. Leave it out."
        )
    tools = offered(read(LISTED), (), (), (), read_only=allow == READING)
    return [client.permissions(tool["name"] for tool in tools)]


def _try(parts: Sequence[InstallPart]) -> None:
    """Start the server as the files say now.

    Raises:
        Unavailable: it does not work.
    """
    entry = next(part for part in parts if isinstance(part, ServerEntry))
    text = entry.path.read_text(encoding="utf-8")
    try:
        try_server(entry.words(text), entry.variables(text))
    except Unavailable as error:
        raise Unavailable(f"The files are written, but the server does not work: {error}") from error


def _print(client: str, parts: Sequence[InstallPart], connected: bool) -> None:
    """Print each file with its entries, as they would stand in it alone."""
    texts: dict[str, str] = {}
    for part in parts:
        texts[str(part.path)] = part.put(texts.get(str(part.path), ""))
    planned = [ClientFile(path, "planned", text=text) for path, text in texts.items()]
    if output.answered(ClientAnswer(client, connected, planned, None, None, False)):
        return
    for path, text in texts.items():
        output.say_whole(f"{path}:\n\n{text.rstrip()}\n\n")
