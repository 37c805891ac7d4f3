"""Where the figures of a benchmark go: standard output and, with `--write`, docs/performance/ and what shows it."""

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from show import pages, part
from show.pages import ROOT


class Report:
    """The command line of one benchmark, and its table."""

    def __init__(self, script: str, quick: str | None = None) -> None:
        """`quick` says what `--quick` measures, where there is such a flag."""
        self._name = Path(script).stem
        self._command = f"python {Path(script).resolve().relative_to(ROOT).as_posix()}"
        arguments = argparse.ArgumentParser(usage=f"{self._command} [options]")
        if quick is not None:
            arguments.add_argument("--quick", action="store_true", help=quick)
        arguments.add_argument(
            "--write",
            action="store_true",
            help="keep the figures in docs/performance/, and show them in docs/performance.md and the READMEs",
        )
        given = arguments.parse_args()
        self.quick: bool = getattr(given, "quick", False)
        self._write: bool = given.write
        if self.quick and self._write:
            arguments.error("--write takes the figures of a whole run, not those of --quick")

    def publish(self, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print the table; with `--write`, keep it, and renew the pages that show it."""
        found = part.Part(
            self._command + (" --quick" if self.quick else ""), machine(), titles, [list(row) for row in rows]
        )
        print(found.text)
        if self._write:
            part.save(found, ROOT / pages.RESULTS / f"{self._name}.json")
            for path in pages.write():
                print(f"{path} is written", file=sys.stderr)


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
