"""`memory-server token`: who may reach the memory over HTTP."""

import click

from memory_server import where
from memory_server.cli import options, output
from memory_server.cli.answers import StatedToken, TokensAnswer
from memory_server.cli.done import MadeToken
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import Verbs, verb
from memory_server.cli.terminal import translated
from memory_server.domain import rights
from memory_server.domain.token import State, Token, TokenDraft
from memory_server.errors import Invalid
from memory_server.language.when import Use
from memory_server.settings import Settings

COLUMNS: Columns[StatedToken] = (
    Column("id", lambda line: line.token.id, "cyan"),
    Column("name", lambda line: line.token.name, "green"),
    Column("token", lambda line: f"{line.token.prefix}…", "dim"),
    Column("projects", lambda line: translated(_projects(line.token))),
    Column("may", lambda line: translated(_may(line.token))),
    Column("state", lambda line: translated(line.state.value), "yellow"),
    Column("expires", lambda line: output.moment(line.token.expires_at) or "-", "dim"),
    Column("last used", lambda line: line.token.last_used or "-", "dim"),
)


_tenant_option = click.option("--tenant", help="The tenant of --tenants FILE that the token is for.")


@verb(
    "add",
    examples=(
        "memory-server token add ada --all-projects",
        "memory-server token add ada --all-projects --tenants tenants.txt --tenant shop",
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
    type=options.MomentType(Use.STARTS),
    metavar="WHEN",
    help="Valid until then: 2027-03-14, or 90d for 90 days.",
)
@_tenant_option
def add_command(
    settings: Settings,
    name: str,
    projects: tuple[str, ...],
    all_projects: bool,
    shared: bool,
    read_only: bool,
    expires: str | None,
    tenant: str | None,
) -> None:
    """Make a token for the person NAME, and print it once. The file keeps only its hash."""
    if bool(projects) == all_projects:
        raise click.UsageError("Say which projects the token is for: --project PROJECT, or --all-projects.")
    draft = TokenDraft(name, projects or None, read_only, expires, shared)
    with opened(_of_tenant(settings, tenant), makes=True) as services:
        secret, token = services.tokens.add(draft, caller(settings))
    secret = secret if tenant is None else f"{secret}.{tenant}"
    if output.answered(MadeToken(secret, StatedToken(token, State.VALID))):
        return
    output.say_whole(secret)
    output.note(
        f"Token {token.id} is for {token.name}: {translated(_may(token))}, {translated(_projects(token))}. "
        "Copy it now: it is shown only once."
    )


@verb("list", examples=("memory-server token list", "memory-server token list --json"))
@_tenant_option
def list_command(settings: Settings, tenant: str | None) -> None:
    """List the tokens by their first characters: for whom they are and what they allow."""
    with opened(_of_tenant(settings, tenant)) as services:
        tokens = [StatedToken(token, state) for token, state in services.tokens.select()]
    if output.answered(TokensAnswer(tokens)):
        return
    output.table(COLUMNS, tokens)
    output.note(None if tokens else "There are no tokens.")


@verb("revoke", examples=("memory-server token revoke 2", "memory-server token revoke ada"))
@click.argument("which")
@_tenant_option
def revoke_command(settings: Settings, which: str, tenant: str | None) -> None:
    """Make tokens invalid for good. WHICH is an id, the beginning of a token, or a name: all tokens of that person."""
    with opened(_of_tenant(settings, tenant)) as services:
        tokens = services.tokens.revoke(which)
    if output.answered(TokensAnswer([StatedToken(token, State.REVOKED) for token in tokens])):
        return
    for token in tokens:
        output.say(
            f"Token {token.id} of {token.name} ({token.prefix}…) is revoked. Servers refuse it from now on."
        )


@click.group("token", cls=Verbs)
def token_command() -> None:
    """Say who may reach the memory over HTTP."""


for command in (add_command, list_command, revoke_command):
    token_command.add_command(command)


def _of_tenant(settings: Settings, tenant: str | None) -> Settings:
    """Return the settings for the database of a tenant; unchanged without one."""
    if tenant is None and settings.tenants is None:
        return settings
    if tenant is None or settings.tenants is None:
        raise click.UsageError("Give both: --tenants FILE, and the name of one of them as --tenant NAME.")
    try:
        places = where.tenants_in(settings.tenants)
    except ValueError as error:
        raise Invalid(f"The tenants of --tenants cannot be read: {error}.") from error
    if tenant not in places:
        raise Invalid(f"{settings.tenants} names no tenant {tenant}. It has: {', '.join(places)}.")
    return settings.model_copy(update={"db": places[tenant]})


def _may(token: Token) -> str:
    if token.read_only:
        return "read only"
    return "read and write, shared facts too" if rights.shares(token.person) else "read and write"


def _projects(token: Token) -> str:
    if token.projects is None:
        return "all projects"
    return ", ".join(token.projects) or "no project"
