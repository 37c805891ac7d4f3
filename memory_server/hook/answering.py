"""The server's end: a local socket on which the hooks of this user ask what a prompt should bring to mind, and commands
for the vectors of questions.

One question at a time, in a thread of its own, so that tool calls keep their connections and their JavaScript worker.
Where no socket can be opened, hooks find by words alone.
"""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memory_server.call import acting, deadline
from memory_server.errors import MemoryServerError
from memory_server.hook import place, wire
from memory_server.hook.asking import PATIENCE
from memory_server.hook.reminding import Remind
from memory_server.where import Where

logger = logging.getLogger(__name__)

WAITING = 8
"""Hooks that may wait for their turn."""

PAUSE = 1.0
"""Seconds before it tries again where the system gives no further connection."""

Embed = Callable[[Sequence[str]], wire.Vectors | None]
"""Gives the vectors of questions, where an embedder answers."""


class Answering:
    """Listens from `start` to `close`. `database` is where the memory is that `remind` reads."""

    def __init__(self, database: Where, remind: Remind, embed: Embed) -> None:
        self._database = database
        self._remind = remind
        self._embed = embed
        self._listener: socket.socket | None = None
        self._path: Path | None = None
        self._closed = False

    def start(self) -> None:
        """Open the socket and answer from now on; returns at once. On Windows, or where none can be opened: nothing."""
        if os.name == "nt":
            return
        for path in place.own(self._database):
            try:
                self._listener = _listening(path)
            except OSError as error:
                logger.info("no socket at %s: %s", path, error)
                continue
            self._path = path
            threading.Thread(
                target=self._answer_all, args=(self._listener,), name="hooks", daemon=True
            ).start()
            return

    def close(self) -> None:
        """Take the socket away."""
        self._closed = True
        if self._listener is not None and self._path is not None:
            self._path.unlink(missing_ok=True)
            self._listener.close()

    def _answer_all(self, listener: socket.socket) -> None:
        while not self._closed:
            try:
                hook, _ = listener.accept()
            except OSError as error:
                if self._closed:
                    return
                logger.info("no hook can be answered now: %s", error)
                time.sleep(PAUSE)
                continue
            with hook:
                try:
                    self._answer(hook)
                except (OSError, ValueError) as error:  # the hook has gone, or is another program
                    logger.debug("a hook was not answered: %s", error)
                except MemoryServerError as error:
                    logger.info("a hook was not answered: %s", error)
                except Exception:
                    logger.exception("a hook was not answered")

    def _answer(self, hook: socket.socket) -> None:
        ends = time.monotonic() + PATIENCE
        if not place.is_of_this_user(hook):
            return
        data = wire.read(hook, ends)
        request = wire.texts(data) or wire.question(data)
        if request is None or request.database != place.name_of(self._database):
            return
        with acting.as_(None), deadline.within(ends - time.monotonic()):
            answer = self._answer_to(request)
        if answer is not None:
            hook.settimeout(PATIENCE)
            hook.sendall(answer)

    def _answer_to(self, request: wire.Texts | wire.Question) -> bytes | None:
        if isinstance(request, wire.Question):
            return wire.sent(self._remind(request.prompt, request.max_tokens, request.caller))
        vectors = self._embed(request.texts)
        return None if vectors is None else wire.sent(vectors)


def _listening(path: Path) -> socket.socket:
    """A socket at this path that its owner alone can reach, from the first moment.

    Raises:
        OSError: it cannot be made, or the folder is not this user's own.
    """
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(mode=0o700)
    if not place.is_private(path.parent):
        raise PermissionError(f"{path.parent} can be entered by others")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    new = path.with_suffix(".new")
    try:
        new.unlink(missing_ok=True)
        listener.bind(str(new))
        new.chmod(0o600)
        listener.listen(WAITING)
        new.replace(path)
    except OSError:
        listener.close()
        raise
    return listener
