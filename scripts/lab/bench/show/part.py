"""The table of one benchmark as it is kept in docs/performance/: cells of text, made where they were measured."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from show import markdown


@dataclass(frozen=True, slots=True)
class Part:
    """What one benchmark printed: the command, the machine, the titles of the columns and the rows."""

    command: str
    machine: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def text(self) -> str:
        return f"`{self.command}` on {self.machine}:\n\n{markdown.table(self.titles, self.rows)}\n"

    def cell(self, row: Sequence[str], title: str) -> str:
        """The cell of the row that begins with these cells, under this title.

        Raises:
            KeyError: no such row or title.
        """
        for cells in self.rows:
            if list(cells[: len(row)]) == list(row) and title in self.titles:
                return cells[self.titles.index(title)]
        raise KeyError(f"{self.command} has no {title!r} of {' '.join(row)!r}")


def load(path: Path) -> Part:
    return Part(**json.loads(path.read_text(encoding="utf-8")))


def save(part: Part, path: Path) -> None:
    path.write_text(json.dumps(asdict(part), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
