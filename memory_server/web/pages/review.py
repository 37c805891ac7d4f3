"""Review: what somebody outside has said, by its origin, and memories whose files have changed; a person settles it."""

from itertools import groupby

from starlette.responses import Response

from memory_server.domain import handles
from memory_server.domain.changed_ground import ChangedGround
from memory_server.domain.handles import Handle
from memory_server.errors import Invalid
from memory_server.web.view import Desk, Visit, back


def show(desk: Desk, visit: Visit) -> Response:
    waiting = desk.services.trust.waiting()
    groups = [(origin, list(things)) for origin, things in groupby(waiting, key=lambda item: item.origin)]
    changed = desk.services.ground.changed(visit.caller)
    return desk.render(visit, "review", groups=groups, changed=changed)


def confirm(desk: Desk, visit: Visit) -> Response:
    """Confirm one thing, or all of an origin."""
    chosen, origin = _chosen(visit)
    desk.services.trust.confirm(chosen, origin, visit.caller)
    return back("/review", done="confirmed")


def drop(desk: Desk, visit: Visit) -> Response:
    """Delete one thing, or all of an origin."""
    chosen, origin = _chosen(visit)
    desk.services.trust.drop(chosen, origin, visit.caller)
    return back("/review", done="forgotten")


def keep(desk: Desk, visit: Visit) -> Response:
    """Keep a memory as it is, though its files have changed."""
    desk.services.ground.keep(_changed(desk, visit).memory, visit.caller)
    return back("/review", done="confirmed")


def take(desk: Desk, visit: Visit) -> Response:
    """Put the value that its files have now into a memory."""
    changed = _changed(desk, visit)
    desk.services.memories.update(changed.memory.id, changed.taken_over(), visit.caller)
    desk.services.ground.observe()
    return back("/review", done="changed")


def _changed(desk: Desk, visit: Visit) -> ChangedGround:
    """Return the memory that the form names.

    Raises:
        Invalid: its files have not changed.
    """
    for changed in desk.services.ground.changed(visit.caller):
        if f"m{changed.memory.id}" == visit.form["handle"]:
            return changed
    raise Invalid(f"The files of {visit.form['handle']} have not changed.")


def _chosen(visit: Visit) -> tuple[list[Handle], str | None]:
    """Return the handle that the form names, or the origin.

    Raises:
        Invalid: it is no handle.
    """
    if "origin" in visit.form:
        return [], visit.form["origin"]
    handle = handles.read(visit.form["handle"])
    if handle is None:
        raise Invalid(f"`{visit.form['handle']}` is not an id.")
    return [handle], None
