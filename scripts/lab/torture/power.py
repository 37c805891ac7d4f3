"""Every write of the tools is noted, and power is cut at random moments: each disk that may be left must be whole."""

import copy
import random
import shutil
from pathlib import Path
from typing import Any

from torture.ledger import Ledger, State, look
from torture.local import Local, after_a_cut, mounted
from torture.tally import Goes, Tally
from torture.wire import Answer

STEPS = 25
"""Writes in each history."""

CUTS = 40
"""Power cuts in each history."""

Moment = tuple[int, list[set[State]], list[tuple[int, int]]]
"""Number of writes to the disk until then; the states that each row may then have; rows that are written together."""


def run(chance: random.Random, goes: Goes, folder: Path) -> list[Tally]:
    tally = Tally("power cuts")
    while goes():
        home = folder / "history"
        home.mkdir()
        _history(chance, home, tally, goes)
        shutil.rmtree(home)
    return [tally]


def _history(chance: random.Random, folder: Path, tally: Tally, goes: Goes) -> None:
    ledger = Ledger(random.Random(chance.random()))
    moments: list[Moment] = []
    with mounted() as disk:
        local = Local(folder / "memory.db")
        local.services.database.open()
        local.work()

        def note() -> None:
            pairs = [(ledger.items.index(turn), ledger.items.index(fact)) for turn, fact in ledger.pairs]
            moments.append((len(disk.events), [set(item.states) for item in ledger.items], pairs))

        def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            note()  # the write is under way from here
            return local.call(tool, arguments)

        for _ in range(STEPS):
            ledger.step(ask)
            note()
            if chance.random() < 0.3:
                local.work()
        local.close()
    tally.other += [f"refused: {line}" for line in ledger.refusals]
    tally.acknowledged += ledger.acknowledged
    start = moments[0][0]
    for number in range(CUTS):
        tally.rounds += 1
        last = chance.randrange(0 if chance.random() < 0.1 else start, len(disk.events) + 1)
        if chance.random() < 0.3:  # the moment at which a write is acknowledged
            last, _, _ = chance.choice(moments)
        place = folder / f"cut-{number}"
        place.mkdir()
        for name, content in after_a_cut(disk.events[:last], chance).items():
            (place / name).write_bytes(content)
        what = f"cut {tally.rounds} after {last} writes"
        stored, problems = look(place / "memory.db")
        tally.damaged += [f"{what}: {problem}" for problem in problems[:3]]
        if not problems:
            tally.lost += _at(ledger, moments, last).compare(stored, what)
        shutil.rmtree(place)
        if not goes():
            break


def _at(ledger: Ledger, moments: list[Moment], last: int) -> Ledger:
    """The ledger as it was when so many writes had reached the disk."""
    past = copy.deepcopy(ledger)
    known = [(states, pairs) for events, states, pairs in moments if events <= last]
    states, pairs = known[-1] if known else ([], [])
    past.items = past.items[: len(states)]
    past.pairs = [(past.items[turn], past.items[fact]) for turn, fact in pairs]
    for item, each in zip(past.items, states, strict=True):
        item.states = set(each)
    return past
