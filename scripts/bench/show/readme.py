"""The figures of README.md and README.zh-CN.md: each a cell of a table of docs/performance/, in both languages."""

from dataclasses import dataclass
from pathlib import Path

from show import markdown, part

MARKER = "<!-- python scripts/bench --render -->"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of both READMEs: what it is in English and in Chinese, and where it stands.

    `bench` is the file name of the benchmark, `row` the first cells of the row of its table, `title` the column.
    """

    english: str
    chinese: str
    bench: str
    row: tuple[str, ...]
    title: str


FIGURES = (
    Figure(
        "start of the process to the list of tools",
        "从进程启动到列出工具",
        "memories",
        ("start to `tools/list`, median of 5",),
        "value",
    ),
    Figure(
        "`memory_store` at 10,000 memories, median",
        "有 10,000 条记忆时的 `memory_store`，中位数",
        "memories",
        ("`memory_store` at 10,000, p50",),
        "value",
    ),
    Figure(
        "`memory_search` at 10,000 memories, median",
        "有 10,000 条记忆时的 `memory_search`，中位数",
        "memories",
        ("`memory_search` at 10,000, p50",),
        "value",
    ),
    Figure(
        "resident memory after start and a search by meaning",
        "启动并按含义搜索一次后的常驻内存",
        "memories",
        ("resident memory after the first semantic search at 10,000",),
        "value",
    ),
    Figure(
        "search in 100,000 short-term memories, median",
        "在 100,000 条短期记忆中搜索，中位数",
        "short_term",
        ("100,000",),
        "search p50",
    ),
    Figure(
        "search with 1,000 triggers, median",
        "有 1,000 个触发器时的搜索，中位数",
        "long_term",
        ("1,000", "0"),
        "search p50",
    ),
)

DEMO = (
    (
        "questions of the demo whose answer is among the first 5, two languages",
        "36 of 39",
        "`scripts/run demo`",
    ),
    ("演示中的问题，答案排在前 5 位的数量（两种语言）", "36 / 39", "`scripts/run demo`"),
)
"""Counted, not measured: tests/test_demo.py holds it."""


def english(folder: Path) -> str:
    """The table of README.md from the results in a folder."""
    rows = [(each.english, *_measured(each, folder)) for each in FIGURES]
    return markdown.table(("what", "figure", "command"), [DEMO[0], *rows]) + "\n"


def chinese(folder: Path) -> str:
    """The table of README.zh-CN.md from the results in a folder."""
    rows = [(each.chinese, *_measured(each, folder)) for each in FIGURES]
    return markdown.table(("项目", "数值", "命令"), [DEMO[1], *rows]) + "\n"


def _measured(figure: Figure, folder: Path) -> tuple[str, str]:
    found = part.load(folder / f"{figure.bench}.json")
    return found.cell(figure.row, figure.title), f"`{found.command}`"
