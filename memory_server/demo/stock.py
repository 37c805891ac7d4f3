"""The stock `sqlite3` program: looks into the file while the server has it open, and edits it."""

import os
import shutil
import subprocess
from pathlib import Path


class StockError(Exception):
    """The program refused; the text is what it said."""


class Stock:
    """One database as the program of the operating system sees it."""

    def __init__(self, program: str, db: Path) -> None:
        self._start = [program, "-batch", "-init", os.devnull, "-cmd", ".timeout 10000"]
        self._db = str(db)

    @classmethod
    def find(cls, db: Path) -> "Stock | None":
        program = shutil.which("sqlite3")
        return cls(program, db) if program else None

    def version(self) -> str:
        return self.run("SELECT sqlite_version()").strip()

    def lines(self, sql: str) -> list[str]:
        """Rows, each value on a line of its own under its column's name."""
        return self.run(sql, ".mode line").rstrip().splitlines()

    def table(self, sql: str, widths: str) -> list[str]:
        """Rows in columns. Boxes would be crooked: before 3.48 the program takes Chinese for narrow."""
        return self.run(sql, ".mode column", ".headers on", f".width {widths}").rstrip().splitlines()

    def run(self, sql: str, *commands: str) -> str:
        """What the program prints for the SQL.

        Raises:
            StockError: it failed.
        """
        before = [part for command in commands for part in ("-cmd", command)]
        done = subprocess.run(
            [*self._start, *before, self._db, sql],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode != 0 or done.stderr.strip():
            raise StockError(done.stderr.strip() or f"exit code {done.returncode}")
        return done.stdout
