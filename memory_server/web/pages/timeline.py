"""Timeline: what was stored, recalled, superseded and forgotten by day and project; and undoing it."""

from dataclasses import replace

from starlette.responses import Response

from memory_server.domain import trust
from memory_server.domain.change import Change, ChangeFilter, Kind, read_id
from memory_server.domain.timeline import Happened
from memory_server.errors import Invalid
from memory_server.services.timeline import Counts
from memory_server.transfer.counts import change_in_chinese
from memory_server.web import spans
from memory_server.web.view import Desk, Visit, back

LATEST = 40
COLUMNS = 122
"""Bars of the chart at most: more days than these are joined."""

LABELS = 5
WIDTH, HEIGHT = 1000, 180
"""Of the chart, in its own units."""

Bar = tuple[Happened, float, float, float, float, str]
"""What happened; x, y, width and height; and a title."""


def show(desk: Desk, visit: Visit) -> Response:
    span, name = spans.read(visit), visit.get("project")
    project = None if not name else "" if name == "-" else name
    counts = desk.services.timeline.count(span, project)
    totals = {what: sum(day_counts.get(what, 0) for day_counts in counts.days.values()) for what in Happened}
    questions = [
        question
        for question in desk.services.learning.all_questions()
        if span.since <= question.asked_at < span.until and project in (None, question.project)
    ]
    log = desk.services.changes.select(ChangeFilter(project), LATEST, visit.caller)
    columns = _columns(counts.days)
    most = max([sum(column.values()) for column in columns.values()] + [1])
    return desk.render(
        visit, "timeline", bars=_bars(columns, most), totals=totals, most=most,
        labels=_labels(list(counts.days)), by_project=sorted(counts.projects.items(), key=_total, reverse=True),
        changes=[_shown(change, visit.language) for change in log.changes],
        width=WIDTH, height=HEIGHT, questions=questions,
        tokens=desk.services.replaying.tokens(span), saved=desk.services.replaying.saved(span),
        growth=totals[Happened.STORED] - totals[Happened.FORGOTTEN],
        Kind=Kind, Happened=Happened, **spans.shown(visit, span),
    )  # fmt: skip


def undo(desk: Desk, visit: Visit) -> Response:
    """Undo one change and go to what it was about, or several that were one act."""
    ids = [(text, read_id(text)) for text in visit.form["change"].split(",")]
    for text, id in ids:
        if id is None:
            raise Invalid(f"`{text}` is not the number of a change.")
    changes = desk.services.changes.undo([id for _, id in ids if id], visit.caller).changes
    if len(changes) > 1:
        return back("/", done="undone")
    return back(
        f"/memory/{changes[0].item}" if changes[0].kind is Kind.MEMORY else "/timeline", done="undone"
    )


def _shown(change: Change, language: str) -> Change:
    """Return a change with its text in the language, and its origin before it, where that waits to be confirmed."""
    text = change_in_chinese(change) if language == "zh" else change.text
    return replace(change, text=trust.before(change.origin, text))


def _total(project_counts: tuple[str, Counts]) -> int:
    return sum(project_counts[1].values())


def _columns(days: dict[str, Counts]) -> dict[str, Counts]:
    """Join days, so that no more than COLUMNS are left; each is named by its first and its last day."""
    size = -(-len(days) // COLUMNS)
    names, columns = list(days), {}
    for place in range(0, len(names), size):
        joined = names[place : place + size]
        name = joined[0] if len(joined) == 1 else f"{joined[0]} – {joined[-1]}"
        columns[name] = {what: sum(days[day].get(what, 0) for day in joined) for what in Happened}
    return columns


def _bars(days: dict[str, Counts], most: int) -> list[Bar]:
    """The pieces of each day, one on the other."""
    step, bars = WIDTH / len(days), []
    for place, (day, counts) in enumerate(days.items()):
        top = float(HEIGHT)
        for what in Happened:
            height = HEIGHT * counts.get(what, 0) / most
            top -= height
            if height:
                bars.append(
                    (
                        what,
                        place * step + 0.12 * step,
                        top,
                        0.76 * step,
                        height,
                        f"{day}: {counts[what]}",
                    )
                )
    return bars


def _labels(days: list[str]) -> list[str]:
    """The first day, the last, and some between them at equal distances; with the year where that differs."""
    cut = 5 if len(days) < 300 else 0
    steps = min(LABELS, len(days)) - 1
    return [days[round(place * (len(days) - 1) / max(1, steps))][cut:] for place in range(steps + 1)]
