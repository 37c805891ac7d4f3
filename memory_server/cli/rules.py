"""`memory-server rules`: what an assistant must not do, or must ask about first; and what these rules held."""

from typing import TYPE_CHECKING

import click

from memory_server.cli import options, output, terminal
from memory_server.cli.answers import RuleLogAnswer, RulesAnswer, RulingAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns, say_text
from memory_server.cli.program import verb
from memory_server.cli.terminal import colon, condition, filled, translated
from memory_server.domain import plain_rules, sight
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.plain_rules import PlainRule
from memory_server.domain.rules import Rule, RuleHit
from memory_server.errors import Invalid
from memory_server.services.rules import ListedRule
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

ACTIONS = ("list", "add", "confirm", "off", "on", "log", "try")

_SWITCHED = {
    "on": "`{name}` is on.",
    "off": "`{name}` is off.",
    "unconfirmed": "`{name}` is unconfirmed.",
}

COLUMNS: Columns[ListedRule] = (
    Column("name", lambda line: line.rule.name, "cyan"),
    Column("effect", lambda line: translated(line.rule.effect), "yellow"),
    Column("state", lambda line: translated(line.rule.state), "green"),
    Column("held", lambda line: line.counts.hits, right=True),
    Column("overruled", lambda line: line.counts.overruled, right=True),
    Column("last", lambda line: output.moment(line.counts.last), "dim"),
    Column("holds", lambda line: condition(line.words), fills=True),
)

OF_LOG: Columns[RuleHit] = (
    Column("when", lambda hit: output.moment(hit.at), "dim"),
    Column("rule", lambda hit: hit.name, "cyan"),
    Column("effect", lambda hit: translated(hit.effect), "yellow"),
    Column("overruled", lambda hit: translated("yes") if hit.overruled_at else ""),
    Column("client", lambda hit: hit.client, "dim"),
    Column("act", lambda hit: hit.act, fills=True),
)


@verb(
    "rules",
    examples=(
        "memory-server rules add 'never push to main'",
        "memory-server rules try 'sudo git push origin main'",
        "memory-server rules confirm 'no force'",
        "memory-server rules off 'never push to main'",
        "memory-server rules log",
    ),
)
@click.argument("action", type=options.Word(list(ACTIONS)), default="list", metavar="[ACTION]")
@click.argument("words", nargs=-1, metavar="[NAME]")
@click.option(
    "--effect", type=options.Word([effect.value for effect in Effect]), help="Of add: what it does."
)
@click.option(
    "--if", "trigger", metavar="TRIGGER", help="Of add: the condition, such as touches(act, 'vendor/**')."
)
@click.option("--holds", multiple=True, metavar="ACT", help="Of add with --if: an act that it holds.")
@click.option("--passes", multiple=True, metavar="ACT", help="Of add with --if: an act that it lets pass.")
def rules_command(
    settings: Settings,
    action: str,
    words: tuple[str, ...],
    effect: str | None,
    trigger: str | None,
    holds: tuple[str, ...],
    passes: tuple[str, ...],
) -> None:
    """Show what an assistant must not do, or must ask about. Add, confirm and switch such rules.

    ACTION is list, log (what they held), try (an act), add (in plain words, or with --if), confirm (what an assistant
    proposed), off or on. Only a person adds, confirms and switches, on a terminal; a page of `memory-server view`
    confirms and switches too.
    """
    text = " ".join(words)
    _refuse_misuse(action, text)
    by = caller(settings)
    with opened(settings, makes=action == "add") as services:
        match action:
            case "list":
                _list(services.rules.select(by))
            case "log":
                _log(services.rules.hits())
            case "try":
                _try(services, text, by)
            case "add":
                _add(services, _drafted(text, effect, trigger, holds, passes), by)
            case "confirm":
                rule = services.rules.confirm(text, by)
                if not _answered(services, rule, by):
                    acts = condition(services.rules.words(rule))
                    output.say(f"`{rule.name}` holds from now on: {rule.effect}, {acts}.")
            case _:
                rule = services.rules.switch(text, action == "off", by)
                if not _answered(services, rule, by):
                    say_text(filled(_SWITCHED[rule.state], name=rule.name))


def _refuse_misuse(action: str, text: str) -> None:
    """Raise an error where an action has no name, or one too many, or no person acts."""
    if (action in ("list", "log")) == bool(text):
        raise click.UsageError(
            "Name the rule, or say it in words." if not text else f"{action} takes no name."
        )
    if action in ("add", "confirm", "off", "on") and not output.asks():
        raise Invalid(
            "Only a person does this, on a terminal. A page of `memory-server view` confirms and switches too."
        )


def _answered(services: "Services", rule: Rule, by: Caller) -> bool:
    """Print a rule as `list --json` does, where a program reads."""
    return terminal.is_json() and output.answered(
        RulesAnswer([line for line in services.rules.select(by) if line.rule.id == rule.id])
    )


def _list(listed: list[ListedRule]) -> None:
    if output.answered(RulesAnswer(listed)):
        return
    output.table(COLUMNS, listed)
    output.note(
        None if listed else "There are no rules. `memory-server rules add 'never push to main'` makes one.",
        *(
            f"`{line.rule.name}` only says, until you confirm it: `memory-server rules confirm '{line.rule.name}'`."
            for line in listed
            if line.rule.state == "unconfirmed"
        ),
    )


def _log(hits: list[RuleHit]) -> None:
    if output.answered(RuleLogAnswer(hits)):
        return
    output.table(OF_LOG, hits)
    output.note(None if hits else "No rule has held an act.")


def _try(services: "Services", text: str, by: Caller) -> None:
    ruling = services.ruling.looked(sight.of_text(text), by)
    if output.answered(RulingAnswer(ruling.effect, ruling.text)):
        return
    if ruling.effect:
        reasons = "\n".join(map(translated, ruling.text.splitlines()))
        say_text(f"{translated(ruling.effect)}{colon()}{reasons}")
    else:
        output.say("No rule holds this act.")


def _add(services: "Services", plain: PlainRule, by: Caller) -> None:
    draft = LongTermDraft(plain.name, plain.reason, plain.trigger, None, rule=plain.draft)
    stored = services.rules.add(draft, None, by)
    if not _answered(services, stored.rule, by):
        effect, words = translated(stored.rule.effect), condition(stored.words)
        output.say(f"`{stored.rule.name}`: {effect}, {words}.")
    output.note(*stored.checked.warnings)


def _drafted(
    text: str, effect: str | None, trigger: str | None, holds: tuple[str, ...], passes: tuple[str, ...]
) -> PlainRule:
    """Return the rule that a person states.

    Raises:
        Invalid: the words name no act, or more than is understood.
    """
    if trigger is not None:
        draft = RuleDraft(Effect(effect or Effect.DENY), holds, passes)
        return PlainRule(text[: plain_rules.NAME].strip(), text, trigger, draft)
    plain = plain_rules.read(text)
    if plain is None and (words := plain_rules.not_understood(text)):
        raise Invalid(
            f"`{words}` is not understood, and a rule is read whole or not at all. Say each act in a rule of its own: "
            "never push to main; ask me before you run terraform apply; don't touch migrations/. Put commands and "
            "files in backticks; for a condition or an exception use --if."
        )
    if plain is None:
        raise Invalid(
            f"`{text}` names no act that can be seen. Write for example: never push to main; ask me before you run "
            "terraform apply; don't touch migrations/; or give the condition with --if, such as: "
            "memory-server rules add 'TEXT' --if \"runs(act, 'git commit')\"."
        )
    draft = RuleDraft(Effect(effect) if effect else plain.draft.effect, plain.draft.holds, plain.draft.passes)
    return PlainRule(plain.name, plain.reason, plain.trigger, draft)
