"""Two versions of one item become one: the same one, whichever of the two files takes in the other.

Nothing here looks at a clock or at which of the two is at home; where nothing else decides, the order of texts does.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TypeVar

from memory_server.domain.exchange.records import (
    Earlier,
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    MemoryRecord,
    Origin,
    QuestionRecord,
    ShortTermRecord,
    TurnRecord,
    UseRecord,
    place,
)

Known = TypeVar("Known", MemoryRecord, TurnRecord, ShortTermRecord)
Turned = TypeVar("Turned", TurnRecord, ShortTermRecord)


def text_of(value: object) -> str:
    """JSON of which equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def same_memory(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether two memories with one id are one: any text of the one is a text of the other."""
    return not _texts(one).isdisjoint(_texts(other))


def memories(one: MemoryRecord, other: MemoryRecord, joined: bool = False) -> MemoryRecord:
    """What was changed last is its content, type, project, tags, importance and metadata; the other text is history.

    `joined`: two memories that say the same become one. It is as old as the older, with the tags and metadata of both.
    """
    older, younger = sorted((one, other), key=_birth)
    earlier, newer = sorted((one, other), key=_change)
    history = _past(one.history, other.history)
    if earlier.content not in {newer.content, *(each.content for each in history)}:
        history.append(Earlier(earlier.content, "rewritten", newer.updated_at))
    result = replace(
        newer,
        access_count=max(one.access_count, other.access_count),
        accessed_at=_later(one.accessed_at, other.accessed_at),
        created_at=older.created_at,
        created_by=older.created_by,
        session=older.session,
        occurred_at=older.occurred_at,
        writer=one.writer if one.writer == other.writer else None,
        history=tuple(sorted(history, key=lambda each: (each.replaced_at, each.content, each.reason))),
        captured=older.captured if one.captured and other.captured else None,
        vectors={},
    )
    if joined:
        result = replace(
            result,
            tags=_both(older.tags, younger.tags),
            importance=max(one.importance, other.importance),
            metadata={**younger.metadata, **older.metadata},
        )
    return known(result, one, other)


def turns(one: TurnRecord, other: TurnRecord) -> TurnRecord:
    return known(_last(one, other), one, other)


def short_term(one: ShortTermRecord, other: ShortTermRecord) -> ShortTermRecord:
    last = replace(
        _last(one, other), score=max(one.score, other.score), captured=one.captured or other.captured
    )
    return known(last, one, other)


def long_term(one: LongTermRecord, other: LongTermRecord) -> LongTermRecord:
    """What was changed last, with the wakes of both."""
    newer = max(one, other, key=_prompted)
    changed, created_at = _prompted(newer)[0], min(one.created_at, other.created_at)
    wakes = {*one.wakes, *other.wakes}
    return replace(
        newer,
        id=one.id,
        created_at=created_at,
        updated_at=changed if changed > created_at else _later(one.updated_at, other.updated_at),
        fired_at=_later(one.fired_at, other.fired_at),
        fired_count=max(one.fired_count, other.fired_count),
        wakes=tuple(sorted(wakes, key=lambda each: (each.at, text_of(asdict(each))))),
        origins=_origins(one.origins, other.origins),
    )


def edges(one: EdgeRecord, other: EdgeRecord) -> EdgeRecord:
    """It holds since the earlier moment and until the earlier one; the stronger counts."""
    return replace(
        min(one, other, key=lambda each: (each.valid_from, each.created_by or "")),
        source=one.source,
        target=one.target,
        strength=max(one.strength, other.strength),
        valid_to=min(filter(None, (one.valid_to, other.valid_to)), default=None),
    )


def facts(one: FactRecord, other: FactRecord) -> tuple[FactRecord, bool]:
    """All steps of both by their moment, each once; whether both were changed since they were equal, to other values.

    Where one knows all steps of the other, it is the result. Else the versions of what came apart are counted on.
    """
    mine, theirs = ({_step(each): each for each in record.steps} for record in (one, other))
    if theirs.keys() <= mine.keys():
        steps, parted = one.steps, False
    elif mine.keys() <= theirs.keys():
        steps, parted = other.steps, False
    else:
        steps, parted = _numbered(_joined(mine, theirs)), True
    older = min(one, other, key=lambda each: (each.created_at or "~", each.created_by or ""))
    result = replace(
        one,
        steps=steps,
        access_count=max(one.access_count, other.access_count),
        accessed_at=_later(one.accessed_at, other.accessed_at),
        created_at=older.created_at,
        created_by=older.created_by,
        session=older.session,
        captured=one.captured or other.captured,
        origins=_origins(one.origins, other.origins),
        vectors={},
    )
    ends = {text_of((each.steps[-1].action, each.steps[-1].value)) for each in (one, other) if each.steps}
    return result, parted and len(ends) > 1


def uses(one: UseRecord, other: UseRecord) -> UseRecord:
    """What one session did with one memory: it was shown, judged and used when it was first."""
    used = [each for each in (one, other) if each.used_at]
    first = min(used, key=lambda each: (each.used_at or "", each.how or ""), default=one)
    return replace(
        one,
        shown_at=min(one.shown_at, other.shown_at),
        judged_at=min(filter(None, (one.judged_at, other.judged_at)), default=None),
        used_at=first.used_at,
        how=first.how,
    )


def questions(one: QuestionRecord, other: QuestionRecord) -> QuestionRecord:
    """One question that both have: two sessions at least have asked it where the last ones are two."""
    latest = max(one, other, key=lambda each: (each.asked_again_at or each.asked_at, each.session))
    first, again = sorted((one.asked_at, other.asked_at))
    apart = one.session != other.session
    return replace(
        latest,
        sessions=max(one.sessions, other.sessions, 2 if apart else 1),
        asked_at=first,
        asked_again_at=_later(
            _later(one.asked_again_at, other.asked_again_at), again if again > first else None
        ),
    )


def known(result: Known, one: Known, other: Known) -> Known:
    """The result with the ids and the origins of both versions: the first id is its own."""
    ids = sorted({one.id, *one.also, other.id, *other.also}, key=place)
    return replace(result, id=ids[0], also=tuple(ids[1:]), origins=_origins(one.origins, other.origins))


def _later(one: str | None, other: str | None) -> str | None:
    return max(filter(None, (one, other)), default=None)


def _texts(memory: MemoryRecord) -> set[str]:
    return {memory.content, *(each.content for each in memory.history)}


def _past(one: tuple[Earlier, ...], other: tuple[Earlier, ...]) -> list[Earlier]:
    """Each text as often as the one that has it more often: what both have replaced apart was there once."""
    kept: list[Earlier] = []
    for content in {each.content for each in (*one, *other)}:
        often = max(sum(each.content == content for each in past) for past in (one, other))
        same = {each for each in (*one, *other) if each.content == content}
        kept += sorted(same, key=lambda each: (each.replaced_at, each.reason))[:often]
    return kept


def _birth(memory: MemoryRecord) -> tuple[object, ...]:
    """By which the older of two memories is known."""
    return (
        memory.created_at,
        place(memory.id),
        text_of([memory.created_by, memory.session, memory.occurred_at]),
    )


def _change(memory: MemoryRecord) -> tuple[str, ...]:
    """By which of two memories the one that was changed last is known: of nothing that both give to the result."""
    said = [memory.type, memory.project, memory.tags, memory.importance, dict(memory.metadata)]
    return memory.updated_at, memory.content, text_of(said)


def _prompted(memory: LongTermRecord) -> tuple[str, str]:
    """When a long-term memory was changed last, and what else tells two apart."""
    rest = replace(
        memory, id="", created_at="", updated_at=None, fired_at=None, fired_count=0, wakes=(), origins=()
    )
    return memory.changed_at, text_of(asdict(rest))


def _plain(record: Turned) -> str:
    """What tells two apart, without ids and what both give to the result."""
    both = {"id": "", "also": (), "origins": (), "vectors": {}, "score": 0, "captured": None}
    return text_of({**asdict(record), **both})


def _last(one: Turned, other: Turned) -> Turned:
    """Nothing says which was changed last."""
    return replace(max(one, other, key=_plain), vectors={})


def _both(one: tuple[object, ...], other: tuple[object, ...]) -> tuple[object, ...]:
    known = {text_of(each) for each in one}
    return (*one, *(each for each in other if text_of(each) not in known))


def _origins(*lists: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """Each once, as it was imported first."""
    found: dict[tuple[str, str], Origin] = {}
    for origin in sorted((each for origins in lists for each in origins), key=_moment, reverse=True):
        found[origin.source, origin.id] = origin
    return tuple(found[key] for key in sorted(found))


def _moment(origin: Origin) -> tuple[str, str]:
    return origin.imported_at, origin.digest


def _step(step: FactStep) -> str:
    """A step without its number, which may be another one in the other file, and without its writer, whom an older file
    does not know."""
    return text_of({**asdict(step), "version": 0, "writer": None})


def _joined(mine: dict[str, FactStep], theirs: dict[str, FactStep]) -> list[FactStep]:
    both = dict(theirs)
    for key, step in mine.items():
        both[key] = step if key not in theirs or step.version < theirs[key].version else theirs[key]
    return [both[key] for key in sorted(both, key=lambda key: (both[key].changed_at, both[key].version, key))]


def _numbered(steps: Iterable[FactStep]) -> tuple[FactStep, ...]:
    """No version is used twice."""
    found: list[FactStep] = []
    for step in steps:
        found.append(replace(step, version=max(step.version, found[-1].version + 1 if found else 1)))
    return tuple(found)
