"""Review: what somebody outside has said, by its origin; a person confirms or drops it."""

from itertools import groupby

from starlette.responses import Response

from memory_server.domain import handles
from memory_server.domain.handles import Handle
from memory_server.errors import Invalid
from memory_server.web.view import Desk, Visit, back


def show(desk: Desk, visit: Visit) -> Response:
    waiting = desk.services.trust.waiting()
    groups = [(origin, list(things)) for origin, things in groupby(waiting, key=lambda item: item.origin)]
    return desk.render(visit, "review", groups=groups)


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
