"""Changes values in files, and reads what is said: `python scripts/lab/quality/contradictions.py REPOSITORY…`.

A line of the newest tree that gives a name a number, a version or a quoted text is chosen by chance. A note says the
value in one of four ways: with the name and the file, in words and with the file, with the name alone, in Chinese with
the file. It is observed; then the value is changed, lines are put before it, and it is looked at again. Printed is for
every way:

- right: the share of the notes of which the new line is said;
- wrong: the share of which another line is said to have changed, or that something is gone;
- silent: of which nothing is said; so many of them had no anchor on the line.

`--errors` prints so many that are not right.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.ground import State, look, observe, remark  # noqa: E402
from quality.ground import NO_SOURCE, check_out, git  # noqa: E402

LINE = re.compile(
    r"""^\s*(?:(?:export|pub|static|const|let|var|final|int|\#define)\s+|self\.)*"?(?P<name>[A-Za-z_][\w-]{3,40})"?
    \s*(?::\s*[\w<>&' ]+?)?\s*(?:=|:=|:|\s)\s*(?P<value>\d[\d_]*(?:\.\d+)*
    |"[\w./:-]{2,30}"|'[\w./:-]{2,30}')\s*[,;)]?\s*$""",
    re.VERBOSE,
)
KEYWORD = re.compile(r"return|yield|case|import|from|raise|throw|await|assert|break|else|use|package")
ENDINGS = (
    ".py",
    ".ts",
    ".js",
    ".go",
    ".rs",
    ".c",
    ".h",
    ".toml",
    ".json",
    ".yml",
    ".yaml",
    ".cfg",
    ".conf",
    ".ini",
)
WAYS = ("name and file", "words and file", "name", "Chinese")


@dataclass(frozen=True, slots=True)
class Line:
    path: str
    number: int
    text: str
    name: str
    value: str


def lines(tree: Path) -> Iterator[Line]:
    """Yield the lines that give a name a value, where the file does so once, and has the name 12 times at most."""
    for path in git(tree, "ls-files").splitlines():
        if not path.endswith(ENDINGS) or NO_SOURCE.search(path) or not (tree / path).is_file():
            continue
        rows = (tree / path).read_text(encoding="utf-8", errors="replace").split("\n")
        matches = [(number, match) for number, row in enumerate(rows, 1) if (match := LINE.match(row))]
        words = Counter(re.findall(r"[\w-]+", "\n".join(rows)))
        times = Counter(match["name"] for _, match in matches)
        for number, match in matches:
            name, value = match["name"], match["value"].strip("\"'")
            if len(value) > 1 and times[name] == 1 and words[name] <= 12 and not KEYWORD.fullmatch(name):
                yield Line(path, number, rows[number - 1], name, value)


def note(line: Line, way: str) -> str:
    file = line.path.rpartition("/")[2]
    words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", line.name)).lower()
    quoted = line.value if line.value[0].isdigit() else f'"{line.value}"'
    return {
        "name and file": f"`{line.name}` is {quoted}, set in {line.path} line {line.number}",
        "words and file": f"The {words} is {quoted}; see {file}.",
        "name": f"We keep {line.name} = {quoted} since the last release",
        "Chinese": f"在{line.path}中,{line.name} 设置为 {quoted}。",
    }[way]


def changed(line: Line, chance: random.Random) -> str:
    """Return the line with another value of the same kind."""
    digits = re.search(r"\d+", line.value)
    if digits:
        number = str(int(digits[0]) * 2 + chance.randint(1, 9))
        value = line.value[: digits.start()] + number + line.value[digits.end() :]
    else:
        value = line.value[::-1] + chance.choice(("-two", "_b", "x"))
    before, _, after = line.text.rpartition(line.value)
    return before + value + after


def outcome(tree: Path, line: Line, way: str, chance: random.Random) -> tuple[str, str]:
    """Return right, wrong, silent or "no anchor", and what was said."""
    anchors = observe(note(line, way), tree, seconds=30)
    file = tree / line.path
    old = file.read_bytes()
    rows = old.decode("utf-8", "replace").split("\n")
    new = changed(line, chance)
    rows[line.number - 1] = new
    rows[0:0] = [""] * chance.randint(0, 3)
    file.write_bytes("\n".join(rows).encode())
    verdicts = look(anchors, tree, seconds=30)
    file.write_bytes(old)
    said = "; ".join(filter(None, map(remark, verdicts)))
    texts = [verdict.text for verdict in verdicts if verdict.state in (State.CHANGED, State.GONE)]
    if any(text and text != " ".join(new.split())[: len(text)] for text in texts):
        return "wrong", said
    if any(texts):
        return "right", said
    return ("silent" if any(anchor.name == line.name for anchor in anchors) else "no anchor"), said


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(11)
    counts: Counter[tuple[str, str]] = Counter()
    errors = []
    for repository in options.repositories:
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            tree = Path(folder) / "tree"
            git(repository, "clone", "-q", "--shared", "--no-checkout", str(repository.resolve()), str(tree))
            check_out(tree, "HEAD")
            every = list(lines(tree))
            files = Counter(path.rpartition("/")[2] for path in git(tree, "ls-files").splitlines())
            for line in chance.sample(every, min(len(every), -(-options.count // len(options.repositories)))):
                way = WAYS[chance.randrange(4)]
                if way == "words and file" and files[line.path.rpartition("/")[2]] > 3:
                    way = "Chinese"
                if (
                    way == "name" and git(tree, "grep", "-lwF", line.name).count("\n") > 1
                ):  # such a note does not say which one it means
                    way = "name and file"
                result, said = outcome(tree, line, way, chance)
                counts[way, result] += 1
                if result != "right":
                    errors.append(
                        f"{result}: {note(line, way)!r}\n    {line.path}:{line.number} {line.text.strip()!r}; {said}"
                    )
    for way in (*WAYS, "all"):
        part = {
            result: sum(n for (w, r), n in counts.items() if r == result and way in (w, "all"))
            for _, result in counts
        }
        total = sum(part.values())
        print(
            f"{way:>15} {total:>4}",
            *(f"{result} {number / total:.3f}" for result, number in sorted(part.items())),
        )
    print("\n".join(errors[: options.errors]))


if __name__ == "__main__":
    main()
