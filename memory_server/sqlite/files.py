"""The database file before it is opened."""

import os
import stat
from pathlib import Path

from memory_server.errors import Mend, Unavailable


def prepare(path: Path, make_folders: bool) -> None:
    """A new file is for its owner alone, and so is a folder that is made for it.

    The file is created and closed before the driver opens it: closing any handle of an open database
    drops this process's locks on it.
    """
    if path.is_dir():
        raise Unavailable(f"{path} is a folder, not a file.", Mend.USE_ANOTHER_FILE)
    if path.exists():
        return
    if not path.parent.is_dir():
        if not make_folders and not path.parent.parent.is_dir():
            raise Unavailable(
                f"The folder {path.parent} does not exist. The user can create it with mkdir -p.",
                Mend.USE_ANOTHER_FILE,
            )
        path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR))
