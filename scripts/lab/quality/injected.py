"""Prints what hooks tell an assistant unasked in two weeks, and its worth: `python scripts/lab/quality/injected.py`.

It plays the story of `story.jsonl` through real processes: a server for each of both projects, on one file, with the
bundled embedder, and `memory-server hook EVENT` for each event. The first call of a day in a project begins a session:
SessionStart. Each `recall` is what the user asks then: UserPromptSubmit, with the question as the prompt, behind what
the user said before it where the story has that. After each come the next THREE lines of `small_talk.txt`, since most
prompts only steer. All other calls are made as they stand. Before each prompt all is embedded, as it would be minutes
later. The assistant asks nothing and keeps nothing at its stop.

A question is answered where all texts of its `enough` were told in its session up to then: by the briefing, by this
prompt, or by an earlier one. A line is what was asked where it has a text of `about` or `enough`. Tokens are those of
o200k.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from mcp import Client  # noqa: E402

from quality import story  # noqa: E402
from quality.briefings import tokens  # noqa: E402
from quality.data import JSON  # noqa: E402
from quality.doors import ROOT, connected  # noqa: E402
from quality.reminding import SMALL_TALK  # noqa: E402

THREE = 3
"""Prompts of small talk after each question."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a hook said: at the start of a session, for a question (its call of the story), or for small talk.

    `before` is what was told in the session before, the briefing apart.
    """

    said: str
    call: JSON | None = None
    briefing: str = ""
    before: str = ""
    is_start: bool = False

    @property
    def tokens(self) -> int:
        return tokens(self.said) if self.said else 0

    @property
    def lines(self) -> list[str]:
        """The notes without their frame."""
        _, _, notes = self.said.partition("\n\n")
        return notes.removesuffix("\n</recorded-notes>").splitlines() if notes else []

    def is_asked(self, line: str) -> bool:
        call = self.call or {}
        return any(story.has(line, part) for part in (*call.get("about", ()), *call.get("enough", ())))

    def is_answered(self, *texts: str) -> bool:
        return all(any(story.has(text, part) for text in texts) for part in (self.call or {})["enough"])


@dataclass(frozen=True, slots=True)
class Hooks:
    """Runs the hooks of a file, a process each."""

    db: Path

    def __call__(self, event: str, project: str, **fields: str) -> str:
        command = [
            "-m",
            "memory_server",
            "hook",
            event,
            "--db",
            str(self.db),
            "--project",
            project,
        ]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "CLAUDE_"))
        }
        done = subprocess.run(
            [sys.executable, *command], input=json.dumps(fields), env={**kept, "PYTHONPATH": str(ROOT)},
            cwd=self.db.parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if not done.stdout:
            return ""
        said: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        return said


async def played(calls: Sequence[JSON]) -> list[Told]:
    """The story, with all that hooks said in it."""
    named: dict[str, int] = {}
    talk = cycle(SMALL_TALK.read_text(encoding="utf-8").splitlines())
    sessions: dict[str, list[Told]] = {}
    with TemporaryDirectory(prefix="memory-server-injected-") as folder:
        hooks = Hooks(Path(folder) / "memory.db")
        async with AsyncExitStack() as opened:
            windows: dict[str, Client] = {}
            for project in dict.fromkeys(call["in"] for call in calls):
                client = connected(Path(folder), "--embedder", "bundled", "--project", project)
                windows[project] = await opened.enter_async_context(client)
            for call in calls:
                project = call["in"]
                session = f"{project} {call['at'][:10]}"
                if session not in sessions:
                    said = hooks("SessionStart", project, session_id=session, source="startup")
                    sessions[session] = [Told(said, is_start=True)]
                if call["call"] == "recall":
                    await story.until_embedded(windows[project])
                    for each in (call, *({"small talk": text} for text in islice(talk, THREE))):
                        _prompted(hooks, project, session, each, sessions[session])
                else:
                    heard = await story.made(windows[project], call, named)
                    if "as" in call:
                        named[f"@{call['as']}"] = heard.answer["id"]
    return [each for told in sessions.values() for each in told]


def _prompted(hooks: Hooks, project: str, session: str, call: JSON, told: list[Told]) -> None:
    """One prompt of a session, added to what was told in it."""
    texts = [message["content"] for message in call.get("args", {}).get("messages", ())]
    prompt = call.get("small talk") or " ".join((*texts, call["args"]["query"]))
    said = hooks("UserPromptSubmit", project, session_id=session, prompt=prompt)
    asked = None if "small talk" in call else call
    told.append(Told(said, asked, told[0].said, "\n".join(each.said for each in told[1:])))


def table(told: Sequence[Told]) -> Iterator[str]:
    """What was told, and what it was worth."""
    starts = [each for each in told if each.is_start]
    prompts = [each for each in told if not each.is_start]
    questions = [each for each in prompts if each.call and each.call.get("enough")]
    nothing = [each for each in prompts if each.call and each.call.get("nothing")]
    talk = [each for each in prompts if each.call is None]
    yield "| hook | times | said something | tokens | mean | largest |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, group in (
        ("SessionStart", starts),
        ("UserPromptSubmit, a question", questions),
        ("UserPromptSubmit, of which nothing is stored", nothing),
        ("UserPromptSubmit, small talk", talk),
    ):
        spent = [each.tokens for each in group]
        saying = sum(map(bool, spent))
        mean = sum(spent) / max(1, len(group))
        yield f"| {name} | {len(group)} | {saying} | {sum(spent):,} | {mean:,.0f} | {max(spent, default=0):,} |"
    yield ""
    lines = [(each, line) for each in questions for line in each.lines]
    asked = [line for each, line in lines if each.is_asked(line)]
    yield "| worth | of | |"
    yield "| --- | --- | --- |"
    for name, holding in (
        (
            "answered before or at the prompt",
            [each.is_answered(each.briefing, each.before, each.said) for each in questions],
        ),
        ("answered by the briefing", [each.is_answered(each.briefing) for each in questions]),
        ("answered by what the prompt brought", [each.is_answered(each.said) for each in questions]),
    ):
        yield f"| questions {name} | {len(holding)} | {sum(holding)} ({sum(holding) / len(holding):.0%}) |"
    share = len(asked) / max(1, len(lines))
    yield f"| lines at questions that are what was asked | {len(lines)} | {len(asked)} ({share:.0%}) |"


def shown(each: Told) -> Iterator[str]:
    """A prompt and what it brought; what was not asked has a `-` before it."""
    if each.call is None:
        return
    answered = "enough" in each.call and each.is_answered(each.briefing, each.before, each.said)
    yield f"\n{'answered' if answered else 'not answered'}: {each.call['args']['query']}"
    for line in each.lines:
        yield f"  {'+' if each.is_asked(line) else '-'} {line}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verbose", action="store_true", help="each question and what it brought")
    given = parser.parse_args()
    told = asyncio.run(played(story.calls()))
    print("\n".join(table(told)))
    if given.verbose:
        for each in told:
            print("\n".join(shown(each)))


if __name__ == "__main__":
    main()
