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


def lose_an_etcd(nodes: Nodes, chance: random.Random) -> None:
    """One of three: the other two agree without it. Where it led them, they choose another one first."""
    etcd = chance.choice(nodes.nodes).etcd
    etcd.kill()
    time.sleep(chance.uniform(4, 8))
    etcd.start()


def lose_etcd(nodes: Nodes, chance: random.Random) -> None:
    """Two of three, for longer than a lease lasts: nobody can be chosen, and the primary goes on."""
    lost = [node.etcd for node in chance.sample(nodes.nodes, 2)]
    for etcd in lost:
        etcd.kill()
    time.sleep(TTL + chance.uniform(2, 8))
    for etcd in lost:
        etcd.start()


def lose_both(nodes: Nodes, chance: random.Random) -> None:
    """The machine of the primary, and the etcd of another: nobody leads until that is back."""
    primary = nodes.leader()
    etcd = chance.choice([node for node in nodes.nodes if node is not primary]).etcd
    etcd.kill()
    primary.kill()
    time.sleep(chance.uniform(2, 10))
    etcd.start()
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
    "an etcd of three lost": lose_an_etcd,
    "two etcd of three lost": lose_etcd,
    "two etcd and the primary lost": lose_both,
}
