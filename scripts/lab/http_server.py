"""A server over HTTP in a process of its own, on a file of its own, for programs that load and probe it."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

START = 60.0
"""Seconds that a server may take until it listens."""

NEWER = "2026-07-28"

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Server:
    process: "subprocess.Popen[bytes]"
    port: int
    db: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def resident(self) -> int:
        """Bytes of memory, on Linux."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * 4096

    def processor(self) -> float:
        """Seconds of CPU that it has used, on Linux."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Server]:
    """A server, ended afterwards."""
    db, log = folder / "memory.db", folder / "server.log"
    command = [
        sys.executable,
        "-m",
        "memory_server",
        "serve",
        "--http",
        "0",
        "--db",
        str(db),
        *arguments,
    ]
    with log.open("ab") as errors:
        begin = errors.tell()
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stderr=errors, env=environment()
        )
    try:
        yield Server(process, port_of(process, log, begin), db, log)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=60)


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


def token(db: Path, name: str) -> str:
    """A new token for a person."""
    command = [sys.executable, "-m", "memory_server", "token", "add", name, "--all-projects", "--db", str(db)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return done.stdout.strip()


def port_of(process: "subprocess.Popen[bytes]", log: Path, begin: int) -> int:
    until = time.monotonic() + START
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text(encoding="utf-8")[begin:])
        if found:
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError(f"the server does not listen:\n{log.read_text(encoding='utf-8')[-2000:]}")


def call(id: int, tool: str, arguments: dict[str, Any], newer: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """A call of a tool as a client sends it: its body, and the headers that the newer era needs."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {}
    if newer:
        known = "io.modelcontextprotocol/"
        params["_meta"] = {
            f"{known}protocolVersion": NEWER,
            f"{known}clientInfo": {"name": "load", "version": "1"},
            f"{known}clientCapabilities": {},
        }
        headers = {"MCP-Protocol-Version": NEWER, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}, headers


def hello() -> dict[str, Any]:
    """How a client of the older era begins."""
    about = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "load", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}


def answered(body: bytes) -> dict[str, Any]:
    """What a tool has answered.

    Raises:
        ValueError: it was refused, or it is no answer of a tool.
    """
    result = json.loads(body).get("result") or {}
    if result.get("isError") or "structuredContent" not in result:
        raise ValueError(body[:300].decode(errors="replace"))
    found: dict[str, Any] = result["structuredContent"]
    return found
