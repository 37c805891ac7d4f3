"""Asks random questions and counts what the answers take: `python scripts/lab/quality/budget.py [--questions 1000]`.

A server holds texts of our own set in all kinds, and some that tokenizers find hard: rare characters, hex, emoji. Each
question is random words of them, in both languages, with a random `max_tokens`, a third with `explain`. Told: how many
answers take more tokens of o200k than that, with all of their text, and how many have a handle twice. Ends with 1 where
one does.
"""

import argparse
import asyncio
import math
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from mcp import Client  # noqa: E402
from mcp_types import CallToolResult, TextContent  # noqa: E402

from memory_server.demo.stage import call  # noqa: E402
from quality import own  # noqa: E402
from quality.briefings import tokens  # noqa: E402
from quality.doors import connected  # noqa: E402
from quality.story import until_embedded  # noqa: E402

LEAST, MOST = 100, 8_000
"""What `max_tokens` may be."""

HARD = (
    "齉龘靐齾爩鱻麤灪饢钀鸞厵驫癵龗籲虋 是一些很难写的字，龘龘之音。",
    "Checksum 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 of the tide table.",
    "👩🏽‍🚀🧑🏿‍🔧🇳🇴🇨🇳👨‍👩‍👧‍👦 was the whole message of Wang Lei 🫠🫠🫠.",
    "| gauge | level |\n| --- | --- |\n| Helgoland | 1.5 m |\n| 厦门 | 2.1 m |\n\tEND",
    "ZmlsZSBvZiB0aGUgaGFyYm91ciBsYW1w+/== и Öффнунг, ναυτικός φάρος, مفتاح المنارة",
    '{"path": "C:\\\\tide\\\\new", "quote": "\\"", "null": "\\u0000"}',
)
"""Texts that take more tokens than they seem to."""

TRIGGER = "match_keys(messages, ['harbour', '港'])"

KINDS = 8
"""Of so many texts one becomes a fact, one a turn, one a short-term memory; the rest memories."""

_REF = re.compile(r"\[([^\[\]]+)\]$", re.MULTILINE)
_WORD = re.compile(r"[一-鿿]{1,6}|\S+")


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    limit: int
    due: bool
    """The prompts are due."""
    explain: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """What the answer to a question took in tokens, of how many items, and which of these are there twice."""

    question: Question
    tokens: int
    items: int
    twice: tuple[str, ...]

    @property
    def is_kept(self) -> bool:
        return self.tokens <= self.question.limit and not self.twice


def texts(every: int = 1) -> list[str]:
    """One of so many texts of our own set, and all hard ones."""
    found = [memory["text"] for corpus in own.read()["corpora"] for memory in corpus["memories"]]
    return [*found[::every], *HARD]


def questions(known: Sequence[str], count: int, seed: int = 1) -> Iterator[Question]:
    """So many, the same each time. Half of the limits are below 900: small ones are the hardest to keep."""
    chance = random.Random(seed)
    words = [_WORD.findall(text) for text in known]
    for _ in range(count):
        chosen = [chance.choice(chance.choice(words)) for _ in range(chance.randint(1, 12))]
        limit = round(math.exp(chance.uniform(math.log(LEAST), math.log(MOST))))
        yield Question(" ".join(chosen)[:2_000], limit, chance.random() < 0.3, chance.random() < 0.3)


async def fill(client: Client, known: Sequence[str]) -> None:
    """Store the texts, in all kinds, some in another project, some superseded; and two prompts."""
    last = None
    for number, text in enumerate(known):
        match number % KINDS:
            case 1:
                await call(client, "write_memory", key=f"project.known_{number}", value=text)
            case 2:
                await call(client, "register_memory", message=text, summary=text[:200])
            case 3:
                said = [{"role": "user", "content": text}]
                await call(client, "add_short_term_memory", messages=said)
            case 4 if last is not None:
                optional = {"supersedes": last}
                last = await _stored(client, text, **optional)
            case 5:
                await _stored(client, text, project="另一个项目，名字很长的那一个")
            case _:
                last = await _stored(client, text)
    for name, prompt in (("tide-check", HARD[2]), ("问候", "先问候王磊，再看潮汐表。" * 20)):
        await call(client, "add_long_term_memory", name=name, prompt=prompt, trigger=TRIGGER)


async def _stored(client: Client, text: str, **optional: object) -> int:
    stored = await call(client, "memory_store", content=text, type="observation", **optional)
    return int(stored["id"])


async def taken(client: Client, question: Question) -> Taken:
    """Ask it, and count the text that the client gets."""
    messages = [{"role": "user", "content": "To the harbour!"}] if question.due else []
    wish = {
        "query": question.text,
        "max_tokens": question.limit,
        "messages": messages,
        "explain": question.explain,
    }
    result = await client.call_tool("recall", wish)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    refs = _REF.findall((result.structured_content or {})["answer"])
    return Taken(question, tokens(text), len(refs), tuple({ref for ref in refs if refs.count(ref) > 1}))


async def asked(count: int) -> list[Taken]:
    known = texts()
    with TemporaryDirectory(prefix="memory-server-budget-") as folder:
        flags = ("--embedder", "bundled", "--allow-secrets", "--project", "harbour")
        async with connected(Path(folder), *flags) as client:
            await fill(client, known)
            await until_embedded(client)
            return [await taken(client, question) for question in questions(known, count)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=1_000)
    found = asyncio.run(asked(parser.parse_args().questions))
    over = [each for each in found if each.tokens > each.question.limit]
    print(f"{len(found)} questions, {sum(each.items for each in found)} items")
    print(f"fullest answer: {max(each.tokens / each.question.limit for each in found):.2f} of its limit")
    print(f"over the limit: {len(over)}; with an item twice: {sum(bool(each.twice) for each in found)}")
    for each in found:
        if not each.is_kept:
            print(f"  {each.tokens} of {each.question.limit} {each.twice or ''}: {each.question.text}")
    return 0 if all(each.is_kept for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
