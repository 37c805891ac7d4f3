"""What happens to the nodes: each event does harm, waits for what follows from it, and repairs."""

import random
import time
from collections.abc import Callable

from failover.api import post
from failover.gates import LOOPBACK
from failover.nodes import TTL, Nodes

PROMOTING = 120.0
"""Seconds within which another node is the primary."""

Event = Callable[[Nodes, random.Random], None]


def kill_postgres(nodes: Nodes, chance: random.Random) -> None:
    """Patroni starts it again or gives the lead away."""
    nodes.leader().kill_postgres()
    time.sleep(chance.uniform(4, 8))


def kill_machine(nodes: Nodes, chance: random.Random) -> None:
    primary = nodes.leader()
    primary.kill()
    nodes.await_leader(PROMOTING, primary)
    time.sleep(chance.uniform(0, 3))
    primary.start()


def freeze_machine(nodes: Nodes, chance: random.Random) -> None:
    """It goes on where it was when another node leads already."""
    primary = nodes.leader()
    primary.freeze()
    nodes.await_leader(PROMOTING, primary)
    time.sleep(chance.uniform(0, 3))
    primary.thaw()


def cut_off(nodes: Nodes, chance: random.Random) -> None:
    """Nobody reaches the primary, and it reaches nobody."""
    primary = nodes.leader()
    nodes.cut_off(primary)
    nodes.shut([primary.clients])
    nodes.await_leader(PROMOTING, primary)
    time.sleep(chance.uniform(0, 3))
    nodes.open_all()


def cut_off_from_peers(nodes: Nodes, chance: random.Random) -> None:
    """The servers reach the old primary still, while another one is made."""
    primary = nodes.leader()
    nodes.cut_off(primary)
    nodes.await_leader(PROMOTING, primary)
    time.sleep(chance.uniform(0, 3))
    nodes.open_all()


def switch_over(nodes: Nodes, chance: random.Random) -> None:
    time.sleep(chance.uniform(0, 2))
    primary = nodes.leader()
    post(f"http://{LOOPBACK}:{primary.api}/switchover", {"leader": primary.name}, 60)
    nodes.await_leader(PROMOTING, primary)


def lose_replica(nodes: Nodes, chance: random.Random) -> None:
    primary = nodes.leader()
    replica = chance.choice([node for node in nodes.nodes if node is not primary])
    replica.kill()
    time.sleep(chance.uniform(1, 6))
    replica.start()


def lose_etcd(nodes: Nodes, chance: random.Random) -> None:
    """For longer than a lease lasts."""
    nodes.kill_etcd()
    time.sleep(TTL + chance.uniform(2, 8))
    nodes.start_etcd()


def lose_both(nodes: Nodes, chance: random.Random) -> None:
    """The primary and etcd: nobody leads until etcd is back."""
    primary = nodes.leader()
    nodes.kill_etcd()
    primary.kill()
    time.sleep(chance.uniform(2, 10))
    nodes.start_etcd()
    nodes.await_leader(PROMOTING, primary)
    primary.start()


EVENTS: dict[str, Event] = {
    "PostgreSQL of the primary killed": kill_postgres,
    "machine of the primary killed": kill_machine,
    "machine of the primary frozen": freeze_machine,
    "primary cut off": cut_off,
    "primary cut off from its peers alone": cut_off_from_peers,
    "switched over on purpose": switch_over,
    "a replica lost": lose_replica,
    "etcd lost": lose_etcd,
    "etcd and the primary lost": lose_both,
}
