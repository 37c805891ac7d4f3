"""Prints what an assistant reads in two weeks, and whether it is enough: `python scripts/lab/quality/story.py [FILE]`.

`story.jsonl` has the calls of two weeks, one a line: a developer with two projects, one in English and one mostly in
Chinese, each in a window of its own. Both servers are open for the whole story, on one file, with the bundled embedder.
Another FILE is the story of another life in the same format: `stories/` has a joiner's workshop in German, a guest
house, half of it in Chinese, and the care of a father. No call waits until what was written before is embedded;
with `--wait` each recall does, as minutes of work between the calls would make it. A call has `at` (when it is made;
memories, turns and messages are dated so), `in` (the project), `call`, `args`, and `as`, a name for the memory that it
stores: `@name` is its id later.
A recall has labels, which were written from meaning before anything was run:

- `enough`: texts that must all be in the answer; `nothing: true` where nothing about it was ever stored;
- `about`: a line of the answer that has none of these texts is noise; without `about` every line is;
- `stale`: what was true once and must not be told as current, that is outside "(was: …)".

Case does not matter. Tokens are those of o200k, of each answer as it is sent.
"""

import argparse
import asyncio
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from mcp import Client  # noqa: E402
from mcp_types import CallToolResult, TextContent  # noqa: E402

from memory_server.demo.stage import DemoRefused  # noqa: E402
from memory_server.demo.stage import call as ask  # noqa: E402
from quality.briefings import tokens  # noqa: E402
from quality.data import JSON  # noqa: E402
from quality.doors import connected  # noqa: E402

FILE = Path(__file__).with_name("story.jsonl")

_DATED = ("memory_store", "register_memory")
"""Tools that take `occurred_at`."""

_TOKENS = 800
"""What an answer of `recall` may take unless told otherwise."""

_NEVER = "2100-01-01"

_WAS = re.compile(r" \(was: .*\)(?= (?:\(project .*\) )?\[[^\[\]]+\]$)")
"""In a line of an answer, what was superseded: it is told as such."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A call of the story and its answer: as text with its tokens, and as JSON."""

    call: JSON
    tokens: int
    answer: JSON


@dataclass(frozen=True, slots=True)
class Judged:
    """A recall: what of `enough` its answer lacks, its lines, those that are noise, the stale texts that it tells."""

    heard: Heard
    missing: tuple[str, ...]
    lines: tuple[str, ...]
    noise: tuple[str, ...]
    stale: tuple[str, ...]

    @property
    def of_nothing(self) -> bool:
        return bool(self.heard.call.get("nothing"))

    @property
    def limit(self) -> int:
        return int(self.heard.call["args"].get("max_tokens", _TOKENS))

    @property
    def is_right(self) -> bool:
        """Whether the answer has what it must, or is empty where nothing was stored."""
        return not (self.lines if self.of_nothing else self.missing)


def calls(file: Path = FILE) -> list[JSON]:
    """The calls of a story."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def played(story: Sequence[JSON], *, wait: bool = False) -> list[Heard]:
    """Each call, made to the server of its project; `wait` until all is embedded before each recall.

    Raises:
        Refused: a server refused a call.
    """
    heard: list[Heard] = []
    named: dict[str, int] = {}
    with TemporaryDirectory(prefix="memory-server-story-") as folder:
        async with AsyncExitStack() as opened:
            windows: dict[str, Client] = {}
            for project in dict.fromkeys(call["in"] for call in story):
                client = connected(Path(folder), "--embedder", "bundled", "--project", project)
                windows[project] = await opened.enter_async_context(client)
            for call in story:
                if wait and call["call"] == "recall":
                    await until_embedded(windows[call["in"]])
                heard.append(await made(windows[call["in"]], call, named))
                if "as" in call:
                    named[f"@{call['as']}"] = heard[-1].answer["id"]
    return heard


async def until_embedded(client: Client) -> None:
    """Wait until all that is stored can be found by meaning.

    It asks for a time of which nothing is stored: so nothing counts as read.
    """
    while (await ask(client, "recall", query="?", since=_NEVER)).get("degraded"):
        await asyncio.sleep(0.1)


async def made(client: Client, call: JSON, named: dict[str, int]) -> Heard:
    """The call, made; `named` has the ids of memories that were named before.

    Raises:
        Refused: the server refused it.
    """
    arguments = _arguments(call, named)
    result = await client.call_tool(call["call"], arguments)
    assert isinstance(result, CallToolResult)
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    if result.is_error:
        raise DemoRefused(f"{call['call']} {json.dumps(arguments, ensure_ascii=False)}: {text}")
    return Heard(call, tokens(text), result.structured_content or {})


def _arguments(call: JSON, named: dict[str, int]) -> JSON:
    """The arguments with the ids and the moment of the call."""
    arguments = {name: _with_ids(value, named) for name, value in call["args"].items()}
    if call["call"] in _DATED:
        arguments["occurred_at"] = call["at"]
    if call["call"] == "add_short_term_memory":
        arguments["messages"] = [message | {"timestamp": call["at"]} for message in arguments["messages"]]
    return arguments


def _with_ids(value: Any, named: dict[str, int]) -> Any:
    if isinstance(value, list):
        return [_with_ids(item, named) for item in value]
    return named[value] if isinstance(value, str) and value.startswith("@") else value


def judged(heard: Heard) -> Judged:
    """Compare the answer of a recall with the labels of its call."""
    call, text = heard.call, heard.answer["answer"]
    lines = text.splitlines()
    current = "\n".join(_WAS.sub("", line) for line in lines)
    return Judged(
        heard,
        tuple(part for part in call.get("enough", ()) if not has(text, part)),
        tuple(lines),
        tuple(line for line in lines if not any(has(line, part) for part in call.get("about", ()))),
        tuple(part for part in call.get("stale", ()) if has(current, part)),
    )


def has(text: str, part: str) -> bool:
    """True if a text has a part, in upper or lower case."""
    return part.casefold() in text.casefold()


def table(heard: Sequence[Heard]) -> Iterator[str]:
    """What was read by tool, and what the recalls were worth."""
    tools: dict[str, list[int]] = defaultdict(list)
    for answered in heard:
        tools[answered.call["call"]].append(answered.tokens)
    yield "| tool | calls | tokens read | mean | largest |"
    yield "| --- | --- | --- | --- | --- |"
    for tool, read in sorted(tools.items(), key=lambda item: -sum(item[1])):
        yield f"| {tool} | {len(read)} | {sum(read):,} | {mean(read):,.0f} | {max(read):,} |"
    total = [answered.tokens for answered in heard]
    yield f"| all | {len(total)} | {sum(total):,} | {mean(total):,.0f} | {max(total):,} |"
    yield ""
    yield from _worth([judged(answered) for answered in heard if answered.call["call"] == "recall"])


def _worth(recalls: Sequence[Judged]) -> Iterator[str]:
    stored = [recall for recall in recalls if not recall.of_nothing]
    never = [recall for recall in recalls if recall.of_nothing]
    yield "| recalls | of | |"
    yield "| --- | --- | --- |"
    yield _row("enough", stored, lambda recall: recall.is_right)
    read = [recall.heard.tokens for recall in stored]
    yield f"| tokens, median | {len(read)} | {median(read):,.0f} |"
    lines, noise = sum(len(recall.lines) for recall in stored), sum(len(recall.noise) for recall in stored)
    yield f"| lines that are noise | {lines} | {noise} ({noise / lines:.0%}) |"
    outdated = [recall for recall in stored if "stale" in recall.heard.call]
    yield _row("stale told", outdated, lambda recall: recall.stale)
    yield _row("nothing stored, empty answer", never, lambda recall: recall.is_right)
    yield _row("stored, empty answer", stored, lambda recall: not recall.lines)
    yield _row("over `max_tokens`", recalls, lambda recall: recall.heard.tokens > recall.limit)
    yield _row(
        "less than it could be (`degraded`)", recalls, lambda recall: recall.heard.answer.get("degraded")
    )


def _row(name: str, group: Sequence[Judged], holds: Callable[[Judged], object]) -> str:
    count = sum(bool(holds(each)) for each in group)
    return f"| {name} | {len(group)} | {count} ({count / len(group):.0%}) |"


def shown(recall: Judged) -> Iterator[str]:
    """A recall that was not enough, or told what is stale, with its answer; noise has a `-` before it."""
    call = recall.heard.call
    yield f"\n{call['at']} {call['in']}: {call['args']['query']}"
    for name, texts in (("missing", recall.missing), ("stale", recall.stale)):
        if texts:
            yield f"  {name}: {', '.join(texts)}"
    for line in recall.lines:
        yield f"  {'-' if line in recall.noise else '+'} {line}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("file", nargs="?", type=Path, default=FILE, help="a story; story.jsonl by default")
    add("--wait", action="store_true", help="before each recall until all is embedded")
    add("--verbose", action="store_true", help="each recall that was not right, and its answer")
    add("--all", action="store_true", help="every recall, and its answer")
    options = parser.parse_args()
    heard = asyncio.run(played(calls(options.file), wait=options.wait))
    print("\n".join(table(heard)))
    for recall in (judged(answered) for answered in heard if answered.call["call"] == "recall"):
        if options.all or (options.verbose and (not recall.is_right or recall.stale)):
            print("\n".join(shown(recall)))


if __name__ == "__main__":
    main()
