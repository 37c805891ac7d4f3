"""What the laboratory of failover measures with; `python scripts/lab/failover` needs Patroni and etcd."""

import socket
import threading
from collections.abc import Iterator

import pytest
from failover.gates import LOOPBACK, Gate, Gates
from failover.load import Call, faults_of, outage, rate
from failover.processes import free_ports
from failover.report import Line, summary

MEND = "It cannot be reached. Nothing was written. Then call again."


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that sends back what it gets from its first client."""
    listener = socket.create_server((LOOPBACK, 0))

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            while data := client.recv(100):
                client.sendall(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.close()
    thread.join(10)


def test_what_was_sent_through_a_shut_gate_arrives_once_it_is_opened(echo: int) -> None:
    (port,) = free_ports(1)
    gate = Gate(port, echo)
    gates = Gates([gate])
    with socket.create_connection((LOOPBACK, port), timeout=10) as client:
        client.sendall(b"before")
        assert client.recv(100) == b"before"
        gates.set([gate], False)
        client.sendall(b"COMMIT")
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(100)
        gates.set([gate], True)
        client.settimeout(10)
        assert client.recv(100) == b"COMMIT"


def test_an_outage_is_the_longest_time_in_which_one_server_confirmed_nothing() -> None:
    calls = [Call(0, 0, moment, "") for moment in (1, 2, 3, 9)] + [
        Call(1, 0, moment, "") for moment in range(10)
    ]
    assert outage(calls, 2, 0, 10) == 6
    assert outage([*calls, Call(0, 4, 5, MEND)], 2, 0, 10) == 6  # a refusal confirms nothing
    assert outage([*calls, Call(0, 4, 5, "")], 2, 0, 10) == 4
    assert rate(calls, 0, 10) == 1.3


def test_a_call_that_lasts_too_long_or_names_no_mend_is_a_fault() -> None:
    assert faults_of([Call(0, 0, 20.9, MEND), Call(0, 0, 20.9, "")]) == []
    assert len(faults_of([Call(0, 0, 21.1, "")])) == 1
    assert len(faults_of([Call(0, 0, 1, "It cannot be reached.")])) == 1
    assert faults_of([Call(0, 0, 1, "Too many requests. Call again in 5 s.")]) == []


def test_a_table_has_a_row_for_each_kind_of_event() -> None:
    def line(kind: str, outage: float, lost: int) -> Line:
        return Line(
            kind, "synchronous", "1.1", 4, 2, "one two", outage, 30, 20.6, 40, 5, 39, 500, 8, 1, lost, 0
        )

    table = summary([line("killed", 20, 0), line("killed", 24, 2), line("cut off", 23, 0)]).splitlines()
    assert table[0] == "3 events: HTTP, three etcd, 4 servers with 2 writers, synchronous"
    assert len(table) == 7
    assert table[5].startswith("| killed | 2 | 24 s | 24 s | 1,000 | 16 | 2 | 2 | 0 | 20.6 s |")
    assert table[6].startswith("| all | 3 |")
