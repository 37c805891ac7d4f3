"""The three etcd, one on each machine: what a majority of them has agreed on holds."""

import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from failover.gates import LOOPBACK
from failover.processes import give, start


@dataclass(slots=True)
class Etcd:
    """A member. Frozen it is, to all others, as one that is cut off."""

    port: int
    """The port for Patroni."""
    command: list[str]
    log: Path
    process: psutil.Process | None = None

    def start(self) -> None:
        self.process = start(self.command, self.log)

    def kill(self) -> None:
        if self.process is not None:
            with suppress(psutil.NoSuchProcess):
                self.process.kill()
                self.process.wait(10)

    def freeze(self) -> None:
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        if self.process is not None:
            with suppress(psutil.NoSuchProcess):
                self.process.send_signal(number)


def members(folder: Path, ports: Mapping[str, tuple[int, int]]) -> dict[str, Etcd]:
    """Make a member for each name, of its ports for clients and for the other members."""
    cluster = ",".join(f"{name}=http://{LOOPBACK}:{peer}" for name, (_, peer) in ports.items())
    return {name: _member(folder / f"etcd-{name}", name, *ports[name], cluster) for name in ports}


def _member(folder: Path, name: str, client: int, peer: int, cluster: str) -> Etcd:
    folder.mkdir()
    give(folder)
    client_url, peer_url = f"http://{LOOPBACK}:{client}", f"http://{LOOPBACK}:{peer}"
    command = [
        shutil.which("etcd") or "etcd", "--name", name, "--data-dir", str(folder / "data"),
        "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
        "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
        "--initial-cluster", cluster, "--heartbeat-interval", "250", "--election-timeout", "2500",
    ]  # fmt: skip
    return Etcd(client, command, folder.with_suffix(".log"))
