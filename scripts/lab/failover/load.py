"""Servers with writers on the nodes: each writer has a ledger of what must be there, each call is timed."""

import itertools
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torture.ledger import UNTOLD, Ledger
from torture.wire import Answer, Gone, Server, Silent, traceback_in

from failover.clients import HttpServer, Loop, make_tokens
from memory_server.where import Postgres

LONGEST = 21.0
"""Seconds after which each call must have ended: its 20, and one to say so."""

RECOVERING = 60.0
"""Seconds within which each writer has written after an event, a server leads, all watch, and no text waits."""

MENDS = re.compile(
    r"(Then call again|Call again in \d+ s|Check whether it is stored before you write it again)\.$"
)
"""What a refusal may advise while the database is away."""

LIMITED = "Too many requests"
"""What a refusal says where a token has a limit."""

FREELY = 1_000_000
"""Requests that a token without a limit may send in a minute."""


class OneClient(Server):
    """A server over standard input and output: all of its writers are one client."""

    def call(self, tool: str, arguments: dict[str, Any], _client: int = 0) -> Answer:
        return super().call(tool, arguments)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ended. `refusal` is empty where the write was acknowledged."""

    server: int
    began: float
    ended: float
    refusal: str
    writer: int = 0

    @property
    def is_limited(self) -> bool:
        return LIMITED in self.refusal

    @property
    def is_untold(self) -> bool:
        return UNTOLD in self.refusal


@dataclass(slots=True)
class Load:
    """Writers that go on until `stop`; `pause` lets each end its call."""

    servers: list[Any]
    """OneClient, or HttpServer."""
    ledgers: list[Ledger]
    calls: list[Call] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    """How often each was said, without its numbers."""
    _goes: threading.Event = field(default_factory=threading.Event)
    _ends: threading.Event = field(default_factory=threading.Event)
    _turns: list[threading.Lock] = field(default_factory=list)

    @classmethod
    def on(
        cls,
        place: Postgres,
        folder: Path,
        chance: random.Random,
        servers: int,
        writers: int,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> "Load":
        """Start servers over standard input and output."""
        processes = []
        for number in range(servers):
            home = folder / f"server{number}"
            home.mkdir()
            processes.append(OneClient(place, home, environment=environment))
        return cls(processes, _ledgers(chance, servers * writers))

    @classmethod
    def over_http(
        cls, place: Postgres, folder: Path, chance: random.Random, servers: int, writers: int, limit: int
    ) -> "Load":
        """Start servers over HTTP, whose writers have a client and a token each.

        `limit`: requests that a token may send to the last server in a minute.
        """
        loop, processes = Loop(), []
        tokens = make_tokens(place, [f"person-{number}" for number in range(servers * (writers + 1))])
        for number in range(servers):
            home = folder / f"server{number}"
            home.mkdir()
            rate = limit if number == servers - 1 else FREELY
            try:
                processes.append(HttpServer(place, home, number, tokens[number::servers], rate, loop))
            except RuntimeError:
                for process in processes:
                    process.kill()
                raise
        return cls(processes, _ledgers(chance, servers * writers))

    def start(self, pause: float) -> None:
        """`pause`: seconds between two calls of a writer."""
        self._goes.set()
        for number, ledger in enumerate(self.ledgers):
            turn = threading.Lock()
            self._turns.append(turn)
            threading.Thread(target=self._write, args=(number, ledger, turn, pause), daemon=True).start()

    def await_writes(self, seconds: float = RECOVERING) -> None:
        """Wait until each writer has begun a call now that is acknowledged; it is a fault where one has not."""
        begin = time.monotonic()
        while missing := set(range(len(self.ledgers))) - {
            call.writer for call in list(self.calls) if call.began > begin and not call.refusal
        }:
            if time.monotonic() > begin + seconds:
                self.faults.append(f"after {seconds} s these writers have written nothing: {sorted(missing)}")
                return
            time.sleep(0.2)

    def replace(self, number: int, server: Server) -> None:
        """Send the calls of a server's writers to another one, and end it as a client does."""
        self.servers[number], former = server, self.servers[number]
        self.pause()
        former.leave()
        self.resume()

    def pause(self) -> None:
        """Let each writer end its call, and none begin another one."""
        self._goes.clear()
        for turn in self._turns:
            turn.acquire()
            turn.release()

    def resume(self) -> None:
        self._goes.set()

    def stop(self) -> None:
        self._ends.set()
        self._goes.set()
        for server in self.servers:
            with suppress(OSError):
                server.kill()

    def tracebacks(self) -> list[str]:
        return [line for server in self.servers for line in traceback_in(server)]

    def take_calls(self) -> list[Call]:
        """Return the calls since the last time."""
        calls, self.calls = self.calls, []
        return calls

    def _write(self, writer: int, ledger: Ledger, turn: threading.Lock, pause: float) -> None:
        client, number = divmod(writer, len(self.servers))

        def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            began = time.monotonic()
            answer: Answer = self.servers[number].call(tool, arguments, client)
            refusal = answer if isinstance(answer, str) else ""
            self.refusals.update([re.sub(r"\d+", "N", refusal)] if refusal else [])
            self.calls.append(Call(number, began, time.monotonic(), refusal, writer))
            return answer

        try:
            while not self._ends.is_set():
                self._goes.wait()
                with turn:
                    if self._goes.is_set() and not self._ends.is_set():
                        ledger.step(ask)
                time.sleep(pause)
        except (Gone, Silent) as error:
            if not self._ends.is_set():
                said = self.servers[number].log.read_text(errors="replace")[-300:]
                self.faults.append(f"server {number}: {type(error).__name__} {error}: …{said}")


def faults_of(calls: list[Call]) -> list[str]:
    """Return what calls did that none may do: last too long, or refuse without a mend."""
    late = [
        f"a call took {call.ended - call.began:.1f} s: {call.refusal or 'written'}"
        for call in calls
        if call.ended - call.began > LONGEST
    ]
    mute = [call.refusal for call in calls if call.refusal and not MENDS.search(call.refusal)]
    return [*late, *(f"a refusal names no mend: {refusal}" for refusal in mute)]


def outage(calls: list[Call], servers: int, begin: float, end: float) -> float:
    """Return the longest time between begin and end in which a server acknowledged no write."""
    longest = 0.0
    for server in range(servers):
        moments = sorted(
            call.ended
            for call in calls
            if call.server == server and not call.refusal and begin < call.ended < end
        )
        edges = [begin, *moments, end]
        longest = max(longest, *(later - earlier for earlier, later in itertools.pairwise(edges)))
    return longest


def rate(calls: list[Call], begin: float, end: float) -> float:
    """Return acknowledged writes a second."""
    return sum(not call.refusal and begin < call.ended < end for call in calls) / max(end - begin, 0.001)


def _ledgers(chance: random.Random, number: int) -> list[Ledger]:
    return [Ledger(random.Random(chance.random())) for _ in range(number)]
