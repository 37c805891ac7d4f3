"""Another program locks the file for random times while threads call tools: every call answers, and nothing is lost."""

import random
import re
import threading
import time
from pathlib import Path
from typing import Any

import apsw

from torture.ledger import Ledger, look, write_at_once
from torture.tally import Goes, Tally
from torture.wire import Answer, Gone, Server, Silent, traceback_in

WRITERS, READERS = 4, 3

ROUND = 8.0
"""Seconds of calls in each round."""

LONG = 22.0
"""Seconds of the lock that outlasts a call, which waits for 20."""

LONG_EVERY = 6
"""Rounds, the first of which has a long lock; in a short torture there is none."""

SLOWEST = 30.0
"""Seconds in which each call must have answered: 20 of waiting, and a busy machine."""

LEAST = 5
"""Writes of each writer that must be acknowledged in each round, however busy the machine is."""

LOCKS = {
    "shared": ("BEGIN", "SELECT count(*) FROM memories"),
    "reserved": ("BEGIN IMMEDIATE",),
    "exclusive": ("BEGIN EXCLUSIVE",),
}

CAUSE = re.compile("locked|busy")

SAID = {"role": "user", "content": "x"}

PATIENCE = 60.0
"""Seconds after the end of a round in which a writer may still come to its `LEAST` writes."""

READS: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "which version is it"}),
    ("memory_stats", {}),
    ("list_memories", {}),
    ("retrieve_memories", {"query": "the version"}),
    ("smart_resume", {}),
    ("search_short_term_memories", {"recentMessages": [SAID], "conversation_id": "torture-1"}),
    ("list_long_term_memories", {"conversation_id": "torture-1"}),
    ("search_long_term_memories", {"messages": [SAID], "conversation_id": "torture-1"}),
    ("get_memory_stats", {}),
]  # fmt: skip


def run(
    chance: random.Random, goes: Goes, folder: Path, seconds: float = ROUND, long_every: int = LONG_EVERY
) -> list[Tally]:
    """`long_every` 0: no lock outlasts a call."""
    tally = Tally("locks of another program")
    slowest = 0.0
    db = folder / "memory.db"
    server = Server(db, folder)
    server.call("memory_stats", {})
    ledgers = [Ledger(random.Random(chance.random())) for _ in range(WRITERS)]
    while goes():
        long = bool(long_every) and tally.rounds % long_every == long_every - 1
        tally.rounds += 1
        end = time.monotonic() + seconds + (LONG if long else 0)
        stop = threading.Event()
        holder = threading.Thread(target=_hold, args=(db, random.Random(chance.random()), stop, long))
        holder.start()
        slowest = max(slowest, _call(server, ledgers, chance, end, tally))
        stop.set()
        holder.join()
        stored, problems = look(db)
        tally.damaged += [f"round {tally.rounds}: {problem}" for problem in problems]
        for ledger in ledgers:
            tally.lost += [] if problems else ledger.compare(stored, f"round {tally.rounds}")
            refused = ledger.refusals
            tally.notes += [f"refused: {line[:150]}" for line in refused[:1]]
            tally.other += [f"names no cause: {line}" for line in refused if not CAUSE.search(line)]
            ledger.refusals = []
        if server.process.poll() is not None:
            tally.other.append("the server ended")
            break
    tally.acknowledged = sum(ledger.acknowledged for ledger in ledgers)
    if server.leave() != 0:
        tally.other.append(f"the server ended with {server.process.returncode}")
    tally.other += traceback_in(server)
    tally.notes.append(f"the slowest call took {slowest:.1f} s")
    return [tally]


def _hold(db: Path, chance: random.Random, stop: threading.Event, long: bool) -> None:
    """Take and release locks. Nothing else of this process has the file open: to close it would drop them."""
    connection = apsw.Connection(str(db))
    connection.set_busy_timeout(30_000)
    try:
        while not stop.is_set():
            for statement in LOCKS[chance.choice(list(LOCKS)) if not long else "exclusive"]:
                connection.execute(statement).fetchall()
            stop.wait(LONG if long else chance.choice([0.01, 0.1, 0.5, 2.0]) * chance.random())
            long = False
            connection.execute("ROLLBACK")
            stop.wait(chance.choice([0.0, 0.02, 0.2]) * chance.random())
    finally:
        connection.close()


def _call(server: Server, ledgers: list[Ledger], chance: random.Random, end: float, tally: Tally) -> float:
    """Write and read until the time is over and each writer has its writes; the seconds of the slowest call."""
    took: list[float] = []
    finished = threading.Event()

    def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        began = time.monotonic()
        answer = server.call(tool, arguments)
        took.append(time.monotonic() - began)
        return answer

    def write(ledger: Ledger) -> None:
        least = ledger.acknowledged + LEAST
        while (now := time.monotonic()) < end or (ledger.acknowledged < least and now < end + PATIENCE):
            ledger.step(ask)

    def read(seed: float) -> None:
        mine = random.Random(seed)
        while not finished.is_set():
            tool, arguments = mine.choice(READS)
            answer = ask(tool, arguments)
            if isinstance(answer, str) and not CAUSE.search(answer):
                tally.other.append(f"{tool} names no cause: {answer}")

    def guarded(work: Any, argument: Any) -> None:
        try:
            work(argument)
        except Gone:
            tally.other.append("the server ended")
        except Silent as error:
            tally.other.append(str(error))

    readers = [threading.Thread(target=guarded, args=(read, chance.random())) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    write_at_once(ledgers, lambda ledger: guarded(write, ledger))
    finished.set()
    for reader in readers:
        reader.join()
    slowest = max(took, default=0.0)
    if slowest > SLOWEST:
        tally.other.append(f"a call took {slowest:.1f} s")
    return slowest
