"""`memory-server token`: who may reach the memory over HTTP."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import StatedToken, TokensAnswer
from memory_server.cli.opened import caller, rows
from memory_server.cli.output import Column
from memory_server.cli.program import Verbs, verb
from memory_server.domain import rights
from memory_server.domain.token import State, Token, TokenDraft
from memory_server.settings import Settings

COLUMNS = (
    Column("id", "cyan"),
    Column("name", "green"),
    Column("token", "dim"),
    Column("projects"),
    Column("may"),
    Column("state", "yellow"),
    Column("expires", "dim"),
    Column("last used", "dim"),
)


@verb(
    "add",
    examples=(
        "memory-server token add ada --all-projects",
        "memory-server token add ben --project shop --project ledger --read-only --expires 90d",
    ),
)
@click.argument("name")
@click.option(
    "--project",
    "projects",
    multiple=True,
    help="Only this project, besides what belongs to the person. Give it several times for several projects.",
    shell_complete=options.completed("projects"),
)
@click.option("--all-projects", is_flag=True, help="All projects, also those to come.")
@click.option("--shared", is_flag=True, help="Writes shared facts too, as a token with all projects does.")
@click.option("--read-only", is_flag=True, help="The token cannot write.")
@click.option(
    "--expires",
    type=options.Moment(ahead=True),
    metavar="WHEN",
    help="Valid until then: 2027-03-14, or 90d for 90 days.",
)
def add_command(
    settings: Settings,
    name: str,
    projects: tuple[str, ...],
    all_projects: bool,
    shared: bool,
    read_only: bool,
    expires: str | None,
) -> None:
    """Make a token for the person NAME, and print it once. The file keeps only its hash."""
    if bool(projects) == all_projects:
        raise click.UsageError("Say which projects the token is for: --project PROJECT, or --all-projects.")
    draft = TokenDraft(name, projects or None, read_only, expires, shared)
    with rows(settings, makes=True) as services:
        token, kept = services.tokens.add(draft, caller(settings))
    output.say(token)
    output.note(
        f"Token {kept.id} is for {kept.name}: {_may(kept)}, {_projects(kept)}. Copy it now: it is shown only once."
    )


@verb("list", examples=("memory-server token list", "memory-server token list --json"))
@options.json_option
def list_command(settings: Settings, as_json: bool) -> None:
    """List the tokens by their first characters: for whom they are and what they allow."""
    with rows(settings) as services:
        found = services.tokens.select()
    if as_json:
        output.as_json(TokensAnswer([StatedToken(*each) for each in found]))
        return
    output.table(COLUMNS, [_row(*each) for each in found])
    output.note(None if found else "There are no tokens.")


@verb("revoke", examples=("memory-server token revoke 2", "memory-server token revoke ada"))
@click.argument("which")
def revoke_command(settings: Settings, which: str) -> None:
    """Make tokens invalid for good. WHICH is an id, the beginning of a token, or a name: all tokens of that person."""
    with rows(settings) as services:
        found = services.tokens.revoke(which)
    for each in found:
        output.say(
            f"Token {each.id} of {each.name} ({each.prefix}…) is revoked. Servers refuse it from now on."
        )


@click.group("token", cls=Verbs)
def token_command() -> None:
    """Say who may reach the memory over HTTP."""


for each in (add_command, list_command, revoke_command):
    token_command.add_command(each)


def _row(token: Token, state: State) -> list[str]:
    expires = output.moment(token.expires_at) or "-"
    cells = [token.name, f"{token.prefix}…", _projects(token), _may(token), state.value, expires]
    return [str(token.id), *cells, token.last_used or "-"]


def _may(token: Token) -> str:
    if token.read_only:
        return "read only"
    return "read and write, shared facts too" if rights.shares(token.person) else "read and write"


def _projects(token: Token) -> str:
    if token.projects is None:
        return "all projects"
    return ", ".join(token.projects) or "no project"
