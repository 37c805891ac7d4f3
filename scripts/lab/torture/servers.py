"""Four servers with eight writers each on one PostgreSQL database: servers are killed, or PostgreSQL itself."""

import random
import threading
import time
from pathlib import Path

from memory_server.where import Postgres
from torture.cluster import Cluster
from torture.ledger import Ledger, look, write_at_once
from torture.tally import Goes, Tally
from torture.wire import Gone, Server, Silent

SERVERS = 4

WRITERS = 8
"""Calls under way at once in each server."""

MOST = 400
"""Acknowledged writes of a round, at most, before something is killed."""

UNREACHABLE = ("cannot be reached", " broke (", "starting up", "shutting down", "administrator command")
"""What a refusal may say while PostgreSQL is away."""


def run(chance: random.Random, goes: Goes, folder: Path, most: int = MOST) -> list[Tally]:
    killed, lost_power = Tally("postgres: servers killed"), Tally("postgres: PostgreSQL killed")
    twins = Tally("postgres: the same text at once")
    cluster = Cluster(folder / "cluster")
    ledgers = [[Ledger(random.Random(chance.random())) for _ in range(WRITERS)] for _ in range(SERVERS)]
    try:
        while goes():
            tally = chance.choice([killed, lost_power])
            tally.rounds += 1
            _round(chance, cluster, folder, ledgers, tally, killed, most)
            _same_text(chance, cluster.place, folder, twins)
    finally:
        cluster.stop()
    return [killed, lost_power, twins]


def _round(
    chance: random.Random,
    cluster: Cluster,
    folder: Path,
    ledgers: list[list[Ledger]],
    tally: Tally,
    killed: Tally,
    most: int,
) -> None:
    everyone = [ledger for group in ledgers for ledger in group]
    before = sum(ledger.acknowledged for ledger in everyone)
    servers = [Server(cluster.place, folder) for _ in range(SERVERS)]
    over = threading.Event()
    writers = threading.Thread(target=_write, args=(servers, ledgers, tally, over))
    writers.start()
    goal, patience = before + chance.randrange(most // 4, most), time.monotonic() + 60
    while sum(ledger.acknowledged for ledger in everyone) < goal and time.monotonic() < patience:
        time.sleep(0.001)
    if tally is killed:
        for server in chance.sample(servers, 2):
            time.sleep(chance.uniform(0, 0.02))
            server.process.kill()
    else:
        cluster.kill()
        time.sleep(chance.uniform(0, 0.5))
        cluster.start()
        _await_answers(servers, tally)
    over.set()
    writers.join()
    for server in servers:
        server.kill()
    _judge(cluster.place, everyone, tally)
    tally.acknowledged += sum(ledger.acknowledged for ledger in everyone) - before


def _write(servers: list[Server], ledgers: list[list[Ledger]], tally: Tally, over: threading.Event) -> None:
    owner = {id(ledger): server for server, group in zip(servers, ledgers, strict=True) for ledger in group}

    def work(ledger: Ledger) -> None:
        try:
            while not over.is_set():
                ledger.step(owner[id(ledger)].call)
        except Gone:
            pass
        except Silent as error:
            tally.other.append(str(error))

    write_at_once([ledger for group in ledgers for ledger in group], work)


def _await_answers(servers: list[Server], tally: Tally) -> None:
    """Each server comes back by itself."""
    for server in servers:
        end = time.monotonic() + 30
        while isinstance(answer := server.call("memory_stats", {}), str):
            if time.monotonic() > end:
                tally.other.append(f"a server did not come back: {answer}")
                return
            time.sleep(0.1)


def _judge(place: Postgres, ledgers: list[Ledger], tally: Tally) -> None:
    what = f"round {tally.rounds}"
    stored, problems = look(place)
    tally.damaged += [f"{what}: {problem}" for problem in problems[:3]]
    for ledger in ledgers:
        if not problems:
            tally.lost += ledger.compare(stored, what)
        refused = [line for line in ledger.refusals if not any(told in line for told in UNREACHABLE)]
        tally.other += [f"{what}: refused: {line}" for line in refused]
        ledger.refusals.clear()


def _same_text(chance: random.Random, place: Postgres, folder: Path, tally: Tally) -> None:
    """All writers store one text at the same time: it is stored once, and nobody hears of a deadlock."""
    tally.rounds += 1
    servers = [Server(place, folder) for _ in range(SERVERS)]
    text = f"The deploy script {chance.randrange(10**9)} waits for the health check of every region before it goes on."
    answers: list[object] = []

    def store(server: Server) -> None:
        answers.append(server.call("memory_store", {"content": text, "type": "learning", "project": "twins"}))

    threads = [threading.Thread(target=store, args=(server,)) for server in servers for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.acknowledged += sum(isinstance(answer, dict) for answer in answers)
    tally.other += [f"refused: {answer}" for answer in answers if isinstance(answer, str)]
    ids = {answer["id"] for answer in answers if isinstance(answer, dict)}
    if len(ids) != 1:
        tally.damaged.append(f"{len(ids)} memories of one text: {sorted(ids)}")
    for server in servers:
        server.leave()
