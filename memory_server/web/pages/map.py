"""The whole: every memory is a point, by project, by meaning or by time."""

from starlette.responses import Response

from memory_server.domain.memory import MemoryType
from memory_server.web import picture
from memory_server.web.view import Desk, Visit

MOST = 2_000
"""Memories that are shown, the newest: more points lie on each other, and take the browser seconds."""

WAYS = ("project", "meaning", "time")


def show(desk: Desk, visit: Visit) -> Response:
    by, name = visit.get("by"), visit.get("project")
    by = by if by in WAYS else WAYS[0]
    project = None if not name else "" if name == "-" else name
    whole = desk.services.overview.look(project, MOST, by == "meaning", visit.caller)
    match by:
        case "meaning":
            pictures = [picture.by_meaning(whole.memories, whole.vectors)]
        case "time":
            pictures = [picture.by_time(whole.memories)]
        case _:
            pictures = picture.by_project(whole.memories)
    return desk.render(
        visit, "map", pictures=pictures, shown=sum(len(drawn.points) for drawn in pictures), total=whole.total, by=by,
        ways=WAYS, types=MemoryType, usual=picture.RADIUS,
    )  # fmt: skip
