"""`memory-server facts` and `fact`: exact values under keys."""

import json
from typing import Any

import click

from memory_server.cli import options, output
from memory_server.cli.answers import FactsAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, FactDraft, Scope
from memory_server.errors import Mend, NotFound
from memory_server.mcp.tools.fact_fields import FactTags, Key, Pattern, Ttl, Value
from memory_server.settings import Settings

COLUMNS: Columns[Fact] = (
    Column("scope", lambda fact: _place(fact), "dim"),
    Column("key", lambda fact: fact.key, "cyan"),
    Column("written", lambda fact: output.moment(fact.updated_at), "dim"),
    Column("value", lambda fact: trust.before(fact.origin, output.shown_value(fact.value)), fills=True),
)

SCOPES = options.Word([scope.value for scope in Scope])


@verb(
    "facts",
    examples=(
        "memory-server facts",
        "memory-server facts 'current.*'",
        "memory-server facts --scope global --json",
    ),
)
@click.argument("pattern", default="*", shell_complete=options.completed("keys"))
@click.option("--scope", type=SCOPES, help="Only in this scope.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag.")
@options.limit_option(100)
def facts_command(
    settings: Settings, pattern: str, scope: str | None, tags: tuple[str, ...], limit: int
) -> None:
    """List the facts of this project and of all projects, by key. In PATTERN, * stands for any text."""
    with opened(settings) as services:
        result = services.facts.select(
            options.checked(Pattern, pattern, "pattern"), _scope(scope), tags, limit, caller(settings)
        )
    degraded = output.degraded(result.degraded)
    if output.answered(FactsAnswer(result.facts, result.more, degraded)):
        return
    output.table(COLUMNS, result.facts)
    output.note(
        None if result.facts else "No facts found.",
        f"{result.more} more. --limit shows them." if result.more else None,
        degraded,
    )


@verb(
    "fact",
    examples=(
        "memory-server fact current.task",
        "memory-server fact current.task 'move the ledger'",
        "memory-server fact db.port 5433 --tag staging",
        "memory-server fact editor '\"vim\"' --scope global",
        "memory-server forget f:current.task",
    ),
)
@click.argument("key", shell_complete=options.completed("keys"))
@click.argument("value", required=False)
@click.option(
    "--scope",
    type=SCOPES,
    help="Default to read: the first of session, project, shared, global that has the key. Default to write: project.",
)
@click.option("--tag", "tags", multiple=True, help="A tag of the new value.")
@click.option(
    "--ttl", type=options.Length(), metavar="LENGTH", help="Let the new value expire: seconds, or '7 days'."
)
@click.option("--text", "as_text", is_flag=True, help="Keep VALUE as text even if it is JSON.")
def fact_command(
    settings: Settings,
    key: str,
    value: str | None,
    scope: str | None,
    tags: tuple[str, ...],
    ttl: int | None,
    as_text: bool,
) -> None:
    """Print the value of KEY; with VALUE, write it. A VALUE that is JSON is kept as JSON, else as text.

    `memory-server show f:KEY` shows its earlier values.
    """
    by, key = caller(settings), options.checked(Key, key, "key")
    if value is None:
        _read(settings, key, _scope(scope), by)
        return
    draft = FactDraft(
        key,
        options.checked(Value, value if as_text else _json_or_text(value), "value"),
        tuple(options.checked(FactTags, list(tags), "tag")),
        None if ttl is None else options.checked(Ttl, ttl, "ttl"),
    )
    place = _scope(scope) or Scope.PROJECT
    if place is Scope.SESSION and by.session is None:
        raise click.BadParameter(
            "A terminal is no session. Name one with --session, or choose another scope."
        )
    with opened(settings, makes=True) as services:
        written = services.facts.write(draft, place, by)
    if output.answered(written.fact):
        return
    fact = written.fact
    output.say(f"{key} written: {_place(fact)}, version {fact.version}.")
    if written.hidden_by is not None:
        output.note(f"Without --scope, a read returns the value of the scope {written.hidden_by.value}.")


def _read(settings: Settings, key: str, scope: Scope | None, by: Caller) -> None:
    with opened(settings) as services:
        fact = services.facts.read(key, scope, (), by)
    if fact is None:
        raise NotFound(f"`{key}` has no value.", Mend.LIST_FACTS)
    if not output.answered(fact):
        output.note(f"From {fact.origin}, and not confirmed." if trust.waits(fact.origin) else None)
        output.say_whole(output.shown_value(fact.value))


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _scope(name: str | None) -> Scope | None:
    return None if name is None else Scope(name)


def _place(fact: Fact) -> str:
    return f"{translated(fact.home.scope.value)} {fact.home.owner}".rstrip()
