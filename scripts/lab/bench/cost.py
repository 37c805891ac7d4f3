"""How large PostgreSQL becomes: a model from what postgres.py has measured a memory. Prints markdown.

    python scripts/lab/bench/cost.py            from the figures that are kept in docs/performance/postgres.json
    python scripts/lab/bench/cost.py --write    also writes the table into docs/performance.md

The memories are those of the benchmark: notes of some 40 words, all embedded, a fact for one of 50. Sizes grow in
proportion to the number of memories. A search is quick where the indexes of words and vectors are in memory: `machines`
says how many hold them, where each gives 48 of its 64 GB to that, and the tenants are shared out among them.
"""

import math

import postgres
from report import Report
from show import pages, part

NUMBERS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)

CACHE = 48e9
"""Bytes of a machine in which indexes stay."""


def main() -> None:
    report = Report(__file__)
    measured = part.load(pages.ROOT / pages.RESULTS / "postgres.json")
    column = measured.titles[-2]
    each = {what: int(measured.cell([what], column)) for what in postgres.SIZES_OF}
    rows = []
    for number in NUMBERS:
        sizes = [number * size for size in each.values()]
        indexes = sum(number * each[what] for what in postgres.INDEXES)
        rows.append(
            [f"{number:,}", *map(_shown, sizes), _shown(sum(sizes)), f"{math.ceil(indexes / CACHE):,}"]
        )
    titles = [what.removeprefix(postgres.EACH) for what in each]
    report.publish(["memories", *titles, "in all", "machines"], rows)


def _shown(size: float) -> str:
    return f"{size / 1e12:,.1f} TB" if size >= 1e12 else f"{size / 1e9:,.1f} GB"


if __name__ == "__main__":
    main()
