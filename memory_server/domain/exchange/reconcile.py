"""Merges two versions of one item. The result is the same, whichever of the two files imports from the other.

Nothing here reads a clock or asks which of the two is local; where nothing else decides, the order of texts does.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TypeVar

from memory_server.domain import trust
from memory_server.domain.effect import Effect
from memory_server.domain.exchange.records import (
    ConversationRecord,
    Earlier,
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    MemoryRecord,
    Origin,
    QuestionRecord,
    RuleRecord,
    ShortTermRecord,
    TurnRecord,
    UseRecord,
    place,
)

Known = TypeVar("Known", MemoryRecord, TurnRecord, ShortTermRecord)
Turned = TypeVar("Turned", TurnRecord, ShortTermRecord)


def text_of(value: object) -> str:
    """A value as JSON; equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def same_memory(left: MemoryRecord, right: MemoryRecord) -> bool:
    """True if two memories with one id are the same memory: they share a text, of now or of their history."""
    return not _texts(left).isdisjoint(_texts(right))


def memories(left: MemoryRecord, right: MemoryRecord, joined: bool = False) -> MemoryRecord:
    """The merged memory has content, type, project, tags, importance and metadata of the version changed last.

    The text of the other version goes to its history. `joined`: two memories that say the same become one, which is as
    old as the older, with the tags and metadata of both.
    """
    older, younger = sorted((left, right), key=_birth)
    earlier, newer = sorted((left, right), key=_change)
    history = _past(left.history, right.history)
    if earlier.content not in {newer.content, *(past.content for past in history)}:
        history.append(Earlier(earlier.content, "rewritten", newer.updated_at))
    result = replace(
        newer,
        access_count=max(left.access_count, right.access_count),
        accessed_at=_later(left.accessed_at, right.accessed_at),
        created_at=older.created_at,
        created_by=older.created_by,
        session=older.session,
        occurred_at=older.occurred_at,
        writer=left.writer if left.writer == right.writer else None,
        origin=trust.of_equal(left.origin, right.origin) if left.content == right.content else newer.origin,
        history=tuple(sorted(history, key=lambda past: (past.replaced_at, past.content, past.reason))),
        captured=older.captured if left.captured and right.captured else None,
        vectors={},
    )
    if joined:
        result = replace(
            result,
            tags=_both(older.tags, younger.tags),
            importance=max(left.importance, right.importance),
            metadata={**younger.metadata, **older.metadata},
        )
    return known(result, left, right)


def turns(left: TurnRecord, right: TurnRecord) -> TurnRecord:
    return known(_last(left, right), left, right)


def short_term(left: ShortTermRecord, right: ShortTermRecord) -> ShortTermRecord:
    """The greater of both; the server of one may have taken the keywords from the text already."""
    if left.text == right.text and (left.keywords is None or right.keywords is None):
        keywords = left.keywords or right.keywords
        left, right = replace(left, keywords=keywords), replace(right, keywords=keywords)
    last = replace(
        _last(left, right), score=max(left.score, right.score), captured=left.captured or right.captured
    )
    return known(last, left, right)


def long_term(left: LongTermRecord, right: LongTermRecord) -> LongTermRecord:
    """The version changed last, with the wakes of both; where both say the same, the rule of either."""
    newer = max(left, right, key=_prompted)
    is_same = (left.prompt, left.trigger) == (right.prompt, right.trigger)
    changed, created_at = _prompted(newer)[0], min(left.created_at, right.created_at)
    wakes = {*left.wakes, *right.wakes}
    return replace(
        newer,
        id=left.id,
        origin=trust.of_equal(left.origin, right.origin) if is_same else newer.origin,
        created_at=created_at,
        updated_at=changed if changed > created_at else _later(left.updated_at, right.updated_at),
        fired_at=_later(left.fired_at, right.fired_at),
        fired_count=max(left.fired_count, right.fired_count),
        wakes=tuple(sorted(wakes, key=lambda wake: (wake.at, text_of(asdict(wake))))),
        rule=_rule(left.rule, right.rule) if is_same else newer.rule,
        origins=_origins(left.origins, right.origins),
    )


def _rule(left: RuleRecord | None, right: RuleRecord | None) -> RuleRecord | None:
    """The rule that a person has confirmed, then the stronger one. It is off only where both are."""
    rules = [rule for rule in (left, right) if rule is not None]
    if not rules:
        return None
    strongest = max(rules, key=_strength)
    return replace(strongest, off=all(rule.off for rule in rules))


def _strength(rule: RuleRecord) -> tuple[object, ...]:
    place = tuple(Effect).index(rule.effect)
    return rule.confirmed_at is not None, place, rule.confirmed_at or "", rule.holds, rule.passes


def edges(left: EdgeRecord, right: EdgeRecord) -> EdgeRecord:
    """The merged edge is valid from the earlier start until the earlier end, with the higher strength."""
    return replace(
        min(left, right, key=lambda edge: (edge.valid_from, edge.created_by or "")),
        source=left.source,
        target=left.target,
        strength=max(left.strength, right.strength),
        valid_to=min(filter(None, (left.valid_to, right.valid_to)), default=None),
    )


def facts(left: FactRecord, right: FactRecord) -> tuple[FactRecord, bool]:
    """All steps of both by their moment, each once; and true if both were changed since they were equal, to new values.

    A version that has all steps of the other is the result. Else the steps are joined and get increasing versions.
    """
    left_steps, right_steps = ({_step(step): step for step in record.steps} for record in (left, right))
    if right_steps.keys() <= left_steps.keys():
        steps, parted = left.steps, False
    elif left_steps.keys() <= right_steps.keys():
        steps, parted = right.steps, False
    else:
        steps, parted = _numbered(_joined(left_steps, right_steps)), True
    steps = tuple(
        replace(step, origin=trust.of_equal(left_steps[text].origin, right_steps[text].origin))
        if (text := _step(step)) in left_steps.keys() & right_steps.keys()
        else step
        for step in steps
    )
    older = min(left, right, key=lambda record: (record.created_at or "~", record.created_by or ""))
    result = replace(
        left,
        steps=steps,
        access_count=max(left.access_count, right.access_count),
        accessed_at=_later(left.accessed_at, right.accessed_at),
        created_at=older.created_at,
        created_by=older.created_by,
        session=older.session,
        captured=left.captured or right.captured,
        origins=_origins(left.origins, right.origins),
        vectors={},
    )
    ends = {text_of((fact.steps[-1].action, fact.steps[-1].value)) for fact in (left, right) if fact.steps}
    return result, parted and len(ends) > 1


def uses(left: UseRecord, right: UseRecord) -> UseRecord:
    """The use of one memory in one session: shown, judged and used at the earliest moment of either version."""
    used = [record for record in (left, right) if record.used_at]
    first = min(used, key=lambda record: (record.used_at or "", record.how or ""), default=left)
    return replace(
        left,
        shown_at=min(left.shown_at, right.shown_at),
        judged_at=min(filter(None, (left.judged_at, right.judged_at)), default=None),
        used_at=first.used_at,
        how=first.how,
    )


def questions(left: QuestionRecord, right: QuestionRecord) -> QuestionRecord:
    """One question that both have: at least two sessions have asked it where the sessions of the two differ."""
    latest = max(left, right, key=lambda record: (record.asked_again_at or record.asked_at, record.session))
    first, again = sorted((left.asked_at, right.asked_at))
    apart = left.session != right.session
    return replace(
        latest,
        sessions=max(left.sessions, right.sessions, 2 if apart else 1),
        asked_at=first,
        asked_again_at=_later(
            _later(left.asked_again_at, right.asked_again_at), again if again > first else None
        ),
    )


def conversations(left: ConversationRecord, right: ConversationRecord) -> ConversationRecord:
    """The conversation is as old as the older and as clean as the cleaner."""
    return replace(
        left,
        created_at=min(left.created_at, right.created_at),
        cleaned_at=max(left.cleaned_at, right.cleaned_at),
        removed=max(left.removed, right.removed),
    )


def known(result: Known, left: Known, right: Known) -> Known:
    """The result with the ids and the origins of both versions; its own id is the first of them."""
    ids = sorted({left.id, *left.also, right.id, *right.also}, key=place)
    return replace(result, id=ids[0], also=tuple(ids[1:]), origins=_origins(left.origins, right.origins))


def _later(left: str | None, right: str | None) -> str | None:
    return max(filter(None, (left, right)), default=None)


def _texts(memory: MemoryRecord) -> set[str]:
    return {memory.content, *(past.content for past in memory.history)}


def _past(left: tuple[Earlier, ...], right: tuple[Earlier, ...]) -> list[Earlier]:
    """The past texts of both, each as often as in the version that has it more often.

    A text that both versions have replaced independently existed once.
    """
    past_texts: list[Earlier] = []
    for content in {past.content for past in (*left, *right)}:
        often = max(sum(past.content == content for past in history) for history in (left, right))
        same = {past for past in (*left, *right) if past.content == content}
        past_texts += sorted(same, key=lambda past: (past.replaced_at, past.reason))[:often]
    return past_texts


def _birth(memory: MemoryRecord) -> tuple[object, ...]:
    """The sort key that puts the older of two memories first."""
    return (
        memory.created_at,
        place(memory.id),
        text_of([memory.created_by, memory.session, memory.occurred_at]),
    )


def _change(memory: MemoryRecord) -> tuple[str, ...]:
    """The sort key that puts the memory changed last at the end. It leaves out what both give to the result."""
    fields = [memory.type, memory.project, memory.tags, memory.importance, dict(memory.metadata)]
    return memory.updated_at, memory.content, text_of(fields)


def _prompted(memory: LongTermRecord) -> tuple[str, str]:
    """The sort key of a long-term memory: the moment of its last change, then its other fields as text."""
    content = replace(
        memory, id="", created_at="", updated_at=None, fired_at=None, fired_count=0, wakes=(), rule=None,
        origins=(),
    )  # fmt: skip
    return memory.changed_at, text_of(asdict(content))


def _plain(record: Turned) -> str:
    """The fields that tell two records apart as text, without ids and the fields that both give to the result."""
    both = {
        "id": "", "also": (), "origins": (), "vectors": {}, "score": 0, "captured": None, "origin": "",
    }  # fmt: skip
    return text_of({**asdict(record), **both})


def _last(left: Turned, right: Turned) -> Turned:
    """The record whose text is greater, since nothing says which was changed last."""
    last = replace(max(left, right, key=_plain), vectors={})
    is_same = _plain(left) == _plain(right)
    return replace(last, origin=trust.of_equal(left.origin, right.origin)) if is_same else last


def _both(left: tuple[object, ...], right: tuple[object, ...]) -> tuple[object, ...]:
    left_texts = {text_of(tag) for tag in left}
    return (*left, *(tag for tag in right if text_of(tag) not in left_texts))


def _origins(*lists: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """The origins, each once, with its first import."""
    by_item: dict[tuple[str, str], Origin] = {}
    for origin in sorted((origin for origins in lists for origin in origins), key=_moment, reverse=True):
        by_item[origin.source, origin.id] = origin
    return tuple(by_item[key] for key in sorted(by_item))


def _moment(origin: Origin) -> tuple[str, str]:
    return origin.imported_at, origin.digest


def _step(step: FactStep) -> str:
    """A step as text without its number, which may differ in the other file, and without its writer and its origin,
    which an older file lacks."""
    return text_of({**asdict(step), "version": 0, "writer": None, "origin": ""})


def _joined(left: dict[str, FactStep], right: dict[str, FactStep]) -> list[FactStep]:
    both = dict(right)
    for key, step in left.items():
        both[key] = step if key not in right or step.version < right[key].version else right[key]
    return [both[key] for key in sorted(both, key=lambda key: (both[key].changed_at, both[key].version, key))]


def _numbered(steps: Iterable[FactStep]) -> tuple[FactStep, ...]:
    """The steps with increasing versions, so that no version is used twice."""
    numbered: list[FactStep] = []
    for step in steps:
        numbered.append(replace(step, version=max(step.version, numbered[-1].version + 1 if numbered else 1)))
    return tuple(numbered)
