"""`memory-server hook log`, `captured`, `forget`, `learnt`, `unlearn`: what hooks said, kept and learnt, for people
to judge and to undo."""

import re

import click

from memory_server.cli import options, output, refusals
from memory_server.cli.answers import CapturedAnswer, HookLogAnswer, LearntAnswer
from memory_server.cli.done import UnlearntAnswer
from memory_server.cli.opened import erased, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain.caller import Caller
from memory_server.domain.injection import HookCapture, Injected, Logged
from memory_server.domain.learning import OPEN, Learnt, OpenQuestion
from memory_server.errors import Invalid, NotFound
from memory_server.flags import HOOKS
from memory_server.hook import VERBS, journal
from memory_server.services.capturing import CaptureService
from memory_server.services.injections import InjectionService
from memory_server.settings import Settings

SHOWN = 50
"""Rows that are printed, the newest last."""

ALL = "all"

OF_LOG: Columns[Logged] = (
    Column("when", lambda row: output.moment(row.at), "dim"),
    Column("session", lambda row: row.session[:8]),
    Column("event", lambda row: row.event),
    Column("kind", lambda row: translated(row.kind), "green"),
    Column("tokens", lambda row: row.tokens, right=True),
    Column("text", lambda row: _text(row), fills=True),
)
OF_CAPTURED: Columns[HookCapture] = (
    Column("when", lambda row: output.moment(row.at), "dim"),
    Column("session", lambda row: row.session[:8]),
    Column("event", lambda row: row.event),
    Column("kind", lambda row: translated(row.kind.value), "green"),
    Column("text", lambda row: row.text, fills=True),
)
OF_LEARNT: Columns[Learnt] = (
    Column("id", lambda row: f"m{row.memory}", "cyan"),
    Column("score", lambda row: f"{100 * (row.uses.factor - 1):+.1f} %", right=True),
    Column("why", lambda row: translated(row.uses.reason or "")),
    Column("text", lambda row: row.content, fills=True),
)
OF_QUESTIONS: Columns[OpenQuestion] = (
    Column("id", lambda row: f"q{row.id}", "cyan"),
    Column("when", lambda row: output.moment(row.asked_at), "dim"),
    Column("state", lambda row: translated("open" if row.sessions >= OPEN else "asked once"), "green"),
    Column("project", lambda row: row.project, "dim"),
    Column("text", lambda row: row.text, fills=True),
)


def log(settings: Settings) -> None:
    """Print what was put into which session's context, what each cost in tokens, and what failed."""
    with opened(settings) as services:
        texts = InjectionService(services.database).newest(SHOWN)
    tokens, failures = sum(row.tokens for row in texts), journal.read(settings.db).failures[-SHOWN:]
    if output.answered(HookLogAnswer(texts, tokens, failures)):
        return
    output.table(OF_LOG, reversed(texts))
    output.say(f"{len(texts)} texts, {tokens:,} tokens." if texts else "Hooks have said nothing yet.")
    for line in failures:
        output.say_text(refusals.failure(line))


def _text(row: Logged) -> str:
    return (
        translated("(deleted since)")
        if row.text is None and row.kind != Injected.BRIEFING
        else row.text or ""
    )


def captured(settings: Settings, session: str | None) -> None:
    """Print what was kept unasked and is still there, of a session or of all."""
    with opened(settings) as services:
        captures = CaptureService(services.database).select(None if session == ALL else session, SHOWN)
    if output.answered(CapturedAnswer(captures)):
        return
    output.table(OF_CAPTURED, reversed(captures))
    if not captures:
        output.say("Hooks have captured nothing.")


def forget(settings: Settings, session: str | None) -> bool:
    """Erase for good what was kept unasked: of the sessions whose id begins so, or of all. True if it is gone."""
    if not session:
        raise Invalid(f"Say of which session (`memory-server hook captured` shows them), or `{ALL}`.")
    with opened(settings) as services:
        done = CaptureService(services.database).forget(None if session == ALL else session, Caller())
        if not done.number and session != ALL:
            raise NotFound(
                f"Hooks have captured nothing of a session {session}. `memory-server hook captured` lists the sessions."
            )
        overwritten = erased(services.erasure)
    if not output.answered(UnlearntAnswer(done.number, overwritten, done.elsewhere)):
        output.say(f"Erased: {done.number}." if overwritten else f"Purged: {done.number}.")
        for path in done.elsewhere:
            output.say(f"{path} may still hold some of it.", indent=2)
    return overwritten


def learnt(settings: Settings) -> None:
    """Print which memories gain or lose by their uses, and the questions that found nothing."""
    with opened(settings) as services:
        memories, questions = services.learning.learnt(SHOWN), services.learning.all_questions()[:SHOWN]
    if output.answered(LearntAnswer(memories, questions)):
        return
    output.table(OF_LEARNT, memories)
    output.table(OF_QUESTIONS, questions)
    if not memories and not questions:
        output.say("Nothing learnt yet.")


def unlearn(settings: Settings, what: str | None) -> bool:
    """Forget what was learnt of a memory (m12), a question (q3), or all. True if its bytes are gone."""
    named = re.fullmatch(r"([mq])(\d+)", what or "")
    if what != ALL and named is None:
        raise Invalid(f"Say what: m12 or q3 (`memory-server hook learnt` shows them), or `{ALL}`.")
    kind, number = (named[1], int(named[2])) if named else ("", 0)
    with opened(settings) as services:
        done = services.learning.forget(number if kind == "m" else None, number if kind == "q" else None)
        overwritten = erased(services.erasure)
    if not output.answered(UnlearntAnswer(done, overwritten, ())):
        output.say(f"Forgotten: {done}.")
    return overwritten


@verb(
    "hook",
    examples=("memory-server hook log", "memory-server hook captured", "memory-server hook forget SESSION"),
)
@click.argument("event", type=options.Word([*VERBS, *HOOKS]), metavar="EVENT")
@click.argument("whose", metavar="[SESSION]", required=False)
@click.option("--client", help="The client that runs the hook, by its name for install.")
def hook_command(settings: Settings, event: str, whose: str | None, client: str | None) -> int:  # noqa: ARG001
    """Run a client's hook for an EVENT. Or show and forget what hooks said and captured.

    EVENT is the name of an event, or one of these. log: show what hooks said. captured: show what they captured, in a
    SESSION or in all. forget: erase that. learnt: show what sessions used, and asked without an answer. unlearn: forget
    that, for m12, q3 or all.
    """
    match event:  # `__main__` runs the events of clients
        case "log":
            log(settings)
        case "captured":
            captured(settings, whose)
        case "forget":
            return 0 if forget(settings, whose) else 1
        case "learnt":
            learnt(settings)
        case "unlearn":
            return 0 if unlearn(settings, whose) else 1
    return 0
