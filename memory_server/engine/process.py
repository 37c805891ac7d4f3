"""The process of an engine: it takes connections, and ends some time after the last one."""

import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from pydantic import ValidationError

from memory_server import __version__
from memory_server.domain import trust
from memory_server.engine import arenas, leftovers
from memory_server.engine.door import Door
from memory_server.engine.sessions import Command, Sessions
from memory_server.front import place
from memory_server.front.finding import OF_A_SESSION
from memory_server.mcp import streams
from memory_server.project import Project
from memory_server.settings import Settings
from memory_server.stores import clock

logger = logging.getLogger(__name__)

CLOSING = 5.0
"""Seconds that calls which still run have at the end."""

LOOK = 0.05
"""Seconds between two looks whether they have ended; in so much time the answer of the last one is on its way."""

LEAST = 0.1
"""Seconds that an engine waits for its first client at least."""

HELLO = 5.0
"""Seconds that a connection has to say what it wants."""

READY = b"\n"
"""What an engine says to a session that it serves."""


class EngineProcess:
    """Serves the connections of a door."""

    def __init__(self, door: Door, identity: str, settings: Settings, command: Command) -> None:
        self._door, self._identity, self._settings, self._command = door, identity, settings, command
        self._sessions = Sessions(settings)
        self._number = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._changed = asyncio.Event()
        self._stop = False
        self._server: asyncio.Server

    async def run(self) -> None:
        """Serve until nobody has been connected for as long as the settings say, or a signal or a client ends it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        self._server = await asyncio.start_unix_server(
            self._take, sock=self._door.listener, limit=streams.LONGEST
        )
        while not self._stop:
            self._changed.clear()
            idle = max(LEAST, self._settings.engine_idle)
            with anyio.move_on_after(None if self._number else idle) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught and not self._number:
                break
        self._server.close()
        await self._let_calls_end()

    @property
    def _database(self) -> str:
        """The name by which hooks and commands know the database."""
        return place.name_of(self._settings.db)

    def _is_in(self, zone: str) -> bool:
        """Return True where a command of this zone prints what it would print itself."""
        return self._settings.time_zone is not None or zone == (self._settings.zone or "")

    def close(self) -> None:
        self._door.close()
        self._sessions.close(CLOSING)

    async def _let_calls_end(self) -> None:
        """Read nothing more, and wait until the calls that run are answered."""
        for writer in self._writers:
            cast(asyncio.ReadTransport, writer.transport).pause_reading()
        threads = anyio.to_thread.current_default_thread_limiter()
        with anyio.move_on_after(CLOSING):
            await anyio.sleep(LOOK if self._writers else 0)
            while threads.borrowed_tokens:
                await anyio.sleep(LOOK)

    def _end(self) -> None:
        self._stop = True
        self._changed.set()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._number += 1
        self._writers.add(writer)
        self._changed.set()
        try:
            await self._answer(reader, writer)
        except (OSError, ValueError) as error:  # it has gone, or is another program
            logger.info("a connection has ended: %s", error)
        except Exception:
            logger.exception("a connection has ended")
        finally:
            self._number -= 1
            self._writers.remove(writer)
            self._changed.set()
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not place.is_of_this_user(writer.get_extra_info("socket")):
            return
        with anyio.fail_after(HELLO):
            members = json.loads(await reader.readline())
        match members:
            case {"engine": self._identity} if self._sessions.has_lost_file:
                self._server.close()
                self._door.give_up()  # the front starts another engine, which makes a new file
            case {
                "command": [*words], "database": self._database, "session": dict(session), "zone": zone
            } if self._is_in(zone):  # fmt: skip
                writer.write(READY)
                await writer.drain()
                await _send(writer, await self._sessions.command(self._command, words, session, members))
            case {"engine": self._identity, "session": dict(session), "folder": str(folder)}:
                await self._serve(session, Path(folder), reader, writer)
            case {
                "hook": [*arguments], "heard": True, "database": self._database, "environment": dict(environment),
                "input": str(text), "folder": str(folder),
            }:  # fmt: skip
                await self._sessions.hear(arguments, environment, text, Path(folder))
            case {
                "hook": [*arguments], "database": self._database, "environment": dict(environment),
                "input": str(text), "folder": str(folder),
            }:  # fmt: skip
                answer = await self._sessions.hook(arguments, environment, text, Path(folder))
                await _send(writer, {"answer": answer})
            case {"stamps": self._database, "session": str(session), "project": str(key)}:
                await self._stamp(self._sessions.stamp_of(session, Project(key, "")), reader, writer)
            case {"engine": str(), "status": True}:
                clients = self._number - 1
                await _send(writer, {"pid": os.getpid(), "version": __version__, "clients": clients})
            case {"engine": str(), "stop": "idle"} if self._number > 1:
                writer.write(READY)
                await writer.drain()
            case {"engine": str(), "stop": "idle" | "all"}:
                self._end()
                await anyio.sleep_forever()  # the connection ends with the process

    async def _serve(
        self,
        session: dict[str, Any],
        folder: Path,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            settings = Settings(**{name: session[name] for name in OF_A_SESSION if name in session})
        except ValidationError:
            return  # the front's own process says why
        writer.write(READY)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._sessions.settle, settings, folder)
            await self._sessions.serve(settings, folder, reader, writer)

    async def _stamp(
        self, stamp: trust.Stamp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer each text, a line of JSON, with its origin, until the other end closes. It counts as no client: that
        is another connection, perhaps of another engine."""
        self._number -= 1
        try:
            while line := await reader.readline():
                await _send(writer, await anyio.to_thread.run_sync(stamp, json.loads(line)))
        finally:
            self._number += 1


async def _send(writer: asyncio.StreamWriter, value: object) -> None:
    """Answer with a line of JSON."""
    writer.write(json.dumps(value).encode() + b"\n")
    await writer.drain()


def run(door: Door, identity: str, settings: Settings, command: Command) -> int:
    """Serve until the engine has nothing to do. Never returns: the process ends here."""
    arenas.keep_few()
    logging.getLogger().addHandler(leftovers.Bounded(sys.stderr.fileno()))
    anyio.run(_run, door, identity, settings, command)
    return 0


async def _run(door: Door, identity: str, settings: Settings, command: Command) -> None:
    engine = EngineProcess(door, identity, settings, command)
    await engine.run()
    engine.close()
    leftovers.tidy(door.path.with_suffix(""), door.is_ours, clock())
    os._exit(0)  # calls that still run have had their time
