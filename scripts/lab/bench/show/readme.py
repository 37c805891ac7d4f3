"""The figures of README.md and README.zh-CN.md: each stands in docs/performance.md too, in both languages here."""

from dataclasses import dataclass
from pathlib import Path

from show import markdown, part
from show.results import AT_REST, OURS, SEARCH, START, STORE, WALL, Results

MARKER = "<!-- python scripts/lab/bench --render -->"

SIZE = 10_000
"""Memories beside which calls are told: each run of `python scripts/lab/bench` measures these."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of `python scripts/lab/bench`: of our server, at a size."""

    what: str
    size: int
    name: str

    def shown(self, of: "Source") -> tuple[str, str]:
        """The figure with its unit, and the command; that the machine was busy is said."""
        found = of.kept.find(OURS, self.what, self.size)
        if found is None:
            raise KeyError(f"{of.kept.command} has not measured {self.what!r} at {self.size:,} memories")
        value = found[self.name]
        unit = self.name.rpartition(" ")[2]
        if unit == "ms":
            text = f"{value / 1000:.2f} s" if value >= 500 else f"{value:.1f} ms"
        else:
            text = f"{value:,.0f} {unit}"
        return text + " (busy)" * of.kept.busy, f"`{of.kept.command}`"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the table of another benchmark: its file, the first cells of the row, the title of the column."""

    bench: str
    row: tuple[str, ...]
    title: str

    def shown(self, of: "Source") -> tuple[str, str]:
        """The figure with its unit, and the command."""
        found = part.load(of.folder / f"{self.bench}.json")
        return found.cell(self.row, self.title), f"`{found.command}`"


@dataclass(frozen=True, slots=True)
class Source:
    """The folder of all results, and those of `python scripts/lab/bench`."""

    folder: Path
    kept: Results


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of both READMEs: what it is in English and in Chinese, and where it stands."""

    english: str
    chinese: str
    stands: Value | Cell


FIGURES = (
    Figure("start of the process to the list of tools", "从进程启动到列出工具", Value(START, 0, WALL)),
    Figure(
        "`memory_store` at 10,000 memories, median",
        "`memory_store` 耗时（已有 10,000 条记忆，中位数）",
        Value(STORE, SIZE, WALL),
    ),
    Figure(
        "`memory_search` at 10,000 memories, median",
        "`memory_search` 耗时（已有 10,000 条记忆，中位数）",
        Value(SEARCH, SIZE, WALL),
    ),
    Figure(
        "resident memory after start and a search by meaning",
        "启动并语义搜索一次后的常驻内存",
        Value(AT_REST, SIZE, "MB"),
    ),
    Figure(
        "search in 100,000 short-term memories, median",
        "在 100,000 条短期记忆中搜索的耗时（中位数）",
        Cell("short_term", ("100,000",), "search p50"),
    ),
    Figure(
        "search with 1,000 triggers, median",
        "有 1,000 个触发器时的搜索耗时（中位数）",
        Cell("long_term", ("1,000", "0"), "search p50"),
    ),
)

DEMO = (
    (
        "questions of the demo whose answer is among the first 5, two languages",
        "36 of 39",
        "`scripts/run demo --full`",
    ),
    ("演示问题中，答案排进前 5 的个数（两种语言）", "36 / 39", "`scripts/run demo --full`"),
)
"""Counted, not measured: tests/test_demo.py holds it."""


def english(figures: Source) -> str:
    """The table of README.md."""
    rows = [(each.english, *each.stands.shown(figures)) for each in FIGURES]
    return markdown.table(("what", "figure", "command"), [DEMO[0], *rows]) + "\n"


def chinese(figures: Source) -> str:
    """The table of README.zh-CN.md."""
    rows = [(each.chinese, *each.stands.shown(figures)) for each in FIGURES]
    return markdown.table(("项目", "数值", "命令"), [DEMO[1], *rows]) + "\n"
