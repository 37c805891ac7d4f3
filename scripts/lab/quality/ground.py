"""Measures the verdicts on notes by labels of git: `python scripts/lab/quality/ground.py REPOSITORY… [--notes N]`.

A repository is a git folder with its history. A note is the message of a commit, or the comments that a commit added,
where it names a file or a symbol. It is observed in the tree of that commit, and looked at again in the trees of 30, 90
and 180 days later, each checked out into one temporary folder.

git itself gives the label, from the objects of both commits: `git grep` finds the lines that hold the name, in the file
and in all files; `git diff --find-renames` says what became of a file. Printed is, for every horizon:

- stands, changed, gone: the anchors by their label; unknown: the share that got no verdict;
- false alarms: the share of the anchors that stand which were called changed or gone;
- precision, recall: of the verdicts changed and gone together, and of either.

`--seconds` is the CPU time of a look, for the anchors of one note. `--errors` prints so many disagreements.
`--contradictions N` changes values in files instead, and `--cost` measures CPU and files read.
"""

import argparse
import random
import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.ground import Anchor, State, Verdict, look, observe  # noqa: E402

HORIZONS = (30, 90, 180)
DAY = 86_400
ALARMS = (State.CHANGED, State.GONE)

NO_SOURCE = re.compile(
    r"(?i)(?:^|/)(?:node_modules|vendor|third_party|dist)/|(?:^|/)(?:change(?:s|log)|history|news|release[-_ ]?notes"
    r"|releases|whatsnew)(?![a-z])[^/]*$|\.min\.(?:js|css)$|\.(?:svg|map|snap|lock)$"
    r"|(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum)$"
)
"""Files that say nothing about the present: data, locks, and histories, which name for ever what is gone."""


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.hooksPath=/dev/null", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Note:
    commit: str
    time: int
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """The commits of the main line, from the oldest, with times that never fall."""

    commits: tuple[str, ...]
    times: tuple[int, ...]
    messages: tuple[str, ...]

    def at(self, time: int) -> str:
        return self.commits[bisect_right(self.times, time) - 1]


def history(repository: Path) -> History:
    log = git(repository, "log", "--first-parent", "--reverse", "--format=%H%x1f%ct%x1f%B%x1e", "HEAD")
    rows = [row.strip("\n").split("\x1f") for row in log.split("\x1e")]
    rows = [row for row in rows if len(row) == 3]
    times = accumulate((int(row[1]) for row in rows), max)
    return History(tuple(row[0] for row in rows), tuple(times), tuple(row[2] for row in rows))


def notes(repository: Path, past: History, count: int) -> list[Note]:
    """Return so many notes, by chance: messages, and for every third commit the comments that it added."""
    last = past.times[-1] - HORIZONS[-1] * DAY
    chosen = [number for number, time in enumerate(past.times) if time <= last]
    random.Random(7).shuffle(chosen)
    texts: list[Note] = []
    for number in chosen:
        if len(texts) >= count:
            break
        text = comments(repository, past.commits[number]) if number % 3 == 0 else past.messages[number]
        text = re.sub(r"(?m)^(?:Signed-off-by|Co-authored-by|Reviewed-by|Closes|Fixes):? .*$", "", text)
        if re.search(r"`[^`]+`|\w[._/]\w|\w\(\)|[a-z][A-Z]|--\w", text):
            texts.append(Note(past.commits[number], past.times[number], text))
    return texts


def comments(repository: Path, commit: str) -> str:
    """Return the comments of whole lines that a commit added, at most six."""
    added = git(repository, "show", "--format=", "--unified=0", "--no-color", "-m", "--first-parent", commit)
    lines = re.findall(r"(?m)^\+\s*(?:#|//|\*)\s+(\w.{30,})$", added[:400_000])
    return "\n".join(lines[:6])


@lru_cache(maxsize=20_000)
def grep(repository: Path, commit: str, name: str, path: str) -> dict[str, frozenset[str]]:
    """Return the lines that hold a name as a whole word, by file, as git greps them; without what formats them."""
    edge = r"[\w-]" if "-" in name else r"\w"
    before, after = (
        (f"(?<!{edge})" if re.match(edge, name) else ""),
        (f"(?!{edge})" if re.match(edge, name[-1]) else ""),
    )
    word = re.compile(before + re.escape(name) + after, re.ASCII)
    found = git(
        repository,
        "grep",
        "-I",
        "-F",
        "-z",
        "-e",
        name,
        commit,
        "--",
        *([f":(literal){path}"] if path else []),
    )
    by_file: dict[str, set[str]] = {}
    for row in found.split("\n"):
        file, _, line = row.removeprefix(f"{commit}:").partition("\0")
        if word.search(line) and (path or not NO_SOURCE.search(file)):
            by_file.setdefault(file, set()).add(plain(line))
    return {file: frozenset(lines) for file, lines in by_file.items()}


def plain(line: str) -> str:
    return re.sub(r"[,;]+$", "", re.sub(r"\s", "", line).replace("'", '"').replace("`", '"'))


@lru_cache(maxsize=2_000)
def fates(repository: Path, before: str, after: str) -> dict[str, str]:
    """Return the files that a commit no longer has at their path: "R" where git finds them renamed, else "D"."""
    changes = git(
        repository, "diff", "--name-status", "--find-renames", "-z", "--diff-filter=RD", before, after
    ).split("\0")
    fate, at = {}, 0
    while at < len(changes) - 1:
        fate[changes[at + 1]] = changes[at][0]
        at += 3 if changes[at][0] == "R" else 2
    return fate


def label(repository: Path, anchor: Anchor, before: str, after: str) -> State | None:
    """Return what git says of an anchor; None where git does not find it in the commit of the note."""
    fate = fates(repository, before, after).get(anchor.path)
    if not anchor.name:
        return {None: State.SAME, "R": State.MOVED}.get(fate, State.GONE)
    old = grep(repository, before, anchor.name, anchor.path).get(anchor.path, frozenset())
    new = grep(repository, after, anchor.name, anchor.path).get(anchor.path, frozenset())
    if anchor.value:
        value = re.compile(rf"(?<![\w.]){re.escape(anchor.value)}(?![\d])")
        old = frozenset(line for line in old if value.search(line.replace("_", "")) or anchor.value in line)
        if any(value.search(line.replace("_", "")) or anchor.value in line for line in new):
            return State.SAME
    if not old:
        return None
    if new:
        return State.SAME if old <= new else State.CHANGED
    everywhere = grep(repository, after, anchor.name, "").values()
    if any(old <= lines for lines in everywhere):
        return State.MOVED
    return State.CHANGED if everywhere else State.GONE


@dataclass(frozen=True, slots=True)
class Outcome:
    repository: str
    days: int
    verdict: Verdict
    label: State
    note: Note


def outcomes(repository: Path, count: int, seconds: float) -> Iterator[Outcome]:
    """Yield the verdicts on all notes of a repository: one folder is checked out from commit to commit."""
    past = history(repository)
    chosen = notes(repository, past, count)
    events = sorted(
        (note.time + days * DAY, days, number)
        for number, note in enumerate(chosen)
        for days in (0, *HORIZONS)
    )
    anchors: dict[int, tuple[Anchor, ...]] = {}
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        tree = Path(folder) / "tree"
        git(repository, "clone", "-q", "--shared", "--no-checkout", str(repository), str(tree))
        for time, days, number in events:
            note = chosen[number]
            if days and not anchors[number]:
                continue
            commit = past.at(time) if days else note.commit
            check_out(tree, commit)
            if not days:
                anchors[number] = observe(note.text, tree, seconds=30)
                continue
            for verdict in look(anchors[number], tree, seconds=seconds):
                truth = label(repository, verdict.anchor, note.commit, commit)
                if truth is not None:
                    yield Outcome(repository.parent.name, days, verdict, truth, note)


def check_out(tree: Path, commit: str) -> None:
    """Check out a commit, without the large files that the copy of a repository may lack."""
    for _ in range(20):
        command = [
            "git",
            "-c",
            "core.hooksPath=/dev/null",
            "-C",
            str(tree),
            "checkout",
            "-q",
            "-f",
            "--detach",
            commit,
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            return
        lacking = re.findall(r"unable to read sha1 file of (.+) \(", done.stderr.decode("utf-8", "replace"))
        git(tree, "config", "core.sparseCheckout", "true")
        patterns = tree / ".git" / "info" / "sparse-checkout"
        patterns.parent.mkdir(exist_ok=True)
        old = patterns.read_text(encoding="utf-8") if patterns.exists() else "/*\n"
        patterns.write_text(old + "".join(f"!/{path}\n" for path in lacking), encoding="utf-8")
    raise SystemExit(f"{tree}: {commit} cannot be checked out: {done.stderr!r}")


def kind(state: State) -> str:
    return state.value if state in (*ALARMS, State.UNKNOWN) else "stands"


def share(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     –"


def table(results: Sequence[Outcome]) -> None:
    print(
        f"{'':>22} {'stands':>7} {'changed':>7} {'gone':>5} {'unknown':>7} {'false':>6}"
        "   precision, recall: alarm, changed, gone"
    )
    rows = [
        (name, [r for r in results if r.repository == name])
        for name in dict.fromkeys(r.repository for r in results)
    ]
    rows += [(f"{days} days", [r for r in results if r.days == days]) for days in HORIZONS] + [
        ("all", list(results))
    ]
    for name, part in rows:
        pairs = Counter((kind(result.label), kind(result.verdict.state)) for result in part)
        truth = Counter(kind(result.label) for result in part)
        said = Counter(kind(result.verdict.state) for result in part)
        alarms, calls = truth["changed"] + truth["gone"], said["changed"] + said["gone"]
        right = sum(pairs[a.value, b.value] for a in ALARMS for b in ALARMS)
        false = pairs["stands", "changed"] + pairs["stands", "gone"]
        print(
            f"{name[-22:]:>22} {truth['stands']:>7} {truth['changed']:>7} {truth['gone']:>5} "
            f"{share(said['unknown'], len(part)):>7} {share(false, truth['stands'])}"
            f"  {share(right, calls)} {share(right, alarms)}",
            *(
                f"  {share(pairs[state, state], said[state])} {share(pairs[state, state], truth[state])}"
                for state in ("changed", "gone")
            ),
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="*", type=Path, metavar="REPOSITORY")
    parser.add_argument("--notes", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    results = [
        o
        for repository in options.repositories
        for o in outcomes(repository.resolve(), options.notes, options.seconds)
    ]
    table(results)
    wrong = [result for result in results if kind(result.label) != kind(result.verdict.state)]
    for result in random.Random(3).sample(wrong, min(options.errors, len(wrong))):
        print(
            f"\n{result.repository} {result.days} days, {result.note.commit[:10]}: {result.label} said {result.verdict}"
        )


if __name__ == "__main__":
    main()
