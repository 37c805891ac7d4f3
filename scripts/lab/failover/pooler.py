"""A PgBouncer that leads to the primary: Patroni of each node says that its node leads now."""

import os
import shutil
from pathlib import Path

import psutil

from failover.gates import LOOPBACK
from failover.processes import USER, give, start

_FOLLOW = """#!/bin/sh
# PORT ACTION ROLE CLUSTER
case "$3" in primary|master)
    printf '[databases]\\nmemory = host={host} port=%s\\n' "$1" > {folder}/target.ini
    kill -HUP "$(cat {folder}/pid)"
esac
"""


class Pooler:
    """A PgBouncer to which Patroni of each node says by `follow PORT` that its node leads now."""

    def __init__(self, folder: Path, port: int, mode: str) -> None:
        folder.mkdir()
        give(folder)
        self.port = port
        self.mode = mode
        self.follow = folder / "follow"
        self._folder = folder
        self._process: psutil.Process | None = None
        (folder / "target.ini").write_text(f"[databases]\nmemory = host={LOOPBACK} port=1\n")
        (folder / "users.txt").write_text('"memory" ""\n')
        settings = {
            "listen_addr": LOOPBACK, "listen_port": port, "unix_socket_dir": "", "pool_mode": mode,
            "auth_type": "trust", "auth_file": folder / "users.txt", "pidfile": folder / "pid",
            "default_pool_size": 40, "server_login_retry": 1, "ignore_startup_parameters": "extra_float_digits",
        }  # fmt: skip
        lines = [f"{name} = {value}" for name, value in settings.items()]
        (folder / "pgbouncer.ini").write_text(
            "\n".join([f"%include {folder / 'target.ini'}", "[pgbouncer]", *lines, ""])
        )
        self.follow.write_text(_FOLLOW.format(folder=folder, host=LOOPBACK))
        self.follow.chmod(0o755)
        for path in folder.iterdir():
            if os.geteuid() == 0:
                shutil.chown(path, USER, USER)

    def start(self) -> None:
        command = [shutil.which("pgbouncer") or "pgbouncer", str(self._folder / "pgbouncer.ini")]
        self._process = start(command, self._folder / "log")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
