"""The demo with --full: a log of memories, every question about it, and a scene for each kind of memory.

This file is longer than 300 lines because it is a script: the scenes stand in the order in which they run, each with
its data.
"""

import shutil
import time
from datetime import timedelta
from pathlib import Path

from mcp import Client

from memory_server.demo.log import DemoLog
from memory_server.demo.stage import (
    JSON,
    DemoRefused,
    call,
    embedded,
    heading,
    looked_up,
    one_line,
    paragraph,
    say,
    say_call,
    say_whole_call,
    sqlite3,
    started,
)
from memory_server.settings import Settings
from memory_server.stores import clock

FIRST = 5
"""Results of a search; an expected answer among them counts as found. An assistant rarely reads more."""

PAIRS = 12
"""Pairs of similar memories that are printed, those that differ least. The log has some 80; the others are counted."""


async def play(log: DemoLog, db: Path, settings: Settings, problems: list[str]) -> None:
    """Every scene in order. Lines of the log that the server refused are added to `problems`."""
    heading("The server")
    began = time.perf_counter()
    async with started(db, settings) as server:
        tools = [tool.name for tool in (await server.list_tools()).tools]
        paragraph(
            f"A process of its own, over stdio, protocol {server.protocol_version}. "
            f"{len(tools)} tools listed {time.perf_counter() - began:.2f} s after the start: {', '.join(tools)}. "
            f"Its database is a temporary file. Your own memories are not touched."
        )
        await store(server, log, problems)
        if len(problems) == len(log.memories):
            return
        await ask(server, log.questions)
        if shutil.which("sqlite3"):
            await open_the_file(server, db)
        else:
            say("The program `sqlite3` is not installed here; the scene that uses it is left out.")
        await connect(server)
        await converse(server)
        await trigger(server)
    await hand_over(db, settings)
    await edit_a_file(db, settings)


async def store(server: Client, log: DemoLog, problems: list[str]) -> None:
    heading(f"Store {len(log.memories)} memories from {log.path.name}")
    answers, began = [], time.perf_counter()
    for line, memory in log.memories.items():
        try:
            answers.append(await call(server, "memory_store", **memory))
        except DemoRefused as refused:
            problems.append(f"{log.path}, line {line}, was refused: {refused}")
    milliseconds = 1000 * (time.perf_counter() - began) / len(log.memories)
    merged = [answer["id"] for answer in answers if answer["consolidated"]]
    new = len(answers) - len(merged)
    say(f"{new} new, {len(merged)} merged, {len(problems)} refused; {milliseconds:.1f} ms each.")
    say(f"{await embedded(server)} The first call was {time.perf_counter() - began:.1f} s ago.")

    heading("Merged: the same statement again")
    for id in merged:
        memory = await get(server, id)
        say()
        for earlier in memory.get("earlier", []):
            paragraph(earlier, "before  ", " " * 8)
        paragraph(memory["content"], "now     ", " " * 8)

    heading("Not merged: similar statements that may differ. memory_store names them in `similar`")
    similar = [(twin, answer["id"]) for answer in answers for twin in answer["similar"]]
    similar.sort(key=lambda pair: len(pair[0].get("differs", "")))
    for twin, new_id in similar[:PAIRS]:
        say()
        for id in (twin["id"], new_id):
            paragraph((await get(server, id))["content"], f"#{id:<5} ", " " * 7)
        if "differs" in twin:
            paragraph(twin["differs"], "differs ", " " * 8)
    say(f"… and {max(0, len(similar) - PAIRS)} more pairs")


async def get(server: Client, id: int) -> JSON:
    memory: JSON = (await call(server, "memory_get", ids=[id]))["memories"][0]
    return memory


async def ask(server: Client, questions: list[JSON]) -> None:
    """Ask the questions of the log; `expect` holds parts of the right answer, of which one is enough."""
    heading(f"Ask {len(questions)} questions")
    say("Q is the question, with its project if it has one. A is the best answer.")
    ranks: dict[str, list[int | None]] = {}
    began = time.perf_counter()
    for question in questions:
        project = {"project": question["project"]} if question.get("project") else {}
        answer = await search(server, question["ask"], FIRST, **project)
        show_answers(question["ask"] + "".join(f" [{name}]" for name in project.values()), answer, shown=1)
        contents = [hit["content"] for hit in answer["results"]]
        expect = question.get("expect", [])
        expect = [expect] if isinstance(expect, str) else expect
        right = [n for n, text in enumerate(contents, 1) if any(part in text for part in expect)]
        if expect:
            languages = f"{question.get('lang', '?')} question, {question.get('about', '?')} memory"
            ranks.setdefault(languages, []).append(right[0] if right else None)
        if right and right[0] > 1:
            one_line(f"   expected, number {right[0]}: ", contents[right[0] - 1])
        elif expect and not right:
            one_line("   not found: ", f"… {expect[0]} …")
    say()
    say(f"{'':<24} {'asked':>6} {'found first':>12} {f'in first {FIRST}':>12}")
    ranks["all"] = [rank for group in ranks.values() for rank in group]
    for name, group in ranks.items():
        say(f"{name:<24} {len(group):>6} {group.count(1):>12} {len(group) - group.count(None):>12}")
    say(f"{1000 * (time.perf_counter() - began) / max(1, len(questions)):.1f} ms each")


EDITED = "The spare key for the office hangs behind the blue teapot in the kitchen."
VIEWS = [
    "SELECT id, type, project, substr(content, 1, 50) AS content FROM readable_memories LIMIT 5",
    "SELECT id, substr(subject, 1, 32) AS subject, relation, object FROM readable_edges",
    "SELECT provider, model, dimensions, state, embedded, waiting FROM readable_embeddings",
]


async def open_the_file(server: Client, db: Path) -> None:
    heading("Open the file in the stock sqlite3 program while the server uses it")
    note = {"content": "The demo stored its log.", "type": "observation", "relatedTo": 1}
    id = (await say_call(server, "memory_store", **note))["id"]
    await embedded(server)
    for sql in VIEWS:
        sqlite3(db, sql)

    heading("Edit a row there: the server finds the new text by words and by meaning")
    sqlite3(db, f"UPDATE memories SET content = '{EDITED}' WHERE id = {id}")
    say()
    say(await embedded(server))
    for question in ("Where is the spare key?", "备用钥匙放在哪里？"):
        show_answers(question, await search(server, question, FIRST), shown=1)
    sqlite3(db, "PRAGMA integrity_check")


DOOR = {
    "decision": "The door of the workshop is opened with one PIN code for all.",
    "error": "A visitor read the PIN over a shoulder and came back at night.",
    "learning": "Everybody gets a key card; the PIN pad at the workshop is gone.",
    "pattern": "Access belongs to a person, never to a group: only then it can be withdrawn.",
}
"""Memories by type."""

EDGES = [
    ("learning", "solves", "error"),
    ("learning", "supersedes", "decision"),
    ("learning", "example_of", "pattern"),
    ("decision", "causes", "error"),
]


async def connect(server: Client) -> None:
    heading("Connect memories: why a decision was made, and what replaced it")
    ids = {}
    for kind, content in DOOR.items():
        ids[kind] = (await call(server, "memory_store", content=content, type=kind))["id"]
    await embedded(server)
    question = "With what PIN code is the door of the workshop opened?"
    show_answers(f"Before: {question}", await search(server, question, 2))
    say()
    for source, relation, target in EDGES:
        edge = {"sourceId": ids[source], "relation": relation, "targetId": ids[target]}
        await say_call(server, "graph_connect", **edge)
    show_answers(f"After: {question}", await search(server, question, 2))
    say()
    explored = await say_call(server, "graph_explore", memoryId=ids["learning"])
    contents = {node["id"]: node["content"] for node in explored["nodes"]}
    for edge in explored["edges"]:
        one_line(f"#{edge['source']} {edge['relation']} #{edge['target']}: ", contents[edge["target"]])


SAID = [
    (timedelta(days=40), "user", "上次搬家的时候，搬家公司把小黑的猫爬架弄坏了。"),
    (timedelta(days=9), "user", "The landlord wants the deposit of 1,800 euros on his account by the 28th."),
    (timedelta(days=6), "assistant", "水电要在搬家前一周过户，合同号是 77-4021。"),
    (timedelta(days=2), "user", "We deploy from the kitchen table until the internet is connected."),
    (timedelta(hours=5), "user", "The viewing at Lindenstraße 12 was nice, but the cat cannot go outside."),
    (timedelta(minutes=3), "user", "I am packing the books now."),
]
"""How long ago, by whom, what."""


async def converse(server: Client) -> None:
    heading("Short-term memories: earlier messages that share keywords with a new one")
    conversation, now = "搬家 / moving", clock()
    for age, role, content in SAID:
        message = {"role": role, "content": content, "timestamp": (now - age).isoformat()}
        await call(server, "add_short_term_memory", messages=[message], conversation_id=conversation)
    say(f"{len(SAID)} messages are stored; the oldest is {SAID[0][0].days} days old, the newest 3 minutes.")
    new = {"role": "user", "content": "搬家公司定了吗？ And have I paid the deposits?"}
    arguments = {"recentMessages": [new], "conversation_id": conversation}
    recalled = await say_call(server, "search_short_term_memories", **arguments)
    for memory in [*recalled["top"], *recalled["next"], *recalled["flashback"]]:
        one_line(f"{memory['tier']:<9} ", memory["text"])
        why = f"shares {', '.join(memory['shared'])}" if "shared" in memory else "random"
        say(f"          {why}; relevance {memory['relevance']:.1f}")
    say(f"too_recent: {recalled.get('too_recent', 0)} (messages of the last 20 minutes are left out)")


LONG_TERM = {
    "妈妈的生日": (
        "Mother's birthday is on 17 July. She likes orchids and no surprises.",
        "match_keys(messages, ['birthday', '生日'], 'user') "
        "|| (new Date().getMonth() === 6 && new Date().getDate() === 17)",
    ),
    "Slow down": (
        "When they are lost: one step at a time, and ask what was tried before.",
        "similar(messages, 'I am lost and do not know what to do')",
    ),
    "Long mails": (
        "Answer long messages with a summary first.",
        "messages.filter(m => m.role === 'user').reduce((n, m) => n + m.content.length, 0) > 500",
    ),
    "Endless": ("This trigger never ends, so the server refuses it.", "while (true) {}"),
}
"""Prompt and trigger of each memory by name."""


async def trigger(server: Client) -> None:
    heading("Long-term memories: returned when their trigger is true")
    for name, (prompt, code) in LONG_TERM.items():
        try:
            await say_call(server, "add_long_term_memory", name=name, prompt=prompt, trigger=code)
        except DemoRefused as refused:
            paragraph(f"refused: {refused}", "  ", "  ")
    say()
    texts = ["下周是我妈妈的生日。", "我不知道该怎么办了，完全搞不懂。"]
    messages = [{"role": "user", "content": content} for content in texts]
    woken = await say_call(server, "search_long_term_memories", messages=messages)
    for memory in woken["activated"]:
        one_line(f"{memory['name']}: ", memory["prompt"])
        one_line("   because ", memory["why"])
    say(f"errors: {len(woken['errors'])}, skipped: {len(woken['skipped'])}")
    say()
    _, code = LONG_TERM["妈妈的生日"]
    birthday = await say_call(server, "test_trigger", at="2027-07-17T09:00:00", trigger=code)
    say(f"{birthday['value']}: {birthday['why']}")


FACTS: JSON = {
    "current.task": "Move the refund job to the new queue",
    "current.blockers": ["银行的新证书周四才到"],
    "project.database.port": 5433,
    "project.decisions.queue": "RabbitMQ, because retries need its delayed queues",
    "discovered.rate_limit": "the bank allows 20 requests a second",
}


async def hand_over(db: Path, settings: Settings) -> None:
    heading("A session ends, the next one continues, and a third reads what is shared")
    async with started(db, settings, "Claude", "--project", "ledger", "--session", "monday") as claude:
        say("Claude, in the project ledger on Monday. Then its server ends.")
        for key, value in FACTS.items():
            await say_call(claude, "write_memory", key=key, value=value)
        message = "Good. Then we send refunds in batches of twenty, and I tell support on Monday."
        summary = "Refunds go out in batches of 20; support hears of it on Monday."
        await say_call(claude, "register_memory", message=message, summary=summary)
    async with started(db, settings, "Cursor", "--project", "ledger", "--session", "tuesday") as cursor:
        say()
        say("Cursor, in the same project on Tuesday:")
        resumed = await say_call(cursor, "smart_resume", max_tokens=300)
        for line in resumed["briefing"].splitlines():
            one_line("   ", line)
        recalled = await say_whole_call(cursor, "retrieve_memories", query="退款一批多少个？")
        one_line("   ", recalled["memories"][0]["summary"] if recalled["memories"] else "nothing found")
        say()
        say("Cursor asks one question of everything: the answer lies in memories, facts and a turn.")
        question = "What rate does the bank allow, how large is a batch of refunds, and which queue did we decide on?"
        await embedded(cursor)
        await recall(cursor, question, 500)
        say()
        finding = "The bank's sandbox sleeps from 22:00 to 06:00 UTC."
        await say_call(cursor, "write_memory", key="shared.bank.sandbox", value=finding, scope="shared")
        async with started(db, settings, "Codex", "--project", "harbor") as codex:
            say()
            say("Codex, in the project harbor at the same time, reads what is shared and nothing of ledger:")
            for key in ("shared.bank.sandbox", "project.database.port"):
                fact = (await say_call(codex, "read_memory", key=key))["memory"]
                one_line("   ", fact["value"] if fact else "nothing found")


async def edit_a_file(db: Path, settings: Settings) -> None:
    heading("A file is edited: the memory that names it is told with what it says now")
    folder = db.parent / "ledger"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    config = folder / "config.py"
    config.write_text("DEBUG = False\nLEDGER_PORT = 5433\n")
    note = "The database of the ledger listens on port 5433, `LEDGER_PORT` in config.py."
    async with started(db, settings, "Claude", folder=folder) as claude:
        stored = await say_call(claude, "memory_store", content=note)
        await looked_up(db, folder)
        config.write_text("DEBUG = False\nLEDGER_PORT = 6000\n")
        say("Somebody edits config.py: LEDGER_PORT = 6000.")
        question = "Which port does the database of the ledger listen on?"
        await recall(claude, question, 200)
        await say_call(claude, "memory_store", content=note.replace("5433", "6000"), supersedes=stored["id"])
        await recall(claude, question, 200)


async def search(server: Client, question: str, limit: int, **project: str) -> JSON:
    return await call(server, "memory_search", query=question, limit=limit, explain=True, **project)


async def recall(server: Client, question: str, max_tokens: int) -> None:
    """Ask everything that is stored, and print the answer."""
    answer = await say_whole_call(server, "recall", query=question, max_tokens=max_tokens)
    for line in answer["answer"].splitlines():
        paragraph(line, "   ", "     ")


def show_answers(question: str, answer: JSON, shown: int = FIRST) -> None:
    """Print the question, its best answers and their scores."""
    say()
    one_line("Q  ", question)
    for hit in answer["results"][:shown]:
        why = hit["why"]
        one_line("A  ", hit["content"])
        edge = f", edge {why['edge']}" if "edge" in why else ""
        replaced = f", superseded by #{hit['superseded_by']}" if "superseded_by" in hit else ""
        score = f"score {hit['score']:.2f}, words {why['words']:.2f}, meaning {why['meaning']:.2f}"
        say(f"   #{hit['id']}, {score}{edge}{replaced}")
        for memory in hit.get("linked", []):
            one_line(f"   #{memory['id']} {memory['relation']} #{hit['id']}: ", memory["content"])
    if not answer["results"]:
        say("A  nothing found")
    if answer.get("degraded"):
        one_line("   ", answer["degraded"])
