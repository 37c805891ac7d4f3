"""`memory-server demo`: the real server, in a process of its own, works through a log as an assistant would."""

import io
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import MCPError

from memory_server.demo import client, file, graph, long_term, questions, sessions, short_term, show
from memory_server.demo.client import Refused, Server
from memory_server.demo.log import Log, read
from memory_server.settings import Settings

ENOUGH = 0.5
"""The share of the questions that must find their answer, or the demo fails."""


@dataclass(slots=True)
class Stored:
    """What the server answered while the log was stored: ids by kind of answer, times, refusals."""

    new: list[int] = field(default_factory=list)
    merged: list[int] = field(default_factory=list)
    near: dict[int, list[int]] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def run(path: Path, settings: Settings) -> int:
    """Work through a log on a temporary database. 0 if every step worked, else 1 after saying why.

    Raises:
        Invalid: the log cannot be read.
    """
    log = read(path)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="replace")
    began = time.perf_counter()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="memory-server-demo-") as folder:
        try:
            anyio.run(_work, log, Path(folder) / "memory.db", settings, problems)
        except* (MCPError, OSError) as lost:
            problems.append(f"The server did not go on: {lost.exceptions[0]}")
        except* Refused as refused:
            problems.append(f"The server refused a call: {refused.exceptions[0]}")
        except* KeyboardInterrupt:
            problems.append("Stopped.")
    show.heading("Done" if not problems else "Failed")
    for problem in problems:
        show.paragraph(problem)
    show.say(f"{time.perf_counter() - began:.1f} s; the temporary database is deleted.")
    return 1 if problems else 0


async def _work(log: Log, db: Path, settings: Settings, problems: list[str]) -> None:
    """Every step in order; what went wrong is added to `problems`."""
    print(
        f"memory-server demo: {len(log.entries)} memories and {len(log.questions)} questions from {log.path}"
    )
    show.heading("The server")
    command = client.command(db, settings)
    show.paragraph(" ".join(command))
    began = time.perf_counter()
    async with client.started(command) as server:
        tools = (await server.client.list_tools()).tools
        ready = time.perf_counter() - began
        show.paragraph(
            f"A process of its own, over stdio. Protocol {server.client.protocol_version}. "
            f"{len(tools)} tools listed {ready:.2f} s after the start: {', '.join(tool.name for tool in tools)}."
        )
        show.say("Its database is a temporary file, deleted at the end. Your own memories are not touched.")
        stored = await _store(server, log)
        problems += stored.refused
        if not stored.new:
            return
        await _show_merged(server, stored)
        await _show_near(server, stored)
        asked = await _ask(server, log)
        problems += await file.look_into(server, db, stored.new[0])
        problems += await graph.connect(server, db)
        problems += await short_term.recall(server)
        problems += await long_term.wake(server)
        problems += await sessions.hand_over(db, settings)
        show.heading("Result")
        questions.summary(asked, stored.took)
        share = questions.found_share(asked)
        if share < ENOUGH:
            problems.append(
                f"Only {share:.0%} of the questions found their answer in the first {questions.FIRST}."
            )


async def _store(server: Server, log: Log) -> Stored:
    show.heading(f"Storing {len(log.entries)} memories")
    stored, progress = Stored(), show.Progress(len(log.entries))
    began = time.perf_counter()
    for done, (number, entry) in enumerate(log.entries.items(), start=1):
        try:
            facts, took = await server.store(entry)
        except Refused as refused:
            stored.refused.append(f"{log.path}, line {number}, was refused: {refused}")
        else:
            stored.took.append(took)
            (stored.merged if facts["consolidated"] else stored.new).append(facts["id"])
            if facts["similar"]:
                stored.near[facts["id"]] = facts["similar"]
        progress.at(done)
    all_stored = time.perf_counter() - began
    problem = await server.all_embedded()
    show.say(
        f"{len(stored.new)} new, {len(stored.merged)} merged, {len(stored.refused)} refused, in {all_stored:.1f} s."
    )
    show.say(
        problem or f"All have their embedding {time.perf_counter() - began:.1f} s after the first was sent."
    )
    return stored


async def _show_merged(server: Server, stored: Stored) -> None:
    show.heading("Merged: the same thing, said again")
    memories = await server.get(list(dict.fromkeys(stored.merged)))
    for id, memory in memories.items():
        for earlier in memory.get("earlier", []):
            show.pair((f"#{id:<4} merged  ", earlier), ("      kept    ", memory["content"]))
    if not memories:
        show.say("nothing")


async def _show_near(server: Server, stored: Stored) -> None:
    show.heading("Kept apart: close in words, and named in `similar`")
    ids = list(dict.fromkeys(id for pair in stored.near.items() for id in (pair[0], *pair[1])))
    memories = await server.get(ids)
    for id, near in stored.near.items():
        for each in near:
            show.pair((f"#{each:<4} ", _content(memories, each)), (f"#{id:<4} ", _content(memories, id)))
    if not ids:
        show.say("nothing")


def _content(memories: dict[int, dict[str, Any]], id: int) -> str:
    return str(memories[id]["content"]) if id in memories else "(forgotten since)"


async def _ask(server: Server, log: Log) -> list[questions.Asked]:
    if not log.questions:
        return []
    show.heading(f"Asking {len(log.questions)} questions")
    show.say("Q is the question, with its project if it has one; A is the best answer.")
    return await questions.ask_all(server, log.questions)
