"""Measures `smart_resume` over stdio against reading all facts: time and tokens at 1,000 and 10,000. Prints markdown.

python scripts/lab/bench/resume.py [--write]
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import bpe_openai
import corpus
from report import Report
from server import Server, ours

SIZES = (1_000, 10_000)
LIMITS = (200, 500, 2000)
TIMES = 20
PREFIXES = ("current.", "project.decision.", "discovered.", "shared.", "project.", "ai.Cursor.", "notes.")
AT_ONCE = 50
"""Facts that one `register_memory` takes."""


def main() -> None:
    report = Report(__file__)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        server = Server(ours(Path(folder) / "memory.db"))
        try:
            rows = list(_rows(server))
        finally:
            server.close()
    report.publish(
        ("facts", "limit", "said in tokens", "estimate", "raw dump in tokens", "less", "p50", "slowest"), rows
    )


def _rows(server: Server) -> Iterator[list[str]]:
    facts: dict[str, Any] = {}
    for size in SIZES:
        more = dict(list(_facts(size))[len(facts) :])
        for start in range(0, len(more), AT_ONCE):
            chunk = dict(list(more.items())[start : start + AT_ONCE])
            server.call("register_memory", {"message": "benchmark", "summary": "benchmark", "facts": chunk})
        facts |= more
        print(f"{len(facts):,} facts stored", file=sys.stderr, flush=True)
        raw = sum(_tokens(json.dumps({key: value}, ensure_ascii=False)) for key, value in facts.items())
        for limit in LIMITS:
            yield _measured(server, limit, size, raw)


def _measured(server: Server, limit: int, size: int, raw: int) -> list[str]:
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        answer = server.call("smart_resume", {"max_tokens": limit})
        took.append(1000 * (time.perf_counter() - began))
    said = _tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    return [
        f"{size:,}",
        f"{limit:,}",
        f"{said:,}",
        f"{answer['token_count']:,} ({answer['token_count'] / said - 1:+.1%})",
        f"{raw:,}",
        f"{1 - said / raw:.1%}",
        f"{median(took):.0f} ms",
        f"{max(took):.0f} ms",
    ]


def _facts(count: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(5)
    for number, memory in enumerate(corpus.memories(count)):
        yield f"{chance.choice(PREFIXES)}k{number}", memory["content"]


def _tokens(text: str) -> int:
    return len(bpe_openai.get_encoding("o200k_base").encode(text))


if __name__ == "__main__":
    main()
