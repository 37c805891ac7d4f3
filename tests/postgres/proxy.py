"""A proxy on loopback that can fall silent: it goes on taking bytes and gives none."""

import socket
import threading
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from memory_server.where import Postgres


class Proxy:
    """Forwards to the server of a place, whose address is a socket in a folder."""

    def __init__(self, place: Postgres) -> None:
        self.target = place
        url = urlsplit(place.url)
        (folder,) = parse_qs(url.query)["host"]
        self._target = f"{folder}/.s.PGSQL.5432"
        self._sockets: list[socket.socket] = []
        self.connections = 0
        """How many connections clients have made."""
        self.silent = False
        self.silent_before = b""
        """What a client sends that is not forwarded any more, nor anything after it."""
        self.silent_after = b""
        """What a client sends that is forwarded still, and whose answer is not."""
        self.replaced: dict[bytes, bytes] = {}
        """What a client sends, and what the server gets instead."""
        self.port = 0
        self.listen()
        self.place = Postgres(f"postgresql://postgres@127.0.0.1:{self.port}{url.path}", place.tenant)

    def speak(self) -> None:
        """Forward everything on connections that are made from now on."""
        self.silent, self.silent_before, self.silent_after = False, b"", b""

    def refuse(self) -> None:
        """Let nobody connect any more."""
        with suppress(OSError):  # it listens no more
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()  # it may hold a connection that is not in the list yet
        self._listener.close()

    def listen(self) -> None:
        """Let clients connect again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        self.refuse()
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.socket(socket.AF_UNIX)
                self._sockets += client, server
                server.connect(self._target)
                threading.Thread(target=self._send_on, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _send_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                self.silent |= bool(self.silent_before) and self.silent_before in data
                if self.silent:
                    continue
                for sent, forwarded in self.replaced.items():
                    data = data.replace(sent, forwarded)
                self.silent = bool(self.silent_after) and self.silent_after in data
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if not self.silent:
                    client.sendall(data)
            client.shutdown(socket.SHUT_WR)
