"""`memory-server view` ends at a signal, while a job is inside the model and while pages are asked for."""

import http.client
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from tests.conftest import Servers, Sqlite, until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

BACKLOG = """
    WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 400)
    INSERT INTO memories (content, type)
    SELECT 'Stone ' || value || ' lies ' || hex(randomblob(400)), 'learning' FROM numbers
"""

NOTE = "The address works once, on this machine. Ctrl-C ends it.\n"

CLIENTS = 4


def ask(host: str, path: str, cookie: str = "") -> tuple[int, str]:
    """The status of a page and the cookie that it sets; 0 where the server has ended."""
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.request("GET", path, headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("set-cookie", "").partition(";")[0]
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def opened(process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    """The host of the pages and the cookie that lets a browser in."""
    assert process.stdout is not None
    parts = urlsplit(process.stdout.readline().decode().strip())
    status, cookie = ask(parts.netloc, f"/?{parts.query}")
    assert (status, bool(cookie)) == (303, True)
    assert ask(parts.netloc, "/", cookie)[0] == 200
    return parts.netloc, cookie


@pytest.fixture
def viewing() -> Iterator[Callable[[Servers], "subprocess.Popen[bytes]"]]:
    """Starts `view`; a process that a failed test has left is killed."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(server: Servers) -> "subprocess.Popen[bytes]":
        processes.append(server.process("view", "--embedder", "bundled"))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_a_job_is_inside_the_model_and_pages_are_asked_for(
    server: Servers,
    sqlite: Sqlite,
    by: signal.Signals,
    viewing: Callable[[Servers], "subprocess.Popen[bytes]"],
) -> None:
    sqlite(server.db, BACKLOG)
    server.cold = True
    process = viewing(server)
    host, cookie = opened(process)
    until(lambda: 0 < int(sqlite(server.db, "SELECT count(*) FROM embedding_queue")) < 400, "it embeds", 60)
    answered = threading.Semaphore(0)

    def look() -> None:
        while ask(host, "/?q=stone", cookie)[0] == 200:
            answered.release()

    clients = [threading.Thread(target=look) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for _ in clients:
        answered.acquire()
    process.send_signal(by)
    _, errors = process.communicate(timeout=60)
    for client in clients:
        client.join()
    assert (process.returncode, errors.decode()) == (0, NOTE)
    assert sqlite(server.db, "PRAGMA integrity_check") == "ok"
    assert not server.db.with_name("memory.db-journal").exists()
