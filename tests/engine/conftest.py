"""Servers with an engine of their own."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests import warm
from tests.conftest import Servers, until


@pytest.fixture
def server(tmp_path: Path, user_folders: dict[str, str], store: str) -> Iterator[Servers]:
    """Servers whose engine starts warm and ends soon. Its sockets are in a folder of their own."""
    with served(tmp_path, user_folders, store) as servers:
        yield servers


@pytest.fixture
def cold_engine(server: Servers) -> None:
    """The engine of `server` starts as that of users does."""
    server.env.pop("WARM_ENGINES", None)


@contextmanager
def served(path: Path, user_folders: dict[str, str], store: str) -> Iterator[Servers]:
    runtime = tempfile.mkdtemp(dir=user_folders["XDG_RUNTIME_DIR"])
    own = {**warm.engines(), "XDG_RUNTIME_DIR": runtime, "MEMORY_SERVER_ENGINE": "auto"}
    servers = Servers(path, {**user_folders, **own}, store)
    servers.cold = True
    yield servers
    for pid in engines(servers):
        with suppress(ProcessLookupError):  # nobody is connected: it may end meanwhile
            os.kill(pid, signal.SIGKILL)


def folder(server: Servers) -> Path:
    """The folder of the sockets."""
    return Path(server.env["XDG_RUNTIME_DIR"]) / "memory-server"


def engines(server: Servers) -> list[int]:
    """The processes of the engines of these servers. One that an engine just starts looks like it for a moment."""
    parents, place = dict[int, int](), f"{folder(server)}/"
    for process in psutil.process_iter(["cmdline"]):  # to ask all for their parents takes as long again
        if any(word.startswith(place) for word in process.info["cmdline"] or []):
            with suppress(psutil.NoSuchProcess):
                parents[process.pid] = process.ppid()
    return [pid for pid, parent in parents.items() if parent not in parents]


def kill(server: Servers) -> None:
    """Kill the engine, and wait until it holds nothing any more."""
    (engine,) = map(psutil.Process, engines(server))
    engine.kill()
    threads = Path(f"/proc/{engine.pid}/task")

    def has_ended() -> bool:
        with suppress(psutil.NoSuchProcess, FileNotFoundError):  # it goes while it is looked at
            return engine.status() == psutil.STATUS_ZOMBIE and len(list(threads.iterdir())) == 1
        return True

    until(has_ended, "all its threads have ended")
