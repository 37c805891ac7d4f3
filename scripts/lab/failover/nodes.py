"""Three nodes on loopback, each with Patroni, PostgreSQL and etcd: gates between them can be shut."""

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from failover.api import get
from failover.etcd import Etcd, members
from failover.gates import LOOPBACK, Gate, Gates
from failover.pooler import Pooler
from failover.processes import free_ports, give, programs, runs_in, start, tree
from memory_server.where import Postgres

NAMES = ("one", "two", "three")

TTL = 20
"""Seconds after which a leader that does not answer has lost its lease; Patroni takes no less. Its default is 30."""

SETTINGS = {
    "ttl": TTL,
    "loop_wait": 2,
    "retry_timeout": 8,
    "failsafe_mode": True,  # without etcd the primary goes on as long as it reaches all members
    "postgresql": {
        "use_pg_rewind": True,
        "remove_data_directory_on_rewind_failure": True,
        "parameters": {"max_connections": 200, "shared_buffers": "32MB", "wal_keep_size": "256MB"},
    },
}


class NotReady(Exception):
    """The nodes did not come to the state that was waited for."""


@dataclass(slots=True)
class Node:
    """A machine: its processes can be killed and frozen, its gates shut."""

    name: str
    folder: Path
    postgres: int
    """The port of PostgreSQL."""
    api: int
    """The port of Patroni."""
    clients: Gate
    peers: Gate
    patroni_gate: Gate
    etcd_gates: list[Gate]
    """Its ways to each etcd, also to its own."""
    etcd: Etcd
    command: list[str]
    patroni: psutil.Process | None = None

    @property
    def gates(self) -> list[Gate]:
        return [self.clients, self.peers, self.patroni_gate, *self.etcd_gates]

    def start(self) -> None:
        """Start etcd, and Patroni, which starts PostgreSQL."""
        self.etcd.start()
        self.patroni = start(self.command, self.folder / "patroni.log")

    def kill(self) -> None:
        """kill -9 to each process of the machine."""
        self._send(signal.SIGKILL, self._patroni_processes())
        self.kill_postgres()
        self.etcd.kill()
        if self.patroni is not None:
            self.patroni.wait(10)

    def kill_postgres(self) -> None:
        """kill -9 to PostgreSQL alone: Patroni sees it."""
        self._send(signal.SIGKILL, self._postgres_processes())

    def freeze(self) -> None:
        self.etcd.freeze()
        self._send(signal.SIGSTOP, [*self._patroni_processes(), *self._postgres_processes()])

    def thaw(self) -> None:
        self.etcd.thaw()
        self._send(signal.SIGCONT, [*self._postgres_processes(), *self._patroni_processes()])

    def status(self) -> dict[str, Any]:
        """Return what Patroni says of itself, past the gates; empty where it says nothing."""
        return get(f"http://{LOOPBACK}:{self.api}/patroni")

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Connect to its PostgreSQL as the administrator, past the gates."""
        return psycopg.connect(
            host=LOOPBACK,
            port=self.postgres,
            user="postgres",
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        )

    def _patroni_processes(self) -> list[psutil.Process]:
        return tree(self.patroni.pid) if self.patroni and self.patroni.is_running() else []

    def _postgres_processes(self) -> list[psutil.Process]:
        try:
            number = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return []
        return tree(number) if runs_in(number, self.folder) else []

    def _send(self, number: signal.Signals, processes: list[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)


class Nodes:
    """The three nodes. `stop` ends every process."""

    def __init__(self, folder: Path, patroni: str, synchronous: bool, pooling: str) -> None:
        """`pooling`: session or transaction, where PgBouncer is in front of the three; else empty."""
        self.folder = folder
        self.synchronous = synchronous
        ports = iter(free_ports(1 + (7 + len(NAMES)) * len(NAMES)))
        self.pooler = Pooler(folder / "pooler", next(ports), pooling) if pooling else None
        etcd = members(folder, {name: (next(ports), next(ports)) for name in NAMES})
        self.nodes = [self._node(name, ports, etcd, patroni) for name in NAMES]
        self.gates = Gates([gate for node in self.nodes for gate in node.gates])

    def start(self) -> None:
        """Start all, and make the database as docs/scale.md says."""
        if self.pooler is not None:
            self.pooler.start()
        for node in self.nodes:
            node.start()
        self.await_whole(180)
        with self.leader().connect() as connection:
            connection.execute("CREATE ROLE memory LOGIN")
            connection.execute("CREATE ROLE memory_server NOLOGIN")
            connection.execute("GRANT memory_server TO memory")
            connection.execute("CREATE DATABASE memory OWNER memory ENCODING 'UTF8' TEMPLATE template0")
        database = Postgres(f"postgresql://postgres@{LOOPBACK}:{self.leader().postgres}/memory")
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")

    def stop(self) -> None:
        self.open_all()
        for node in self.nodes:
            node.thaw()
            node.kill()
        if self.pooler is not None:
            self.pooler.stop()

    @property
    def place(self) -> Postgres:
        """The address for the servers of the memory: all hosts, or the pooler that follows the primary."""
        if self.pooler is not None:
            url = f"postgresql://memory@{LOOPBACK}:{self.pooler.port}/memory"
            return Postgres(url, prepares=self.pooler.mode != "transaction")
        hosts = ",".join(f"{LOOPBACK}:{node.clients.port}" for node in self.nodes)
        return Postgres(f"postgresql://memory@{hosts}/memory?target_session_attrs=read-write")

    def cut_off(self, node: Node) -> None:
        """Part a node from the others: it reaches no etcd and no Patroni, and nobody reaches it but the servers."""
        node.etcd.freeze()
        self.shut([node.peers, *node.etcd_gates, *(other.patroni_gate for other in self.nodes)])

    def shut(self, gates: list[Gate]) -> None:
        self.gates.set(gates, False)

    def open_all(self) -> None:
        for node in self.nodes:
            node.etcd.thaw()
        self.gates.set([gate for node in self.nodes for gate in node.gates], True)

    def leader(self) -> Node:
        """Return the primary by what Patroni says on each node; the one on the newest timeline if there are two."""
        leaders = [(status["timeline"], node) for node, status in self._statuses() if _is_primary(status)]
        if not leaders:
            raise NotReady("no node is a primary")
        return max(leaders, key=lambda pair: pair[0])[1]

    def await_leader(self, seconds: float, other_than: Node | None = None) -> Node:
        """Wait until a node, or another one than this, is the primary."""

        def is_there() -> bool:
            with suppress(NotReady):
                return self.leader() is not other_than
            return False

        _await(is_there, seconds, "another primary" if other_than else "a primary", self.described)
        return self.leader()

    def await_whole(self, seconds: float) -> None:
        """Wait until one node leads and both others stream from it, one of them synchronously if so set."""
        _await(self._is_whole, seconds, "three whole nodes", self.described)

    def described(self) -> str:
        """Return what Patroni says on each node, in a line."""
        return "; ".join(
            f"{node.name}: {status.get('role')} {status.get('state')} timeline {status.get('timeline')}"
            for node, status in self._statuses()
        )

    def _is_whole(self) -> bool:
        """Ask each node itself: what etcd has of a node that is gone stays there until its lease ends."""
        statuses = [status for _, status in self._statuses()]
        primaries = [status for status in statuses if _is_primary(status)]
        if len(primaries) != 1 or len({status.get("timeline") for status in statuses}) != 1:
            return False
        followers = primaries[0].get("replication", [])
        ways = sorted(follower["sync_state"] for follower in followers)
        return (
            sum(status.get("replication_state") == "streaming" for status in statuses) == len(NAMES) - 1
            and [follower["state"] for follower in followers] == ["streaming"] * (len(NAMES) - 1)
            and ways == (["async", "sync"] if self.synchronous else ["async", "async"])
        )

    def _statuses(self) -> list[tuple[Node, dict[str, Any]]]:
        return [(node, node.status()) for node in self.nodes]

    def _node(self, name: str, ports: Iterator[int], etcd: Mapping[str, Etcd], patroni: str) -> Node:
        folder = self.folder / name
        folder.mkdir()
        give(folder)
        postgres, api = next(ports), next(ports)
        clients, peers, patroni_gate = (Gate(next(ports), target) for target in (postgres, postgres, api))
        etcd_gates = [Gate(next(ports), member.port) for member in etcd.values()]
        settings = {**SETTINGS, "synchronous_mode": self.synchronous}
        written: dict[str, Any] = {
            "scope": "memory",
            "name": name,
            "restapi": {
                "listen": f"{LOOPBACK}:{api}",
                "connect_address": f"{LOOPBACK}:{patroni_gate.port}",
            },
            "etcd3": {"hosts": [f"{LOOPBACK}:{gate.port}" for gate in etcd_gates], "use_proxies": True},
            "bootstrap": {
                "dcs": settings,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"auth": "trust"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{LOOPBACK}:{postgres}",
                "connect_address": f"{LOOPBACK}:{peers.port}",
                "data_dir": str(folder / "data"),
                "bin_dir": str(programs()),
                "pgpass": str(folder / "pgpass"),
                "use_unix_socket": True,
                "parameters": {"unix_socket_directories": str(folder)},
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
                "authentication": {
                    "superuser": {"username": "postgres", "password": "postgres"},
                    "replication": {"username": "replicator", "password": "replicator"},
                },
            },
        }
        if self.pooler is not None:
            follow = f"{self.pooler.follow} {clients.port}"
            written["postgresql"]["callbacks"] = {"on_start": follow, "on_role_change": follow}
        (folder / "patroni.yml").write_text(json.dumps(written, indent=1))
        # As a service manager does, since Patroni ends where etcd is there and has not decided on its version.
        command = ["sh", "-c", 'while :; do "$@"; sleep 1; done', "sh", patroni, str(folder / "patroni.yml")]
        return Node(
            name, folder, postgres, api, clients, peers, patroni_gate, etcd_gates, etcd[name], command
        )


def _is_primary(status: dict[str, Any]) -> bool:
    return status.get("role") in ("primary", "master") and status.get("state") == "running"


def _await(is_so: Callable[[], bool], seconds: float, what: str, described: Callable[[], str]) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise NotReady(f"after {seconds:.0f} s there is not: {what} ({described()})")
        time.sleep(0.2)
