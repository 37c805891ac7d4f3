"""Measures what is said when an error comes back: `python scripts/lab/quality/mending.py [--held] [--errors]`.

`mending.jsonl` has sessions with real commands, those of `mending_cases.jsonl`, of which `--record` ran each in a
folder of its own, twice: the first session fails, looks around, does what mends it, and succeeds; the second one fails
in the same way, in another folder. A third one fails of something else. They are played through what an engine answers
a hook, as Claude Code tells it, every second one as Codex does, in one memory. Printed is how often the mend was said
at the second failure, how often something else was said there or at the third one, and how often at a first one.

Every third session is held: it is only played with `--held`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.engine import hooks  # noqa: E402
from memory_server.engine.witness import Witness  # noqa: E402
from memory_server.settings import Settings  # noqa: E402

HERE = Path(__file__).parent
SESSIONS = HERE / "mending.jsonl"
LONGEST = 4_000

Step = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """`fails` is the command that fails after `before`; `noise` is what a session does besides, `mend` what ends the
    error: commands, or `edit FILE: command` for an edit. `label` stands in what should be said, `other` fails of
    something else. `then` is the command that succeeds, where it is another way to do the same.
    """

    before: str
    fails: str
    mend: tuple[str, ...]
    label: str
    noise: tuple[str, ...] = ("ls", "git status --short")
    other: str = ""
    then: str = ""


def cases() -> list[Case]:
    rows = [
        json.loads(line) for line in (HERE / "mending_cases.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return [Case(**{**row, "mend": tuple(row["mend"]), "noise": tuple(row.get("noise", ()))}) for row in rows]


def record() -> Iterator[Step]:
    for number, case in enumerate(cases()):
        sessions = []
        for kind in ("first", "second", "third"):
            if kind == "third" and not case.other:
                continue
            with tempfile.TemporaryDirectory(prefix=f"s{number}") as folder:
                run(case.before, folder)
                steps = [ran(case.other if kind == "third" else case.fails, folder)]
                if kind == "first":
                    steps += [ran(command, folder) for command in case.noise]
                    steps += [
                        changed(step, folder) if step.startswith("edit ") else ran(step, folder)
                        for step in case.mend
                    ]
                    steps.append(ran(case.then or case.fails, folder))
                sessions.append(steps)
        first = sessions[0]
        if first[0]["code"] == 0 or first[-1]["code"] != 0:
            print("no such session:", case.fails, first[0], first[-1], file=sys.stderr)
        yield {"label": case.label, "held": number % 3 == 2, "sessions": sessions}


def run(command: str, folder: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ran(command: str, folder: str) -> Step:
    done = run(command, folder)
    return {"command": command, "code": done.returncode, "output": (done.stdout + done.stderr)[-LONGEST:]}


def changed(step: str, folder: str) -> Step:
    path, _, command = step.removeprefix("edit ").partition(": ")
    run(command, folder)
    return {"edits": path}


def said(services: app.Services, session: str, step: Step, folder: Path, codex: bool) -> str:
    """Play a step; return what is said after it."""

    def hook(event: str, **members: Any) -> str:
        sent = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **members}
        words = [event, "--db", str(services.settings.db), "--client", "codex" if codex else "claude"]
        began = time.process_time()
        answer = hooks.answer(services, WITNESS, words, {}, json.dumps(sent).encode(), folder)
        CPU.append(time.process_time() - began)
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""

    if "edits" in step:
        edit = {"file_path": str(folder / step["edits"]), "old_string": "a", "new_string": "b"}
        return hook("PreToolUse", tool_name="Edit", tool_input=edit)
    call = {"tool_name": "Bash", "tool_input": {"command": step["command"]}}
    hook("PreToolUse", **call)
    if codex:
        return hook("PostToolUse", **call, tool_response=step["output"])
    if step["code"]:
        return hook("PostToolUseFailure", **call, error=f"Exit code {step['code']}\n{step['output']}")
    return hook(
        "PostToolUse", **call, tool_response={"stdout": step["output"], "stderr": "", "interrupted": False}
    )


WITNESS = Witness(time.monotonic, 1)
CPU: list[float] = []


def play(is_held: bool, shows: bool) -> None:
    rows = [json.loads(line) for line in SESSIONS.read_text(encoding="utf-8").splitlines()]
    chosen = [(number, row) for number, row in enumerate(rows) if row["held"] == is_held]
    right = wrong = silent = early = others = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shop"
        folder.mkdir()
        services = app.build(Settings(db=Path(name) / "memory.db", embedder="hashing"))
        services.database.open()
        try:
            for number, row in chosen:
                first = [
                    said(services, f"a{number}", step, folder, number % 2 == 1) for step in row["sessions"][0]
                ]
                early += bool(first[0])
            for number, row in chosen:
                text = said(services, f"b{number}", row["sessions"][1][0], folder, number % 2 == 1)
                is_right = row["label"] in text
                right, silent, wrong = (
                    right + is_right,
                    silent + (not text),
                    wrong + bool(text and not is_right),
                )
                second = row["sessions"][1][0]
                if shows and not is_right:
                    print(f"{second['command']}: {text or 'nothing'}")
                    print(f"    {row['label']} | {second['output'][-300:]}")
                for step in row["sessions"][2] if len(row["sessions"]) > 2 else ():
                    others += 1
                    other = said(services, f"c{number}", step, folder, number % 2 == 1)
                    wrong += bool(other)
                    if shows and other:
                        print(f"other {step['command']}: {other}")
        finally:
            services.close()
    CPU.sort()
    print(f"of {len(chosen)} sessions the mend was said in {right}, nothing in {silent}")
    print(f"wrong at {wrong} of {len(chosen) + others} failures, said at a first one {early}")
    print(
        f"CPU of an event: median {CPU[len(CPU) // 2] * 1000:.1f} ms, .95 {CPU[len(CPU) * 95 // 100] * 1000:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    if options.record:
        lines = [json.dumps(session, ensure_ascii=False) for session in record()]
        SESSIONS.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return
    play(options.held, options.errors)


if __name__ == "__main__":
    main()
