"""TCP gates on loopback: a shut one takes bytes and passes none, as a network does that has lost a machine."""

import asyncio
import threading
from contextlib import suppress

LOOPBACK = "127.0.0.1"


class Gate:
    """A port that leads to another one.

    What was sent while the gate was shut arrives after it has been opened, as packets do that are sent again: so a
    COMMIT can reach a server long after its client gave up.
    """

    def __init__(self, port: int, target: int) -> None:
        self.port = port
        self._target = target
        self._is_open = asyncio.Event()
        self._is_open.set()

    async def serve(self) -> None:
        await asyncio.start_server(self._accept, LOOPBACK, self.port)

    def set(self, is_open: bool) -> None:
        """Open or shut it; called in the thread of the gates."""
        if is_open:
            self._is_open.set()
        else:
            self._is_open.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._is_open.wait()
        try:
            behind = await asyncio.open_connection(LOOPBACK, self._target)
        except OSError:
            writer.transport.abort()  # as a port at which nobody listens
            return
        await asyncio.gather(self._pass(reader, behind[1]), self._pass(behind[0], writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._is_open.wait()
                writer.write(data)
                await writer.drain()
        await self._is_open.wait()
        writer.close()


class Gates:
    """All gates, in one thread."""

    def __init__(self, gates: list[Gate]) -> None:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(gates, ready), daemon=True).start()
        ready.wait(10)

    def set(self, gates: list[Gate], is_open: bool) -> None:
        """Open or shut these."""
        for gate in gates:
            self._loop.call_soon_threadsafe(gate.set, is_open)

    def _run(self, gates: list[Gate], ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        for gate in gates:
            self._loop.run_until_complete(gate.serve())
        ready.set()
        self._loop.run_forever()
