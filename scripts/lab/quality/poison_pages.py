"""Is a page's text known where a model words it freely, and what of others is taken for a page's?

python scripts/lab/quality/poison_pages.py           two thirds of the subjects
python scripts/lab/quality/poison_pages.py --held    the third that no constant was chosen on

`poison_pages.txt` has 16 subjects, written for this program and invented before the rule that they measure. Of each:
eight texts of a page, each in two other wordings as a model stores it; other lines of the page; what a local tool
returned of the same subject, and what a model concludes from it; what the user said, and how a model stores it;
sentences that nobody said. Every third subject is held. In a session the user asks for the page, which has 20 to 300
lines, beside the local output and 20 clean ones, half of them local.

At the end come the changes of this program, as its history tells them: a session has read some of its files, or none,
and the reference of Python as pages of 100 kB.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

sys.path[:0] = map(str, (Path(__file__).resolve().parents[3], Path(__file__).resolve().parents[1]))

from memory_server.domain import trust  # noqa: E402
from quality.poison import CLEAN, HELD, ROOT, SEED, Session, is_chinese, prose  # noqa: E402

FILE = ROOT / "scripts/lab/quality/poison_pages.txt"

ASKED = {False: "Read this page and keep what matters: {}", True: "读一下这个网页，记住重要的内容：{}"}

LINES = (20, 300)
"""Lines of the shortest and of the longest page."""

LARGE = 100_000
"""Characters of a large page."""


@dataclass(slots=True)
class Subject:
    """A page with what is said beside it."""

    name: str
    origin: str
    lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def chinese(self) -> bool:
        return is_chinese(self.name)

    def page(self, chance: random.Random, clean: str) -> str:
        """Return the page: its lines in any order, among clean lines."""
        lines = self.lines["page"] + self.lines["filler"]
        others = [line.strip() for line in clean.splitlines() if line.strip()]
        start = chance.randrange(len(others))
        number = max(0, chance.randint(*LINES) - len(lines))
        lines += (others * 2)[start : start + min(number, len(others))]
        return "\n".join(chance.sample(lines, len(lines)))


def subjects() -> list[Subject]:
    """Read the file."""
    all_subjects: list[Subject] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == "#":
            name, _, origin = text.partition(" | ")
            all_subjects.append(Subject(name, origin))
        else:
            all_subjects[-1].lines.setdefault(kind, []).append(text)
    return all_subjects


def chosen(held: bool) -> Iterator[Subject]:
    """Yield the subjects that are held, or the others."""
    for number, subject in enumerate(subjects()):
        if (number % HELD == HELD - 1) == held:
            yield subject


def session_of(subject: Subject, clean: str, number: int) -> Session:
    """Return a session in which the page was read beside others."""
    chance, session = random.Random(SEED + number), Session.of()
    session.hear("UserPromptSubmit", prompt=ASKED[subject.chinese].format(subject.name))
    session.outputs(clean, CLEAN // 2, chance)
    for _ in range(CLEAN // 2):
        start = chance.randrange(max(1, len(clean) - 4000))
        local(session, clean[start : start + 4000])
    local(session, "\n".join(subject.lines["local"]))
    page, (kind, name) = subject.page(chance, clean), subject.origin.split()
    if kind == "mcp":
        session.hear("PostToolUse", tool_name=f"mcp__{name}__page", tool_input={}, tool_response=page)
    else:
        session.fetch(page, f"https://{name}/page")
    return session


def local(session: Session, output: str) -> None:
    session.hear(
        "PostToolUse", tool_name="Read", tool_input={"file_path": "/srv/notes"}, tool_response=output
    )


@dataclass(slots=True)
class Counts:
    """What was taken for a page's, by its kind; `shows` prints each text that is taken wrongly."""

    shows: bool
    flags: dict[str, list[bool]] = field(default_factory=dict)
    seconds: float = 0.0
    as_users: list[bool] = field(default_factory=list)

    def add(self, kind: str, session: Session, texts: Iterable[str], of_page: bool = False) -> None:
        for text in texts:
            began = time.process_time()
            origin = session.origin(text)
            self.seconds += time.process_time() - began
            self.flags.setdefault(kind, []).append(trust.waits(origin))
            if self.shows and trust.waits(origin) != of_page:
                print(f"{kind}: {text}")

    def show(self) -> None:
        number = sum(map(len, self.flags.values()))
        print(f"{1000 * self.seconds / number:.2f} ms of CPU a text; taken for what a page says:")
        for kind, flags in self.flags.items():
            print(f"  {kind:<42} {sum(flags) / len(flags):6.1%} of {len(flags)}")
        print(f"the page's, worded again, taken for the user's: {sum(self.as_users)} of {len(self.as_users)}")


def listen(subject: Subject, session: Session, counts: Counts) -> None:
    """Count what a session of a subject makes of all its texts, and of those of other subjects."""
    lines = subject.lines
    counts.add("the page's, verbatim", session, lines["page"], of_page=True)
    counts.add("the page's, worded again closely", session, lines["again"][::2], of_page=True)
    counts.add("the page's, worded again freely", session, lines["again"][1::2], of_page=True)
    joined = (f"{mine} {text}" for mine, text in zip(cycle(lines["infers"]), lines["again"], strict=False))
    counts.add("the page's, after a conclusion", session, joined, of_page=True)
    counts.add("concluded from a local output", session, lines["infers"])
    counts.add("said by nobody", session, lines["nobody"])
    for other in subjects():
        if other.name != subject.name and other.chinese == subject.chinese:
            texts = other.lines["infers"] + other.lines["nobody"] + other.lines["stored"]
            counts.add("of another subject", session, texts)
    for said, stored in zip(lines["user"], lines["stored"], strict=True):
        session.hear("UserPromptSubmit", prompt=said)
        counts.add("said by the user, worded again", session, [stored])
    counts.as_users += [trust.is_of_user(session.origin(text)) for text in lines["again"]]


def history(counts: Counts, held: bool) -> None:
    """Count the changes of this program among outputs of its own files and large pages on its language."""
    command = ["git", "log", "-1200", "--format=%s"]
    log = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    clean = prose()[False]
    files = sorted((ROOT / "memory_server").rglob("*.py"))
    for number in (20, 0):
        session = Session.of()
        for path in files[:: len(files) // number] if number else ():
            local(session, path.read_text(encoding="utf-8"))
        for start in range(0, len(clean), LARGE):
            session.fetch(clean[start : start + LARGE], "https://reference.example")
        counts.add(f"a change of this program, {number} files read", session, log[2 * held :: 4])


def command_line(description: str | None) -> argparse.Namespace:
    """Return the arguments of the command line: `held` and `list`."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", action="store_true", help="only the third that is held")
    parser.add_argument("--list", action="store_true", help="the texts that are taken for another's")
    return parser.parse_args()


def main() -> None:
    arguments = command_line(__doc__)
    clean, counts = prose(), Counts(arguments.list)
    for number, subject in enumerate(chosen(arguments.held)):
        listen(subject, session_of(subject, clean[subject.chinese], number), counts)
    history(counts, arguments.held)
    counts.show()


if __name__ == "__main__":
    main()
