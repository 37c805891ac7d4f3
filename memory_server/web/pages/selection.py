"""The hits that are ticked in the list: tag, move, confirm or forget them, as one act that one click undoes."""

from collections.abc import Callable, Sequence

from starlette.responses import Response

from memory_server.domain import handles
from memory_server.domain.change import LETTERS, ChangeId, ChangeOrigin, Kind
from memory_server.domain.choice import Choice
from memory_server.domain.memory import MemoryId
from memory_server.errors import Invalid
from memory_server.web.pages.memory import read_tags
from memory_server.web.pages.search import NO_PROJECT
from memory_server.web.view import Desk, Visit, of_this_site, onward

Ticked = tuple[Kind, int]

_KINDS = {letter: kind for kind, letter in LETTERS.items()}


def act(desk: Desk, visit: Visit) -> Response:
    """Do what the button says with all that is ticked, and go back to the list."""
    ticked = [_read(text) for text in visit.many("pick")]
    if not ticked:
        raise Invalid("Nothing is selected.")
    done, undo = _ACTS[visit.form["do"]](desk, visit, ticked)
    return onward(of_this_site(visit.form.get("back", "/")), done=done, undo=undo)


def _tag(desk: Desk, visit: Visit, ticked: Sequence[Ticked]) -> tuple[str, str]:
    tags = read_tags(visit.form["tags"])
    if not tags:
        raise Invalid("Type a tag first.")
    return "changed", _edits(desk.services.changing.add_tags(_memories(ticked), tags, visit.caller))


def _move(desk: Desk, visit: Visit, ticked: Sequence[Ticked]) -> tuple[str, str]:
    memories, target = _memories(ticked), visit.form["target"]
    if not target:
        raise Invalid("Choose a project first.")
    project = "" if target == NO_PROJECT else target
    return "changed", _edits(desk.services.changing.move(memories, project, visit.caller))


def _forget(desk: Desk, visit: Visit, ticked: Sequence[Ticked]) -> tuple[str, str]:
    choice = Choice(ranges=[(kind, id, id) for kind, id in ticked])
    things = desk.services.forgets.select(choice, visit.caller)
    if not things:
        raise Invalid("What is selected no longer exists.")
    return "forgotten", f"g{desk.services.forgets.forget(choice, things, visit.caller)}"


def _confirm(desk: Desk, visit: Visit, ticked: Sequence[Ticked]) -> tuple[str, str]:
    waiting = [item for item in desk.services.trust.waiting() if (item.kind, item.id) in ticked]
    confirmed = [read for item in waiting if (read := handles.read(str(item.handle)))]
    if not confirmed:
        raise Invalid("Nothing of what is selected waits to be confirmed.")
    desk.services.trust.confirm(confirmed, None, visit.caller)
    memories = [item.id for item in waiting if item.kind is Kind.MEMORY]
    return "confirmed", _edits(desk.services.changing.newest(memories))


_ACTS: dict[str, Callable[[Desk, Visit, Sequence[Ticked]], tuple[str, str]]] = {
    "tag": _tag,
    "move": _move,
    "forget": _forget,
    "confirm": _confirm,
}


def _read(text: str) -> Ticked:
    """Read what a box stands for: the letter of the kind and the number of the row, of a fact too."""
    if text[:1] not in _KINDS or not text[1:].isdecimal():
        raise Invalid(f"`{text}` is not an id.")
    return _KINDS[text[0]], int(text[1:19])


def _memories(ticked: Sequence[Ticked]) -> list[MemoryId]:
    wrong = [f"{LETTERS[kind]}{id}" for kind, id in ticked if kind is not Kind.MEMORY]
    if wrong:
        raise Invalid(
            f"Only memories have tags and a project of their own: untick {', '.join(wrong)}. Nothing was changed."
        )
    return [MemoryId(id) for _, id in ticked]


def _edits(changes: Sequence[int]) -> str:
    return ",".join(str(ChangeId(ChangeOrigin.CHANGES, row)) for row in changes)
