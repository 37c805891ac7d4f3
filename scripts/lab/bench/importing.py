"""Measures how many memories a second are imported, found again, and exported, in both languages. Prints markdown.

    python scripts/lab/bench/importing.py            10,000 memories in each language
    python scripts/lab/bench/importing.py --quick    1,000
    python scripts/lab/bench/importing.py --write    also writes the figures into docs/performance.md

Processor time of the command's process, without the embeddings, which a server makes afterwards.
"""

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from report import Report

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.importing import own
from memory_server.importing.formats import recognised
from memory_server.settings import Settings
from memory_server.transfer.importing import Source

ENGLISH = "staging database port invoice export customer release deploy review ledger backup error token cache".split()
CHINESE = (
    "生产环境每周发布数据库备份审计会议报告客户发票导出错误修复缓存队列预算团队用户身份端口服务器迁移测试"
)


def main() -> None:
    report = Report(__file__, quick="1,000 memories")
    number = 1000 if report.quick else 10_000
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        columns = [_measured(Path(folder), number, chinese) for chinese in (False, True)]
    names = ("a first import", "the same once more", "an export")
    rows = [
        [name, *(f"{rate:,.0f} a second" for rate in rates)]
        for name, *rates in zip(names, *columns, strict=True)
    ]
    report.publish([f"{number:,} memories, JSONL", "25 English words", "60 Chinese characters"], rows)


def _measured(folder: Path, number: int, chinese: bool) -> list[float]:
    chance, path = random.Random(number), folder / f"{chinese}.jsonl"
    texts = (
        "".join(chance.choices(CHINESE, k=60)) if chinese else " ".join(chance.choices(ENGLISH, k=25))
        for _ in range(number)
    )
    lines = (json.dumps({"id": f"n{each}", "text": f"{text} {each}"}) for each, text in enumerate(texts))
    path.write_text("\n".join(lines), encoding="utf-8")
    services = app.build(Settings(db=folder / f"{chinese}.db", embedder="hashing"))
    form, opened = recognised(path)
    source = Source(form.name, lambda: form.records(opened))

    def take() -> None:
        services.imports.take(source, None, Caller())

    rates = [number / _took(each) for each in (take, take, lambda: _export(services))]
    services.close()
    return rates


def _export(services: Services) -> None:
    with services.exports.records(None, Caller()) as exported:
        for record in exported:
            own.line(record)


def _took(done: Callable[[], None]) -> float:
    began = time.process_time()
    done()
    return time.process_time() - began


if __name__ == "__main__":
    main()
