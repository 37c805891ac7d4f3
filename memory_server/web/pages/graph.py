"""Graph: a memory and what is around it, now or at an earlier moment."""

from datetime import timedelta

from starlette.responses import Response

from memory_server.domain.edge import Walk
from memory_server.domain.memory import MemoryId
from memory_server.domain.moment import parse, timestamp
from memory_server.stores import clock
from memory_server.web.view import Desk, Visit

MOST = 40
"""Memories that are shown: more cannot be read."""

DEPTHS = (1, 2, 3, 4)
HUBS = 12
END = 100
"""Steps of the slider, from the first edge to now."""


def start(desk: Desk, visit: Visit) -> Response:
    """The graph around the memory that has most edges."""
    hubs = desk.services.graph.hubs(HUBS)
    return _shown(desk, visit, hubs[0].id) if hubs else desk.render(visit, "graph", centre=None)


def show(desk: Desk, visit: Visit) -> Response:
    return _shown(desk, visit, MemoryId(visit.path("id")))


def _shown(desk: Desk, visit: Visit, id: MemoryId) -> Response:
    graph, step = desk.services.graph, visit.number("at", END, 0, END)
    depth = visit.number("depth", 2, 1, DEPTHS[-1])
    around = graph.explore(id, depth, Walk(), MOST)
    first, now = parse(min(node.memory.created_at for node in around.nodes)), clock()
    share = step / END
    at = first + timedelta(seconds=(now - first).total_seconds() * share)
    if share < 1:
        around = graph.explore(id, depth, Walk(at=timestamp(at)), MOST)
    return desk.render(
        visit, "graph", centre=around.nodes[0].memory, nodes=around.nodes, edges=around.edges, depth=depth,
        depths=DEPTHS, step=step, end=END, at=timestamp(at), left=around.left_out, hubs=graph.hubs(HUBS),
    )  # fmt: skip
