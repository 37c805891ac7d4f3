"""Triggers: the prompts that wake, their state and their last wakes; and trying one without keeping it."""

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from memory_server.domain.change import ChangeFilter, Kind
from memory_server.domain.long_term import Order
from memory_server.domain.message import Message
from memory_server.domain.moment import timestamp
from memory_server.errors import MemoryServerError
from memory_server.services.long_term import LISTED
from memory_server.stores import clock
from memory_server.triggers import Failure, Outcome, Value
from memory_server.web.view import Desk, Visit, back, choice, given_moment, last_change

ROLES = ("user", "assistant", "system")
STEPS = 20


def show(desk: Desk, visit: Visit) -> Response:
    offset = visit.number("from", 0, 0, 1_000_000)
    listing = desk.services.long_term.select(
        None, visit.within(), choice(Order, visit.get("order") or "name"), offset
    )
    now = timestamp(clock())
    stated = [(memory, memory.state(now)) for memory in listing.memories]
    return desk.render(
        visit, "triggers", found=stated, orders=Order, offset=offset,
        more=offset + LISTED if listing.more else 0, trigger="", messages="", at="", tried=None,
    )  # fmt: skip


def show_one(desk: Desk, visit: Visit) -> Response:
    memory, wakes = desk.services.long_term.context(visit.path("name"), None, visit.within())
    history = desk.services.changes.select(
        ChangeFilter(kind=Kind.LONG_TERM, item=memory.id), STEPS, visit.caller
    ).changes
    return desk.render(
        visit, "trigger", memory=memory, state=memory.state(timestamp(clock())), wakes=wakes, history=history,
        trigger=memory.trigger, messages="", at="", tried=None,
    )  # fmt: skip


def try_out(desk: Desk, visit: Visit) -> Response:
    """Evaluate a trigger and each of its parts on messages at a moment. Stores nothing."""
    form = visit.form
    trigger, text, at = form["trigger"], form.get("messages", ""), form.get("at", "")
    moment = given_moment(at) if at else None
    messages = tuple(_messages(text))
    tried: dict[str, Any] = {"checked": None, "whole": None, "parts": [], "why": ""}
    try:
        tried["checked"], outcome = desk.services.long_term.try_out(trigger, messages, moment)
        parts = desk.services.long_term.try_parts(trigger, messages, moment)
        tried |= {
            "whole": _told(outcome),
            "parts": [(part, _told(part_outcome)) for part, part_outcome in parts],
        }
    except MemoryServerError as error:
        tried["why"] = str(error)
    return desk.render(visit, "tried", trigger=trigger, messages=text, at=at, tried=tried)


def forget(desk: Desk, visit: Visit) -> Response:
    name, long_term = visit.path("name"), desk.services.long_term
    if visit.form.get("purge") == "yes":
        long_term.delete(name, None, True, visit.within())
        return back("/triggers", done="erased")
    memory, _ = long_term.context(name, None, visit.within())
    long_term.delete(name, None, False, visit.within())
    return back("/triggers", done="forgotten", undo=last_change(desk, Kind.LONG_TERM, memory.id))


def _messages(typed: str) -> Iterator[Message]:
    """A message for each line; one that begins with a role is of that role, the others are of the user."""
    for line in typed.splitlines():
        role, colon, text = line.replace("：", ":", 1).partition(":")
        if colon and role.strip().lower() in ROLES:
            yield Message(role.strip().lower(), text.strip())
        elif line.strip():
            yield Message("user", line.strip())


def _told(outcome: Outcome) -> tuple[str, str]:
    """Return the outcome as a word, and the reason."""
    match outcome:
        case Value(holds=holds, why=why):
            return ("true" if holds else "false"), why
        case Failure(message=message):
            return "failed", message
    return "skipped", ""
