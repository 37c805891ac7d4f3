"""`memory-server show`: things whole, with what happened to them and why they woke."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memory_server.cli import output
from memory_server.cli.answers import (
    NamedEdge,
    ShowAnswer,
    Shown,
    ShownFact,
    ShownMemory,
    ShownTrigger,
    StatedTrigger,
)
from memory_server.cli.handles import HandleType, knowing_deleted
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import verb
from memory_server.cli.terminal import bracketed, colon, filled, is_chinese, listed, translated
from memory_server.domain.caller import Caller, Person
from memory_server.domain.change import Change, ChangeFilter, Kind
from memory_server.domain.fact import FactChange
from memory_server.domain.handles import Handle
from memory_server.domain.long_term import LongTermMemory
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.moment import timestamp
from memory_server.domain.short_term import ShortTermId, ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.language import catalogue
from memory_server.settings import Settings
from memory_server.stores import clock

if TYPE_CHECKING:
    from memory_server.app import Services

STEPS = 100
"""Steps of a history that are shown, the latest."""


@verb(
    "show",
    examples=(
        "memory-server show 12",
        "memory-server show m12 t7 f:current.task 'w:before a release'",
        "memory-server show f:global/editor --json",
        "memory-server show f:global/editor --person ana",
    ),
)
@click.argument("ids", nargs=-1, required=True, type=HandleType(), metavar="ID...")
@click.option("--person", help="Whose fact or long-term memory it is. Default: your own.")
def show_command(settings: Settings, ids: tuple[Handle, ...], person: str | None) -> None:
    """Show things whole, with their history and edges. It tells who wrote them and why they woke."""
    by = replace(caller(settings), person=None if person is None else Person(person))
    with opened(settings) as services:
        items = tuple(shown(services, handle, by) for handle in ids)
    if output.answered(ShowAnswer(items)):
        return
    for place, item in enumerate(items):
        if place:
            output.say()
        _print(item)


def shown(services: "Services", handle: Handle, by: Caller) -> Shown:
    """Read the thing that a handle names.

    Raises:
        NotFound: there is none; the message tells what restores it, if it is deleted.
    """
    with knowing_deleted(services, by, handle):
        return _found(services, handle, by)


def _found(services: "Services", handle: Handle, by: Caller) -> Shown:
    match handle.kind:
        case Kind.MEMORY:
            return _memory(services, MemoryId(handle.id), by)
        case Kind.TURN:
            return services.turns.get(handle.id)
        case Kind.SHORT_TERM:
            return services.short_term.get(ShortTermId(handle.id))
        case Kind.FACT:
            past = services.facts.history(handle.name, handle.scope, STEPS, by)
            return ShownFact(services.facts.peek(handle.name, handle.scope, by), past.changes)
        case Kind.LONG_TERM:
            memory, wakes = services.long_term.context(handle.name, None, by)
            trigger = StatedTrigger(memory, memory.state(timestamp(clock())))
            return ShownTrigger(trigger, _history(services, Kind.LONG_TERM, memory.id, by), wakes)
        case Kind.IMPORT | Kind.FORGETTING:
            raise click.BadParameter(
                f"{handle} was done to many things. `memory-server log {handle}` lists them."
            )


def _memory(services: "Services", id: MemoryId, by: Caller) -> ShownMemory:
    detailed = services.memories.whole(id)
    edges = [NamedEdge(edge, other.content) for edge, other in services.graph.edges_of(id)]
    return ShownMemory(detailed.memory, detailed.earlier, _history(services, Kind.MEMORY, id, by), edges)


def _history(services: "Services", kind: Kind, item: int, by: Caller) -> list[Change]:
    return services.changes.select(ChangeFilter(kind=kind, item=item), STEPS, by).changes


def _print(item: Shown) -> None:
    match item:
        case ShownMemory():
            _print_memory(item)
        case Turn():
            output.say_text(f"t{item.id}  {item.summary}", "bold")
            _print_text(item.message)
            output.fields(
                ("project", item.project),
                ("said", output.moment(item.occurred_at)),
                ("by", _who(item.created_by, item.session)),
                ("file", item.file),
                _origin(item.origin),
            )
        case ShortTermMemory():
            output.say_text(f"s{item.id}", "bold")
            _print_text(item.text)
            output.fields(
                ("said", output.moment(item.said_at)), ("score", f"{item.score:g}"), _origin(item.origin)
            )
        case ShownFact():
            _print_fact(item)
        case ShownTrigger():
            _print_trigger(item)


def _print_memory(item: ShownMemory) -> None:
    memory = item.memory
    output.say_text(f"m{memory.id}  {translated(memory.type.value)}", "bold")
    _print_text(memory.content)
    when = None if memory.occurred_at == memory.created_at else output.moment(memory.occurred_at)
    newer = memory.superseded_by
    output.fields(
        ("project", memory.project),
        ("tags", ", ".join(memory.tags)),
        ("importance", memory.importance),
        ("occurred", when),
        ("stored", _signed(memory.created_at, _who(memory.created_by, memory.session))),
        ("changed", None if memory.updated_at == memory.created_at else output.moment(memory.updated_at)),
        ("found", _found_times(memory)),
        ("state", filled("superseded by m{id}", id=newer) if newer else None),
        _origin(memory.origin),
        ("metadata", output.shown_value(memory.metadata) if memory.metadata else None),
    )
    _section("Earlier texts", item.earlier)
    _section("Edges", [_edge(memory.id, edge) for edge in item.edges])
    _section("History", map(_step, item.history))


def _print_fact(item: ShownFact) -> None:
    fact = item.fact
    if fact is not None:
        scope = translated(fact.home.scope.value)
        output.say_text(f"{fact.key}  {scope} {fact.home.owner}".rstrip(), "bold")
        _print_text(output.shown_value(fact.value))
        output.fields(
            ("tags", ", ".join(fact.tags)),
            ("version", fact.version),
            ("written", _signed(fact.updated_at, _who(fact.updated_by, None))),
            _origin(fact.origin),
            ("expires", output.moment(fact.expires_at)),
        )
    else:
        output.say("This key has no value now.")
    _section("History", map(_version, item.history))


def _print_trigger(item: ShownTrigger) -> None:
    memory = item.trigger.memory
    output.say_text(f"w:{memory.name}", "bold")
    _print_text(memory.prompt)
    output.fields(
        ("trigger", memory.trigger),
        ("state", _state(memory)),
        ("woken", output.times(memory.fired_count) if memory.fired_count else translated("never")),
        ("cooldown", filled("{number} minutes", number=memory.cooldown) if memory.cooldown else None),
        ("stored", output.moment(memory.created_at)),
        _origin(memory.origin),
    )
    _section(
        "Wakes",
        [
            f"{output.moment(wake.at)}  {wake.client or '-'}{colon()}{_reasons(wake.why)}"
            for wake in item.wakes
        ],
    )
    _section("History", map(_step, item.history))


def _print_text(text: str) -> None:
    output.say()
    output.say_text(text)
    output.say()


def _section(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        output.say()
        output.say(title, "bold")
        for line in lines:
            output.say_text(line, indent=2)


def _edge(id: MemoryId, named: NamedEdge) -> str:
    edge = named.edge
    relation = translated(edge.relation.value).replace("_", " ")
    end = f"m{edge.other_end(id)}"
    if edge.source == id:
        return f"{relation} {end}{colon()}{named.other_text}"
    return filled("{end} {relation} this", end=end, relation=relation) + colon() + named.other_text


def _version(change: FactChange) -> str:
    by = _who(change.changed_by, None)
    step = filled("{action} by {who}", action=translated(change.action), who=by)
    return f"{output.moment(change.changed_at)}  {step}{colon()}{output.shown_value(change.value)}"


def did(change: Change) -> str:
    """Word what a change did: of an edit which fields it changed."""
    blank = "" if is_chinese() else " "
    return f"{translated(change.action)}{blank}{listed(map(translated, change.fields))}".rstrip()


def _step(change: Change) -> str:
    undo = "  " + filled("(undo {id})", id=change.id) if change.id else ""
    step = did(change)
    if change.by != "":  # else it is not known
        step = filled("{action} by {who}", action=step, who=_who(change.by, None))
    return f"{output.moment(change.at)}  {step}{undo}"


def _reasons(why: str) -> str:
    return catalogue.reasons(why) if is_chinese() else why


def _who(client: str | None, session: str | None) -> str:
    return (client or translated("hand")) + (bracketed(filled("session {id}", id=session)) if session else "")


def _signed(at: str, who: str) -> str:
    return filled("{at} by {who}", at=output.moment(at), who=who)


def _state(memory: LongTermMemory) -> str:
    """Word the state of a trigger, with its end and the reason."""
    state = memory.state(timestamp(clock()))
    if not is_chinese():
        return memory.status(timestamp(clock()))
    until = output.moment(memory.quarantined_until) if state == "quarantined" else ""
    words = f"{translated('quarantined until')} {until}" if until else translated(state)
    return f"{words}{colon()}{translated(memory.error)}" if memory.error else words


def _origin(origin: str) -> tuple[str, str | None]:
    return "origin", translated(origin)


def _found_times(memory: Memory) -> str | None:
    if not memory.access_count:
        return None
    times, at = output.times(memory.access_count), output.moment(memory.accessed_at)
    return filled("{times}, last {at}", times=times, at=at) if at else times
