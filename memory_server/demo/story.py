"""The demo as it runs without an argument: two assistants share one memory, a screen a scene."""

import shutil
import time
from pathlib import Path

import anyio
from mcp import Client

from memory_server.demo.log import DemoLog
from memory_server.demo.stage import (
    JSON,
    DemoRefused,
    call,
    embedded,
    held,
    looked_up,
    paragraph,
    say,
    sqlite3,
    started,
    translated,
)
from memory_server.language.text import width
from memory_server.settings import Settings

CONFIG = "LEDGER_WORKERS = 8\n"
"""A file of the project `ledger`, in whose folder both assistants work."""

EDITED = "config.py: LEDGER_WORKERS = 12"

RULE = "never push to {branch}"

ACTS = ("sudo git -C app push origin HEAD:main", "git push origin fix/refunds")
"""Commands that the rule holds, and lets pass."""

STAGING = "Which host does the staging API run on?"

ACROSS = ("When do I not want meetings?", "去鹿特丹的航班是哪一天？")
"""Questions whose answer the log has in the other language."""


async def play(log: DemoLog, db: Path, settings: Settings, problems: list[str]) -> None:
    """Every scene in order. Lines of the log that the server refused are added to `problems`."""
    folder = db.parent / "ledger"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config.py").write_text(CONFIG)
    say(translated("Claude and Cursor, each with a real server of its own, share one new file."))
    say(translated("Your own memories are not touched."))
    async with (
        started(db, settings, "Claude", folder=folder) as claude,
        started(db, settings, "Cursor", folder=folder) as cursor,
    ):
        await fill(claude, log, problems)
        await say_it_twice(claude, cursor)
        await replace(claude, cursor)
        await ask_across_languages(cursor)
        await ask_what_nobody_said(cursor)
        await start_again(claude, cursor)
        await wake(claude, cursor)
        await edit_a_file(claude, cursor, db, folder)
        await hold(db, settings)
        await take_back(claude, cursor)
    if shutil.which("sqlite3"):
        scene("The file is yours: the stock sqlite3 program reads it")
        sqlite3(db, "SELECT id, content FROM readable_memories ORDER BY id DESC LIMIT 2")


async def fill(claude: Client, log: DemoLog, problems: list[str]) -> None:
    began = time.perf_counter()
    merged = 0
    for line, memory in log.memories.items():
        try:
            merged += (await call(claude, "memory_store", **memory))["consolidated"]
        except DemoRefused as refused:
            problems.append(f"{log.path}, line {line}, was refused: {refused}")
    await embedded(claude)
    seconds = time.perf_counter() - began
    say(
        translated(
            f"{len(log.memories)} notes of a team, English and Chinese, are stored in {seconds:.0f} s."
        )
    )
    say(translated(f"{merged} are duplicates and are merged."))


async def say_it_twice(claude: Client, cursor: Client) -> None:
    scene("Said twice: kept once")
    await store("Claude", claude, "The staging API runs on host kelp.")
    await store("Cursor", cursor, "The staging API runs on the host kelp!")


async def replace(claude: Client, cursor: Client) -> None:
    scene("Changed: the new statement replaces the old one")
    earlier = await call(claude, "memory_search", query=translated("staging API on host kelp"), limit=1)
    await store(
        "Claude",
        claude,
        "The staging API moved to host coral, because kelp is retired.",
        supersedes=earlier["results"][0]["id"],
    )
    await ask("Cursor", cursor, STAGING)


async def ask_across_languages(cursor: Client) -> None:
    scene("Stored in one language, asked in another")
    for question in ACROSS:
        await ask("Cursor", cursor, question)


async def ask_what_nobody_said(cursor: Client) -> None:
    scene("Never stored: it says so instead of guessing")
    await ask("Cursor", cursor, "What is the phone number of the landlord?")


async def start_again(claude: Client, cursor: Client) -> None:
    scene("A new session knows where the last one stopped")
    for key, value in {
        "current.task": "Move the refund job to the new queue",
        "current.blockers": "the bank's certificate comes on Thursday",
    }.items():
        value = translated(value)
        await call(claude, "write_memory", key=key, value=value)
        line("Claude notes", f"{key}: {value}")
    briefing = (await call(cursor, "smart_resume", max_tokens=200))["briefing"]
    line("Cursor starts", *briefing.splitlines()[:3])


async def wake(claude: Client, cursor: Client) -> None:
    scene("A reminder comes when its topic comes")
    text, when = map(translated, ("Ask for the date", "when we talk about the Okafor order"))
    await call(claude, "remind", text=text, when=when)
    line("Claude is told", translated("{text}, {when}").format(text=text, when=when))
    await ask("Cursor", cursor, "What is the status of the Okafor order?")


async def edit_a_file(claude: Client, cursor: Client, db: Path, folder: Path) -> None:
    scene("A file changed since: the note that names it says so")
    await store("Claude", claude, "The refund job runs with 8 workers, `LEDGER_WORKERS` in config.py.")
    await looked_up(db, folder)
    (folder / "config.py").write_text(CONFIG.replace("8", "12"))
    line("Somebody edits", EDITED)
    await ask("Cursor", cursor, "With how many workers does the refund job run?")


async def hold(db: Path, settings: Settings) -> None:
    scene("A rule holds: what it forbids does not happen, in disguise neither")
    rule = translated(RULE).format(branch="main")
    answers = await anyio.to_thread.run_sync(held, db, settings, rule, ACTS)
    line("You say", rule)
    for command, answer in zip(ACTS, answers, strict=True):
        line("Claude wants", command)
        line("", f"→ {answer}")


async def take_back(claude: Client, cursor: Client) -> None:
    scene("Taken back: nothing is lost by a mistake")
    best = await call(cursor, "memory_search", query=translated(STAGING), limit=1)
    id = best["results"][0]["id"]
    await call(claude, "memory_delete", id=id)
    line("Claude deletes", f"m{id}")
    await call(claude, "memory_delete", id=id, undo=True)
    line("Claude undoes", f"m{id} is back")


async def store(who: str, server: Client, content: str, **arguments: object) -> None:
    """Store a memory, and say what became of it."""
    line(translated("{who} stores").format(who=who), content)
    answer = await call(server, "memory_store", content=translated(content), **arguments)
    line("", f"→ merged into m{answer['id']}" if answer["consolidated"] else f"→ stored as m{answer['id']}")


async def ask(who: str, server: Client, question: str) -> None:
    """Ask everything that is stored one question, and print the best line of the answer."""
    line(translated("{who} asks").format(who=who), question)
    await embedded(server)
    answer: JSON = await call(server, "recall", query=translated(question))
    line("", *[f"→ {text}" for text in (answer["answer"] or translated(answer["note"])).splitlines()[:1]])


def scene(title: str) -> None:
    print(f"\n{translated(title)}")


def line(who: str, *texts: str) -> None:
    """Print who does something, and what."""
    name = translated(who)
    for number, text in enumerate(texts):
        first = " " * 16 if number else name + " " * (16 - width(name))
        paragraph(translated(text), first, " " * 18)
