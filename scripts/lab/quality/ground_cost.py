"""Measures what the ground of notes costs: `python scripts/lab/quality/ground_cost.py [FILES…]`.

A git repository of so many files (1,000, 10,000, 100,000), each of about 4 kB, is made in memory where there is such a
folder. Ten notes name two symbols, a value and a file each; half of them do not say in which file a symbol stands.
Printed is for every size, of the CPU of this thread and of the files that were opened, the index aside:

- observe: of one note at the first time, which reads the index too, and of one later;
- stands: a look at the anchors of all ten notes, none of which has changed;
- changed: the same, where in one file of every note a line has changed;
- gone: the same, where one symbol is nowhere: proved with a budget of 30 ms, and with 10 s.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.ground import Anchor, Verdict, look, observe  # noqa: E402

WORDS = "load save order price stock index queue retry parse check write store fetch merge".split()
opened: list[str] = []


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def text(number: int, chance: random.Random) -> str:
    """Return the text of a file whose names are in no other one."""
    lines = [f"TIMEOUT_{number} = {number + 10}"]
    for part in range(30):
        first, second = chance.choice(WORDS), chance.choice(WORDS)
        lines += [
            f"def {first}_{number}_{part}({second}, more):",
            f'    """Return the {first} of the {second}."""',
        ]
        lines += [f"    return {second} + more * {chance.randrange(9999)}", ""]
    return "\n".join(lines)


def made(root: Path, files: int) -> list[str]:
    """Make the repository, and return its paths."""
    chance = random.Random(5)
    paths = [f"part_{number // 1000}/group_{number // 50}/module_{number}.py" for number in range(files)]
    for number, path in enumerate(paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text(number, chance), encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    return paths


def names(root: Path, path: str) -> list[str]:
    return [
        line.split()[1].partition("(")[0]
        for line in (root / path).read_text("utf-8").split("\n")
        if line[:4] == "def "
    ]


def notes(root: Path, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return ten notes, and the file of each."""
    chosen = random.Random(9).sample(paths, 10)
    texts = []
    for number, path in enumerate(chosen):
        first, second, *_ = names(root, path)
        value = (root / path).read_text("utf-8").split("\n")[0]
        place = f" in {path}" if number % 2 else ""
        texts.append((f"`{first}` calls {second}(){place}; {value.replace('=', 'is')}.", path))
    return texts


def measured(work: Callable[[], object]) -> str:
    opened.clear()
    start = time.thread_time()
    work()
    seconds = time.thread_time() - start
    return f"{seconds * 1000:8.1f} ms {sum(not path.endswith('index') for path in opened):>7} files"


def states(verdicts: Sequence[Verdict]) -> str:
    kinds = [verdict.state.value for verdict in verdicts]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))


def measure(files: int) -> None:
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        root = Path(folder).resolve()
        paths = made(root, files)
        texts = notes(root, paths)
        print(f"{files:,} files")
        print(f"  observe, first   {measured(lambda: observe(texts[1][0], root))}")
        print(f"  observe, later   {measured(lambda: observe(texts[3][0], root))}")
        print(f"  observe, no file {measured(lambda: observe(texts[2][0], root))}")
        anchors: list[Anchor] = [anchor for note, _ in texts for anchor in observe(note, root, seconds=60)]
        report("stands", anchors, root)
        for _, path in texts:
            source = (root / path).read_text("utf-8")
            (root / path).write_text(source.replace(", more):", ", more, last):", 1), encoding="utf-8")
        report("changed", anchors, root)
        path = texts[0][1]
        source = (root / path).read_text("utf-8")
        (root / path).write_text(source.replace(f"{names(root, path)[0]}(", "other("), encoding="utf-8")
        report("gone", anchors, root)
        report("gone, 10 s", anchors, root, 10)


def report(what: str, anchors: Sequence[Anchor], root: Path, seconds: float = 0.03) -> None:
    verdicts: list[Verdict] = []
    figures = measured(lambda: verdicts.extend(look(anchors, root, seconds=seconds)))
    print(f"  {what:<16} {figures}  {len(anchors)} anchors: {states(verdicts)}")


def main() -> None:
    sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
    for files in [int(size) for size in sys.argv[1:]] or [1_000, 10_000, 100_000]:
        measure(files)


if __name__ == "__main__":
    main()
