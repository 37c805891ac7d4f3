"""Two servers write into one file and are killed at a random moment; also the main file alone must be whole."""

import random
import shutil
import threading
import time
from pathlib import Path

from torture.ledger import Ledger, look, write_at_once
from torture.tally import Goes, Tally
from torture.wire import Gone, Server, Silent

THREADS = 3
"""Calls under way at once in each server."""

MOST = 120
"""Acknowledged writes of a round, at most, before the kill."""


def run(chance: random.Random, goes: Goes, folder: Path, most: int = MOST) -> list[Tally]:
    with_journal, alone = Tally("kills: file with its journal"), Tally("kills: main file alone")
    db = folder / "memory.db"
    ledgers = [[Ledger(random.Random(chance.random())) for _ in range(THREADS)] for _ in range(2)]
    everyone = [ledger for group in ledgers for ledger in group]
    while goes():
        with_journal.rounds += 1
        servers = [Server(db, folder) for _ in range(2)]
        writers = threading.Thread(target=_write, args=(servers, ledgers, with_journal))
        writers.start()
        goal = sum(ledger.acknowledged for ledger in everyone) + chance.randrange(5, most)
        patience = time.monotonic() + 20
        while sum(ledger.acknowledged for ledger in everyone) < goal and time.monotonic() < patience:
            time.sleep(0.001)
        for server in chance.sample(servers, 2):
            time.sleep(chance.uniform(0, 0.02))
            server.process.kill()
        writers.join()
        for server in servers:
            server.kill()
        _judge(db, folder, everyone, with_journal, alone)
    alone.rounds = with_journal.rounds
    return [with_journal, alone]


def _write(servers: list[Server], ledgers: list[list[Ledger]], tally: Tally) -> None:
    owner = {id(ledger): server for server, group in zip(servers, ledgers, strict=True) for ledger in group}

    def work(ledger: Ledger) -> None:
        try:
            while True:
                ledger.step(owner[id(ledger)].call)
        except Gone:
            pass
        except Silent as error:
            tally.other.append(str(error))

    write_at_once([ledger for group in ledgers for ledger in group], work)


def _judge(db: Path, folder: Path, ledgers: list[Ledger], with_journal: Tally, alone: Tally) -> None:
    what = f"round {with_journal.rounds}"
    journal, copy, whole = (folder / name for name in ("memory.db-journal", "alone.db", "whole.db"))
    hot = journal.exists() and journal.stat().st_size > 0
    shutil.copy(db, copy)
    shutil.copy(db, whole)
    whole.with_name("whole.db-journal").unlink(missing_ok=True)
    if journal.exists():
        shutil.copy(journal, whole.with_name("whole.db-journal"))
    states = [[(set(item.states), item.id) for item in ledger.items] for ledger in ledgers]
    pairs = [list(ledger.pairs) for ledger in ledgers]
    for tally, path in ((alone, copy), (with_journal, whole)):
        for ledger, kept, both in zip(ledgers, states, pairs, strict=True):
            for item, (state, id) in zip(ledger.items, kept, strict=True):
                item.states, item.id = set(state), id
            ledger.pairs = list(both)
        stored, problems = look(path)
        tally.damaged += [f"{what}{' (amid a commit)' if hot else ''}: {problem}" for problem in problems[:3]]
        if problems:
            continue
        tally.acknowledged = sum(ledger.acknowledged for ledger in ledgers)
        tally.lost += [line for ledger in ledgers for line in ledger.compare(stored, what)]
    for ledger in ledgers:
        with_journal.other += [f"{what}: refused: {line}" for line in ledger.refusals]
        ledger.refusals.clear()
