"""Measures what is said before an act, by labels of git: `python scripts/lab/quality/acts.py REPOSITORY… [--held]`.

A repository is a git folder with its history. A note is a sentence of a commit's message that decides, warns or
prescribes, as a session would have stored it: of a commit that touched one file of source, every second note says its
path, the others its name alone; of one that touched several in a folder, that folder; else the sentence has to name
something itself. It is stored as a decision, and observed in the tree of the last commit that has notes. An act is the
edit of a file by a later commit, with its changed lines as the text; a commit is a session. The label is git's:

- a note is about the files that its own commit has touched, whatever they are called now, about the folder where it
  says one, and about the names that stand both in the note and in the lines that its commit has changed;
- an act has a note where such a file is edited, or where such a name stands in its lines.

Printed is, for every repository and for all: acts with a note, the share of them before which something was said, and
the share of what was said first that is about the act (precision); acts without a note, and the share that was silent.
Every third repository is held: it is only measured with `--held`, alone. `--errors N` prints what was said wrongly.

`--commands` measures `act_commands.jsonl` instead: notes that say how a command is run, and commands of a session.
Every third note is held there.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain import commands  # noqa: E402
from memory_server.domain.act import Act, Kind  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.commands import Form  # noqa: E402
from memory_server.domain.memory import MemoryDraft, MemoryType  # noqa: E402
from memory_server.language import sentences  # noqa: E402
from memory_server.project import project_of  # noqa: E402
from memory_server.services import projects  # noqa: E402
from memory_server.settings import Settings  # noqa: E402
from quality.ground import check_out, git  # noqa: E402

HERE = Path(__file__).parent
COMMITS, MOST_TOUCHED, OF_NOTES, ROOM = 1_500, 12, 0.6, 85

DECIDES = re.compile(
    r"\b(?:must|never|always|should|instead of|rather than|don't|do not|no longer|prefer|avoid|ensure|make sure|only"
    r"|cannot|can't|because|so that|needs? to|has to|have to)\b",
    re.IGNORECASE,
)
NAME = re.compile(r"[A-Za-z_][\w.]*(?:_|[a-z0-9][A-Z]|\(\))[\w()]*|\b\w+\.[a-z]{1,4}\b|\b[\w-]+/")
NO_SOURCE = re.compile(
    r"(?i)(?:^|/)(?:changes|changelog|history|news)[^/]*$|\.(?:lock|sum|snap)$|package-lock\.json$"
)
CODE = re.compile(r"[A-Za-z_]\w{4,}")


@dataclass(frozen=True, slots=True)
class Commit:
    """`hunks` are the changed lines of each file that it touches."""

    id: str
    message: str
    hunks: dict[str, str]


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    files: frozenset[str]
    folder: str
    names: frozenset[str]

    def is_about(self, path: str, hunk: str) -> bool:
        is_below = bool(self.folder) and path.startswith(f"{self.folder}/")
        return path in self.files or is_below or bool(self.names & set(CODE.findall(hunk)))


def commits(repository: Path) -> list[Commit]:
    """Return the last commits without merges, the oldest first."""
    command = [
        "git",
        "-c",
        "core.hooksPath=/dev/null",
        "-C",
        str(repository),
        "log",
        "--no-merges",
        f"-n{COMMITS}",
    ]
    command += [
        "-p",
        "--unified=0",
        "--no-renames",
        "--no-color",
        "--no-ext-diff",
        "--format=%x01%H%x02%B%x02",
        "HEAD",
    ]
    log = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    found = []
    for part in re.split("\x01(?=[0-9a-f]{40}\x02)", log)[1:]:
        id, message, diff = part.split("\x02", 2)
        hunks = {}
        for text in re.split(r"(?m)^diff --git ", diff)[1:]:
            path = re.match(r"a/(.+?) b/", text)
            lines = re.findall(r"(?m)^[+-](?![+-]{2} )(.*)$", text)
            if path and lines:
                hunks[path[1]] = "\n".join(lines)[:4_000]
        if hunks and len(hunks) <= MOST_TOUCHED:
            found.append(Commit(id, message, hunks))
    return found[::-1]


def notes(past: Sequence[Commit], most: int) -> list[Note]:
    """Return the sentences of messages that decide about what their commit has touched, as a session would say them."""
    found: list[Note] = []
    for commit in past:
        body = re.sub(r"(?m)^(?:[\w-]+-by|Closes|Fixes|Ref|See)\b.*$", "", commit.message)
        body = re.sub(r"\n(?!\n|[-*] )", " ", body)
        changed = set(CODE.findall("\n".join(commit.hunks.values())))
        source = [path for path in commit.hunks if not NO_SOURCE.search(path)]
        folders = {path.rpartition("/")[0] for path in source}
        folder = folders.pop() if len(source) > 1 and len(folders) == 1 else ""
        for sentence in sentences.split(body):
            if not (40 <= len(sentence) <= 300 and DECIDES.search(sentence)):
                continue
            names = {name for name in CODE.findall(sentence) if re.search(r"_|[a-z0-9][A-Z]", name)}
            if len(source) == 1:
                name = source[0].rpartition("/")[2]
                text = f"{sentence} (`{source[0]}`)" if len(found) % 2 else f"In {name}: {sentence}"
            elif "/" in folder:
                text = f"{sentence} This holds for all of `{folder}/`."
            elif len(source) <= 3 and NAME.search(sentence):
                text, folder = sentence, ""
            else:
                continue
            found.append(
                Note(text, frozenset(source), folder if "/" in folder else "", frozenset(names & changed))
            )
    return found[-most:]


@dataclass(frozen=True, slots=True)
class Outcome:
    path: str
    said: Note | None
    is_right: bool
    has_note: bool


def renamed(repository: Path) -> dict[str, str]:
    """Return the names that files have got since, by their old ones."""
    changes = git(
        repository, "log", "--reverse", "-M", "--diff-filter=R", "--name-status", "--format=", f"-n{COMMITS}"
    )
    names: dict[str, str] = {}
    for _, old, new in (line.split("\t") for line in changes.splitlines() if line.count("\t") == 2):
        names = {first: new if last == old else last for first, last in names.items()} | {old: new}
    return names


def outcomes(repository: Path, most: int) -> Iterator[Outcome]:
    history = commits(repository)
    cut = int(len(history) * OF_NOTES)
    names = renamed(repository)
    stored = [
        replace(note, files=note.files | {names[file] for file in note.files if file in names})
        for note in notes(history[:cut], most)
    ]
    later = random.Random(7).sample(history[cut:], min(most // 2, len(history) - cut))
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        tree = Path(name) / "tree"
        git(repository, "clone", "-q", "--shared", "--no-checkout", str(repository), str(tree))
        check_out(tree, history[cut - 1].id)
        services = app.build(Settings(db=Path(name) / "memory.db", embedder="hashing"))
        caller = Caller("lab", None, project_of(None, tree), folder=tree)
        try:
            ids = store(services, stored, caller)
            for commit in later:
                session = replace(caller, session=commit.id)
                for path, hunk in commit.hunks.items():
                    yield judged(services, ids, path, hunk, session)
        finally:
            services.close()


def store(services: app.Services, texts: Sequence[Note], caller: Caller) -> dict[int, Note]:
    """Store notes as decisions, with what they speak of in the tree; return them by the ids of their memories."""
    ids = {}
    for note in texts:
        with services.database.write() as tx:
            at_home = projects.settled(tx, caller)
            draft = MemoryDraft(note.text, MemoryType.DECISION, at_home.project.name)
            memory = tx.memories.insert(draft, at_home)
        services.ground.written(memory, caller)
        services.ground.observe()
        ids[int(memory.id)] = note
    return ids


def judged(services: app.Services, ids: Mapping[int, Note], path: str, hunk: str, caller: Caller) -> Outcome:
    assert caller.folder
    act = Act(Kind.CHANGES, "Edit", "", (caller.folder / path,), hunk)
    began = time.process_time()
    reminder = services.acts.remind(act, ROOM, caller)
    CPU.append(time.process_time() - began)
    services.injections.record_reminder(reminder, "PreToolUse", caller)
    said = ids[reminder.said[0].id] if reminder.said else None
    has_note = any(note.is_about(path, hunk) for note in ids.values())
    return Outcome(path, said, said is not None and said.is_about(path, hunk), has_note)


CPU: list[float] = []


def share(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     –"


def row(name: str, results: Sequence[Outcome]) -> None:
    having = [result for result in results if result.has_note]
    lacking = [result for result in results if not result.has_note]
    said = [result for result in results if result.said]
    print(
        f"{name[-24:]:>24} {len(having):>6} {share(sum(r.said is not None for r in having), len(having))}"
        f" {share(sum(r.is_right for r in said), len(said))} ({len(said)})"
        f" {len(lacking):>6} {share(sum(r.said is None for r in lacking), len(lacking))}"
    )


def of_commands(is_held: bool) -> None:
    rows = [
        json.loads(line) for line in (HERE / "act_commands.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    counts = {(expected, said): 0 for expected in (True, False) for said in (True, False)}
    for case in (case for case in rows if case["held"] == is_held):
        note = commands.of_note(case["note"])
        forms = [commands.form(command, note) for command in commands.commands(case["command"])]
        said = Form.OTHER in forms and Form.RIGHT not in forms
        counts[case["said"], said] += 1
        if said != case["said"]:
            print(f"{'missed' if case['said'] else 'wrong'}: {case['command']}  <-  {case['note']}")
    right, wrong = counts[True, True], counts[False, True]
    print(
        f"commands: said {right} of {right + counts[True, False]}, wrong {wrong} of {wrong + counts[False, False]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="*", type=Path, metavar="REPOSITORY")
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--most", type=int, default=300, help="notes, and acts, of a repository")
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    if options.commands:
        of_commands(options.held)
        return
    chosen = [path for number, path in enumerate(options.repositories) if (number % 3 == 2) == options.held]
    print(f"{'':>24} {'acts':>6} {'said':>6} {'precision':>6} {'without':>12} {'silent':>6}")
    everything = []
    for repository in chosen:
        results = list(outcomes(repository.resolve(), options.most))
        row(repository.parent.name, results)
        everything += [replace(result, path=f"{repository.parent.name}:{result.path}") for result in results]
    row("all", everything)
    CPU.sort()
    print(
        f"CPU of an act: median {CPU[len(CPU) // 2] * 1000:.1f} ms, .95 {CPU[len(CPU) * 95 // 100] * 1000:.1f} ms"
    )
    wrong = [result for result in everything if result.said and not result.is_right]
    for result in random.Random(3).sample(wrong, min(options.errors, len(wrong))):
        print(f"\n{result.path}: {result.said and result.said.text}")


if __name__ == "__main__":
    main()
