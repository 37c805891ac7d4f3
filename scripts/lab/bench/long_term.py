"""Measures a search of long-term memories over stdio at 1,000 and 10,000 triggers of ordinary shapes. Prints markdown.

    python scripts/lab/bench/long_term.py [--write]

One trigger in twenty is more than calls and comparisons. CPU time is the server's and its worker's, from /proc (Linux).
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import corpus
from report import Report
from server import Server, ours

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.project import DEFAULT_CONVERSATION
from memory_server.sqlite.database import Database

SIZES = (1_000, 10_000)
TIMES = 30
SCRIPTS = 20
"""One trigger of so many is more than calls and comparisons."""

HOSTILE = (
    "for (;;);",
    "Array(2 ** 32 - 1).indexOf(1)",
    "/^(a+)+$/.test('a'.repeat(60) + '!')",
    "const a = []; for (;;) a.push(a.slice())",
    "(function f() { try { f() } finally { f() } })()",
)
"""Triggers that never end or fill the memory; after three searches each is in quarantine for an hour."""

KEYS = (
    "invoice exporter,login page,retry queue,search index,nightly backup,rate limiter,mobile release,audit report,"
    "发票导出,登录页面,重试队列,搜索索引,夜间备份,限流组件,审计报表,birthday,生日,vacation,deadline,C++,refund,Norway"
).split(",")


def main() -> None:
    report = Report(__file__)
    rows = []
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        for size in SIZES:
            for hostile in (0, len(HOSTILE)):
                db = Path(folder) / f"{size}-{hostile}.db"
                fill(db, size, hostile)
                rows.append(_measured(db, size, hostile))
    report.publish(
        (
            "triggers",
            "hostile",
            "first search",
            "search p50",
            "slowest",
            "CPU a search",
            "woke",
            "skipped",
        ),
        rows,
    )


def fill(db: Path, size: int, hostile: int) -> None:
    """So many memories with triggers in no project, and among them so many hostile ones.

    They are written past the checks of a trigger, which take longer than all else.
    """
    database = Database(db, lambda: datetime.now(UTC))
    triggers = _triggers(random.Random(2))
    with database.write() as tx:
        place = tx.conversations.find_or_insert(DEFAULT_CONVERSATION)
        for number, source in enumerate(HOSTILE[:hostile]):
            tx.long_term.insert(place, LongTermDraft(f"hostile {number}", "Nothing.", source, None), Caller())
        for number in range(size):
            draft = LongTermDraft(f"memory {number}", f"What to know of {number}.", next(triggers), None)
            tx.long_term.insert(place, draft, Caller())
    database.close()
    print(f"{size:,} triggers", file=sys.stderr, flush=True)


def _measured(db: Path, size: int, hostile: int) -> list[str]:
    chance = random.Random(4)
    said = [memory["content"] for memory in corpus.memories(200)]
    talks = [
        [{"role": chance.choice(["user", "assistant"]), "content": chance.choice(said)} for _ in range(4)]
        for _ in range(TIMES + 1)
    ]
    server = Server(ours(db))
    try:
        server.call("get_memory_stats", {})
        took, woke, skipped = [], 0, 0
        for number, messages in enumerate(talks):
            if number == 1:
                cpu = server.cpu_seconds_with_children()
            began = time.perf_counter()
            found = server.call("search_long_term_memories", {"messages": messages})
            took.append(1000 * (time.perf_counter() - began))
            woke += len(found["activated"])
            skipped += len(found["skipped"])
        cpu = (server.cpu_seconds_with_children() - cpu) / TIMES
    finally:
        server.close()
    first, *others = took
    return [
        f"{size:,}",
        f"{hostile}",
        f"{first:.0f} ms",
        f"{median(others):.0f} ms",
        f"{max(others):.0f} ms",
        f"{1000 * cpu:.0f} ms",
        f"{woke / len(talks):.0f}",
        f"{skipped / len(talks):.0f}",
    ]


def _triggers(chance: random.Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        one, other = chance.sample(KEYS, 2)
        if number % SCRIPTS == 0:
            yield chance.choice(
                [
                    f"messages.some(m => m.content.includes('{one}') && m.content.length > 20)",
                    "const last = messages[messages.length - 1]; !!last && /(re){1,3}/.test(last.content)",
                    f"messages.filter(m => m.role === 'user').map(m => m.content).join(' ').split('{one}').length > 2",
                ]
            )
            continue
        yield chance.choice(
            [
                f"match_keys(messages, ['{one}'], 'any')",
                f"match_keys(context.messages, ['{one}', '{other}'], 'user', 6) >= 2",
                f"match_keys_all(messages, ['{one}', '{other}'])",
                f"match_keys(messages, ['{one}{number}'], 'any') || new Date().getMonth() === {chance.randint(0, 11)}"
                f" && new Date().getDate() === {chance.randint(1, 28)}",
                f"match_keys(messages, [/{one[:4].replace('+', '')}/i], 'user') && messages.length > {number % 4}",
                f"!match_keys(messages, ['{one}']) && match_keys(messages, ['{other}{number % 50}'])",
            ]
        )


if __name__ == "__main__":
    main()
