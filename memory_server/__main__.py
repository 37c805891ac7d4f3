"""The program: `memory-server`, and `python -m memory_server` alike."""

import gc
import os
import sys
from typing import Any

from memory_server import flags
from memory_server.hook import VERBS

FOR_PEOPLE = (*VERBS, "-h", "--help")
"""What follows `hook` where a person types it. All else that has input is a client's event, which must never fail."""


BEFORE_AN_ACT = "PreToolUse"
"""The event before a tool of the client runs, for which the rules are read."""


def main() -> int:
    """Run the program. What it imports stays, so looking for garbage begins afterwards: see `engine/garbage.py`.

    A hook and the version import nothing of the server.
    """
    gc.disable()
    arguments = flags.of_hook_first(sys.argv[1:])
    match arguments:
        case ["--version" | "-V" | "version", *json] if json in ([], ["--json"]):
            from memory_server import __version__

            shown = f'{{"version": "{__version__}"}}' if json else f"memory-server {__version__}"
            sys.stdout.write(f"{shown}\n")
            return 0
        case ["hook", event, *_] if event not in FOR_PEOPLE and (data := _sent(event)) is not None:
            if wrong := flags.unknown_hook_of(arguments[2:], os.environ):
                sys.stderr.write(f"memory-server: {wrong}\n")
                if event != BEFORE_AN_ACT:  # there rules hold all the same
                    return 1
            try:
                _hook(arguments[1:], data)
            except (
                ImportError
            ):  # half an installation must not keep a person from working: Cursor takes silence for a no
                return int("cursor" in arguments)
            os._exit(0)  # all is written and closed; to take down the modules costs a tenth
        case ["engine", "run", path, identity]:
            return _engine(path, identity)
        case ["engine", "read", link, server]:
            _read(int(link), int(server))
    if "_MEMORY_SERVER_COMPLETE" not in os.environ:
        from memory_server.front.command import run as relayed_command

        if (code := relayed_command(sys.argv[1:], os.environ)) is not None:
            os._exit(code)
    front = None
    server_flags = None if "_MEMORY_SERVER_COMPLETE" in os.environ else flags.of_server(sys.argv[1:])
    if server_flags is not None:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # so Ctrl-C during the imports prints no traceback
        from memory_server.front.main import begun, relayed

        front = begun(server_flags, os.environ)
        if front is not None:
            relayed(front, server_flags, os.environ)
    from memory_server.cli.main import main as run

    return _left_by_threads(run(front=front))


def _sent(event: str) -> bytes | None:
    """Read what a client has sent. None: nothing was, and the word is no event, so a person has mistyped it."""
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    return data if data or event in flags.HOOKS else None


def _hook(arguments: list[str], data: bytes) -> None:
    """Run a hook: in an engine, or where there can be none in this process."""
    from memory_server.hook import written

    if arguments[0] == written.EVENT and not written.matters(data):
        return
    from memory_server.front.hook import relay

    is_late = False
    try:
        if relay(arguments, os.environ, data):
            return
    except TimeoutError:
        is_late = True
    if arguments[0] == BEFORE_AN_ACT:
        from memory_server.hook.before import main as before_an_act

        if before_an_act(arguments, os.environ, data, is_late):
            from memory_server.front.hook import start

            start(arguments, os.environ)
    elif is_late:
        from memory_server.hook.answering import late

        late(arguments, os.environ)
    else:
        from memory_server.hook.main import main as hook

        hook(arguments, os.environ, data)


def _engine(path: str, identity: str) -> int:
    """Run the engine that a front has started. It listens before the rest is imported."""
    from pathlib import Path

    from memory_server.engine.door import Door, detach

    detach()
    door = Door(Path(path))
    os.dup2(0, 1)  # the front that waits for it sees the end of the output
    from memory_server.cli.guard import configured, guarded
    from memory_server.engine.process import run

    return guarded(lambda: run(door, identity, configured({}), _command))


def _read(link: int, server: int) -> None:
    """Carry out searches for the server over HTTP that has started this process. Never returns."""
    from memory_server.engine import arenas

    arenas.keep_few()
    from memory_server.cli.guard import set_up
    from memory_server.engine.reader import run

    run(link, server, set_up)


def _command(*arguments: Any) -> Any:
    """Run the command of a client. Few engines do."""
    from memory_server.cli.relayed import run

    return run(*arguments)


def _left_by_threads(code: int) -> int:
    """Returns the exit code, or ends the process here if a job still runs.

    A job may be inside the model: the end of the interpreter stops its thread there, which aborts the process.
    """
    import threading

    if any(thread.daemon for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
