"""A memory whole, with all that is known of it; a turn and a short-term memory; and changing them."""

from itertools import pairwise
from math import nan

from starlette.responses import Response

from memory_server.domain.change import ChangeFilter, Kind
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.forgetting import Forgotten
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.short_term import ShortTermId
from memory_server.errors import Invalid
from memory_server.language.text import clean, listed
from memory_server.web.view import Desk, Visit, back, choice, differences, last_change

MOST_CONTENT = 100_000
"""Characters of a memory, as the table says too."""

MOST_TAGS, LONGEST_TAG = 10, 50
STEPS = 100
SIMILAR = 6


def show(desk: Desk, visit: Visit) -> Response:
    services, id = desk.services, MemoryId(visit.path("id"))
    memory = services.memories.whole(id).memory
    past = services.memories.past(id)
    texts = [memory.content, *(earlier.content for earlier in past)]
    steps = [
        (earlier, differences(old, new)) for earlier, (new, old) in zip(past, pairwise(texts), strict=True)
    ]
    similar = services.graph.related(id, SIMILAR, graph=False, semantic=True)
    history = services.changes.select(ChangeFilter(kind=Kind.MEMORY, item=id), STEPS, visit.caller).changes
    now = services.ground.remark(memory, visit.caller)
    return desk.render(
        visit, "memory", memory=memory, now=now, steps=steps, edges=services.graph.edges_of(id), similar=similar.near,
        history=history, worse=[problem.text for problem in similar.degraded], types=MemoryType, relations=Relation,
    )  # fmt: skip


def show_turn(desk: Desk, visit: Visit) -> Response:
    turn = desk.services.turns.get(visit.path("id"))
    fields = {"project": turn.project, "session": turn.session, "by": turn.created_by}
    return desk.render(
        visit,
        "said",
        kind="turn",
        id=turn.id,
        at=turn.occurred_at,
        origin=turn.origin,
        title=turn.summary,
        text=turn.message,
        fields=fields,
    )


def show_said(desk: Desk, visit: Visit) -> Response:
    memory = desk.services.short_term.get(ShortTermId(visit.path("id")))
    fields = {"score": f"{memory.score:g}"}
    return desk.render(
        visit,
        "said",
        kind="short_term",
        id=memory.id,
        at=memory.said_at,
        origin=memory.origin,
        title="",
        text=memory.text,
        fields=fields,
    )


def new(desk: Desk, visit: Visit) -> Response:
    if not visit.writes:
        raise Invalid("These pages are read-only.")
    return desk.render(visit, "new", types=MemoryType)


def add(desk: Desk, visit: Visit) -> Response:
    """Store what was typed, or merge it into the memory that says the same."""
    form = visit.form
    draft = MemoryDraft(
        _text(form["content"]), choice(MemoryType, form["type"]), clean(form["project"]), read_tags(form["tags"]),
        _importance(form["importance"]),
    )  # fmt: skip
    stored = desk.services.memories.store(draft, None, visit.caller)
    address = f"/memory/{stored.memory.id}"
    if not stored.consolidated:
        return back(address, done="stored")
    return back(address, done="merged", undo=last_change(desk, Kind.MEMORY, stored.memory.id))


def edit(desk: Desk, visit: Visit) -> Response:
    memory, form = desk.services.memories.whole(MemoryId(visit.path("id"))).memory, visit.form
    content, tags, project = _text(form["content"]), read_tags(form["tags"]), clean(form["project"])
    type, importance = choice(MemoryType, form["type"]), _importance(form["importance"])
    change = MemoryChange(
        content if content != memory.content else None,
        type if type is not memory.type else None,
        project if project != (memory.project or "") else None,
        tags if tags != memory.tags else None,
        importance if importance != memory.importance else None,
    )
    address = f"/memory/{memory.id}"
    if change == MemoryChange():
        return back(address)
    desk.services.memories.update(memory.id, change, visit.caller)
    return back(address, done="changed", undo=last_change(desk, Kind.MEMORY, memory.id))


def connect(desk: Desk, visit: Visit) -> Response:
    id, neighbour, relation = (
        visit.path("id"),
        _id(visit.form["other"]),
        choice(Relation, visit.form["relation"]),
    )
    source, target = (neighbour, id) if visit.form.get("direction") == "in" else (id, neighbour)
    strength = _strength(visit.form.get("strength") or "1")
    desk.services.graph.connect(Edge(source, target, relation, strength), visit.caller)
    return back(f"/memory/{id}", done="connected")


def disconnect(desk: Desk, visit: Visit) -> Response:
    form = visit.form
    desk.services.graph.end(
        Edge(_id(form["source"]), _id(form["target"]), choice(Relation, form["relation"]))
    )
    return back(f"/memory/{visit.path('id')}", done="disconnected")


def supersede(desk: Desk, visit: Visit) -> Response:
    """A new memory with the project, type, tags and importance of the old one takes its place."""
    old = desk.services.memories.whole(MemoryId(visit.path("id"))).memory
    draft = MemoryDraft(_text(visit.form["content"]), old.type, old.project or "", old.tags, old.importance)
    stored = desk.services.memories.store(draft, None, visit.caller, supersedes=[old.id])
    return back(f"/memory/{stored.memory.id}", done="superseded")


def forget(desk: Desk, visit: Visit) -> Response:
    id = MemoryId(visit.path("id"))
    return _forgotten(desk, Kind.MEMORY, id, desk.services.memories.forget(id, _purges(visit), visit.caller))


def forget_turn(desk: Desk, visit: Visit) -> Response:
    id = visit.path("id")
    return _forgotten(desk, Kind.TURN, id, desk.services.turns.forget(id, _purges(visit), visit.caller))


def forget_said(desk: Desk, visit: Visit) -> Response:
    id = ShortTermId(visit.path("id"))
    done = desk.services.short_term.forget(id, _purges(visit), visit.caller)
    return _forgotten(desk, Kind.SHORT_TERM, id, done)


def _forgotten(desk: Desk, kind: Kind, id: int, done: Forgotten) -> Response:
    if done.undo_until is None:
        return back("/", done="erased")
    return back("/", done="not_erased" if done.refused else "forgotten", undo=last_change(desk, kind, id))


def _purges(visit: Visit) -> bool:
    return visit.form.get("purge") == "yes"


def _id(text: str) -> MemoryId:
    digits = text.strip().lower().lstrip("m#")
    if not digits.isdecimal():
        raise Invalid(f"`{text}` is not the number of a memory. Write it as 12 or m12.")
    return MemoryId(int(digits[:18]))


def _importance(field: str) -> int:
    if field.strip() not in map(str, range(1, 11)):
        raise Invalid("The importance is a number from 1 to 10.")
    return int(field)


def _strength(field: str) -> float:
    try:
        strength = float(field)
    except ValueError:
        strength = nan
    if not 0 <= strength <= 1:
        raise Invalid("The strength is a number from 0 to 1.")
    return strength


def _text(field: str) -> str:
    text = clean(field.replace("\r\n", "\n"))
    if not text or len(text) > MOST_CONTENT:
        raise Invalid(f"A memory has 1 to {MOST_CONTENT:,} characters. This text has {len(text):,}.")
    return text


def read_tags(field: str) -> tuple[str, ...]:
    """Read tags with commas between them."""
    tags = tuple(dict.fromkeys(filter(None, map(clean, listed(field)))))
    if len(tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in tags):
        raise Invalid(f"A memory has at most {MOST_TAGS} tags of at most {LONGEST_TAG} characters.")
    return tags
