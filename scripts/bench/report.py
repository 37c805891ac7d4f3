"""Where the figures of a benchmark go: standard output and, with `--write`, docs/performance.md."""

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
END = "<!-- end -->"


class Report:
    """The command line of one benchmark, and its table."""

    def __init__(self, script: str, quick: str | None = None) -> None:
        """`quick` says what `--quick` measures, where there is such a flag."""
        self._command = f"python {Path(script).resolve().relative_to(ROOT).as_posix()}"
        arguments = argparse.ArgumentParser(usage=f"{self._command} [options]")
        if quick is not None:
            arguments.add_argument("--quick", action="store_true", help=quick)
        arguments.add_argument(
            "--write", action="store_true", help="write the figures into docs/performance.md"
        )
        given = arguments.parse_args()
        self.quick: bool = getattr(given, "quick", False)
        self._write: bool = given.write
        if self.quick and self._write:
            arguments.error("--write takes the figures of a whole run, not those of --quick")

    def publish(self, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print the table; with `--write`, put it between the markers that name this command too."""
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, ["---"] * len(titles), *rows))
        text = f"`{self._command}{' --quick' if self.quick else ''}` on {_machine()}:\n\n{table}\n"
        print(text)
        if self._write:
            _replace(f"<!-- {self._command} -->", text)


def _replace(begin: str, text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(f"{begin}\n")
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{PAGE} has no lines {begin} and {END}")
    PAGE.write_text(f"{before}{found}{text}{ended}{after}", encoding="utf-8")
    print(f"{PAGE} is written", file=sys.stderr)


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
