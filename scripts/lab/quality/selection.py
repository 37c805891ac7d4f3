"""Which stores and questions of the sets are asked: some stores, one half, or small cuts of each store."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from quality.data import Question, Store

Half = Literal["first", "second"]


def only(stores: Iterable[Store], wanted: Sequence[str]) -> list[Store]:
    """The stores named as `SET` or `SET:0,2`, by their place in the set; all of them where nothing is named."""
    named = [text.partition(":") for text in wanted]
    numbers = {name: {int(number) for number in listed.split(",") if number} for name, _, listed in named}
    return [
        store
        for store in stores
        if not wanted or (store.set in numbers and (store.number in (numbers[store.set] or {store.number})))
    ]


def half(stores: Sequence[Store], which: Half) -> list[Store]:
    """Every other store of each set; of a set with one store, every other question."""
    odd = which == "second"
    sizes = {store.set: sum(each.set == store.set for each in stores) for store in stores}
    chosen = [store for store in stores if sizes[store.set] == 1 or store.number % 2 == odd]
    return [
        replace(store, questions=store.questions[odd::2]) if sizes[store.set] == 1 else store
        for store in chosen
    ]


def joined(stores: Sequence[Store]) -> Store:
    """All stores in one, as of somebody who keeps much: each is a talk of its own, asked about at its own end."""
    together = [_apart(store) for store in stores]
    memories = tuple(memory for store in together for memory in store.memories)
    return Store(
        "joined", "joined", 0, memories, tuple(each for store in together for each in store.questions)
    )


def _apart(store: Store) -> Store:
    """The store with ids, sessions and questions that no other store has."""

    def named(text: str) -> str:
        return f"{store.name} {text}"

    last = max((memory.time for memory in store.memories if memory.time), default=None)
    memories = tuple(
        replace(memory, id=named(memory.id), session=memory.session and named(memory.session), project=None)
        for memory in store.memories
    )
    questions = tuple(
        replace(
            each,
            id=named(each.id),
            gold=tuple(frozenset(map(named, piece)) for piece in each.gold),
            stale=frozenset(map(named, each.stale)),
            asked_at=each.asked_at or last,
        )
        for each in store.questions
    )
    return replace(store, memories=memories, questions=questions)


def cuts(store: Store, size: int) -> Iterator[Store]:
    """Small stores of `size` consecutive memories around the evidence, with the questions whose evidence is all there.

    A question is asked in one cut only: the first that holds its evidence.
    """
    places = {memory.id: place for place, memory in enumerate(store.memories)}
    left = {question.id: question for question in store.questions if question.gold}
    spans = {id: _span(question, places) for id, question in left.items()}
    for id, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        if id not in left or last - first >= size:
            continue
        start = max(0, min((first + last + 1 - size) // 2, len(store.memories) - size))
        inside = [
            each for each in left.values() if start <= spans[each.id][0] <= spans[each.id][1] < start + size
        ]
        for each in inside:
            del left[each.id]
        yield _cut(store, start, size, inside)


def _span(question: Question, places: dict[str, int]) -> tuple[int, int]:
    there = [places[id] for id in question.wanted]
    return min(there), max(there)


def _cut(store: Store, start: int, size: int, questions: Sequence[Question]) -> Store:
    memories = store.memories[start : start + size]
    there = {memory.id for memory in memories}
    asked = tuple(replace(question, stale=question.stale & there) for question in questions)
    return replace(store, name=f"{store.name} {start}+{size}", memories=memories, questions=asked)
