"""A real server as a process of its own, its calls, and lines for a terminal: all scenes share them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import Implementation

from memory_server import __version__, app, flags, stores
from memory_server.call import acting
from memory_server.domain import plain_rules, sight, trust
from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from memory_server.language import catalogue
from memory_server.language.lines import wrapped
from memory_server.language.text import width
from memory_server.project import project_of
from memory_server.settings import EMBEDDER_KEY, Settings
from memory_server.stores import clock

PATIENCE = 120.0
"""Seconds until the demo gives up on one call, or on embeddings. Both take a few seconds on a slow machine."""

COLUMNS = min(100, shutil.get_terminal_size((100, 24)).columns)
"""Width of the output in terminal columns; wider text is wrapped or cut. Lines over 100 are hard to read."""

JSON = dict[str, Any]


class DemoRefused(Exception):
    """The server answered with an error, or with something that its own schema forbids; the text says what."""


def started(
    db: Path, settings: Settings, name: str = "demo", *flags: str, folder: Path | None = None
) -> Client:
    """`async with started(…) as server` starts a server process in a folder, called by a client of this name, and ends
    it."""
    arguments = ["-m", "memory_server", "--db", str(db), "--engine", "off", "--embedder", settings.embedder]
    arguments += ["--embedder-url", settings.embedder_url, "--log-level", settings.log_level]
    arguments += ["--allow-secrets"] if settings.allow_secrets else []
    key = settings.embedder_key  # a client hands on few variables
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*arguments, *flags],
        env={EMBEDDER_KEY: key} if key else None,
        cwd=folder,
    )
    about = Implementation(name=name, version=__version__)
    return Client(stdio_client(parameters), read_timeout_seconds=PATIENCE, client_info=about)


async def call(server: Client, tool: str, **arguments: Any) -> JSON:
    """The answer of a tool."""
    try:
        result = await server.call_tool(tool, arguments)
    except RuntimeError as error:  # so the client reports an answer that breaks the tool's own schema
        raise DemoRefused(str(error).partition("\n")[0]) from error
    if result.is_error:
        message = " ".join(block.text for block in result.content if block.type == "text")
        raise DemoRefused(message.removeprefix("Error: "))
    answer: JSON = result.structured_content
    return answer


async def say_call(server: Client, tool: str, **arguments: Any) -> JSON:
    """Print a call, then make it."""
    paragraph(f"{tool} {json.dumps(arguments, ensure_ascii=False)}", "> ", "  ")
    return await call(server, tool, **arguments)


async def say_whole_call(server: Client, tool: str, **arguments: Any) -> JSON:
    """Print a call, then make it until its answer is whole: what was written last may wait for its embedding."""
    answer = await say_call(server, tool, **arguments)
    with anyio.move_on_after(PATIENCE):
        while answer.get("degraded"):
            await anyio.sleep(0.1)
            answer = await call(server, tool, **arguments)
    return answer


async def embedded(server: Client) -> str:
    """Wait until no memory waits for its embedding, or none will come; say which."""
    with anyio.move_on_after(PATIENCE):
        while True:
            state = (await call(server, "memory_stats"))["embeddings"]
            if state["waiting"] == 0 or state.get("problem"):
                return str(state.get("problem") or "Every memory has its embedding.")
            await anyio.sleep(0.1)
    return "Some memories still wait for their embedding."


async def looked_up(db: Path, folder: Path) -> None:
    """Wait until a background job has looked up what a memory names in a folder."""
    database, project = stores.at(db, clock), project_of(None, folder).key
    with anyio.move_on_after(PATIENCE):
        while True:
            with database.read() as tx:
                if tx.anchors.memories(project, 1):
                    break
            await anyio.sleep(0.1)
    database.close()


def held(db: Path, settings: Settings, rule: str, commands: Sequence[str]) -> list[str]:
    """Add a rule in plain words, as a person does; return what it says to each of these commands."""
    plain = plain_rules.read(rule)
    if plain is None:
        raise DemoRefused(f"no rule: {rule}")
    person = Caller("demo", stamp=trust.typed)
    services = app.build(settings.model_copy(update={"db": db}))
    try:
        with acting.as_(None):
            draft = LongTermDraft(plain.name, plain.reason, plain.trigger, None, rule=plain.draft)
            services.rules.add(draft, None, person)
            rulings = [services.ruling.looked(sight.of_text(command), person) for command in commands]
    finally:
        services.close()
    colon = "：" if flags.language(flags.HERE) == "zh" else ": "
    return [
        f"{translated(ruling.effect)}{colon}{translated(ruling.text)}"
        if ruling.effect
        else translated("it runs")
        for ruling in rulings
    ]


def sqlite3(db: Path, sql: str) -> None:
    """Run a statement in the stock program; print it and what the program printed."""
    options = ["-batch", "-init", os.devnull, "-column", "-header", "-cmd", ".timeout 10000"]
    done = subprocess.run(
        ["sqlite3", *options, str(db), sql], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )
    if done.returncode != 0:
        raise DemoRefused(f"sqlite3: {done.stderr.strip()}")
    say()
    paragraph(sql + ";", "sqlite> ", "   ...> ")
    for row in done.stdout.splitlines():
        say(cut(row, COLUMNS - 3))


def translated(text: str) -> str:
    """Return a text in the language of the person."""
    return catalogue.chinese(text) if flags.language(flags.HERE) == "zh" else text


def heading(text: str) -> None:
    text = translated(text)
    print(f"\n{text}\n{'-' * width(text)}")


def say(text: str = "") -> None:
    print(f"   {text}" if text else "")


def one_line(label: str, text: str) -> None:
    say(label + cut(" ".join(text.split()), COLUMNS - 3 - width(label)))


def paragraph(text: str, first: str = "", indent: str = "") -> None:
    """Print a text, broken into lines: the first begins with `first`, the next ones with `indent`."""
    begin = first
    for line in wrapped(text, COLUMNS - 3 - max(width(first), width(indent))):
        say(begin + line)
        begin = indent


def cut(text: str, columns: int) -> str:
    """The text, with an ellipsis where it would be wider than the columns of a terminal."""
    if width(text) <= columns:
        return text.rstrip()
    while width(text) >= columns:
        text = text[:-1]
    return text + "…"
