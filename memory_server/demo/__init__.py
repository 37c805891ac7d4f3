"""`memory-server demo`: assistants work with the real server, and each answer is printed.

The server runs as a process of its own on a temporary file; the official client calls it over stdio. The demo
judges no answer: tests/test_demo.py says what they must be.
"""

import io
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp import MCPError

from memory_server.demo import full, story
from memory_server.demo.log import DEMO_LOG, read
from memory_server.demo.stage import DemoRefused, heading, paragraph, say, translated
from memory_server.settings import Settings


def run(path: Path | None, settings: Settings, *, whole: bool = False) -> int:
    """Play the story, or with a log of one's own or `whole` every scene of a log, on a temporary database.

    0 if the server answered every call, else 1 after saying why.

    Raises:
        Invalid: the log cannot be read.
    """
    log = read(path or DEMO_LOG)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="replace")
    play = full.play if whole or path else story.play
    began = time.perf_counter()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="memory-server-demo-") as folder:
        try:
            anyio.run(play, log, Path(folder) / "memory.db", settings, problems)
        except* (MCPError, OSError) as lost:
            problems.append(f"The server stopped answering: {lost.exceptions[0]}")
        except* DemoRefused as refused:
            problems.append(f"The server refused a call: {refused.exceptions[0]}")
        except* KeyboardInterrupt:
            problems.append("Stopped.")
    heading("Failed" if problems else "Done")
    for problem in problems:
        paragraph(translated(problem))
    say(translated(f"{time.perf_counter() - began:.1f} s; the temporary database is deleted."))
    return 1 if problems else 0
