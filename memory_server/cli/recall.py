"""`memory-server recall`: one question to everything that is stored."""

import re

import click

from memory_server.cli import options, output, terminal
from memory_server.cli.answers import RecallAnswer
from memory_server.cli.opened import caller, embedding
from memory_server.cli.program import verb
from memory_server.domain.recall import Recallable
from memory_server.mcp.tools.fields import SearchText
from memory_server.services.recall import RecallWish
from memory_server.settings import Settings

_IN_CHINESE = (
    (re.compile(r" \(was: (.*)\)(?= (?:\(project .*\) )?\[)"), r"（原为：\1）"),
    (re.compile(r"^(\S{10}), said(?=[:,])", re.MULTILINE), r"\1 说"),
    (re.compile(r"^(\S{10}(?: 说)?), session (\w+): ", re.MULTILINE), r"\1，会话 \2："),
    (re.compile(r" \(project ([^()]*)\)(?= \[[^]]*\]$)", re.MULTILINE), r"（项目 \1）"),
    *(
        (re.compile(rf" · {english}(?=[^][]*\]$)", re.MULTILINE), f" · {chinese}")
        for english, chinese in (
            ("from the user", "用户说的"),
            ("from ", "来自 "),
            (r"(\S+) may replace it", r"可能已被 \1 取代"),
            ("may replace ", "可能取代 "),
            (r"contradicts (\S+)", r"与 \1 矛盾"),
        )
    ),
)
"""What stands around the text in a line of an answer, and its Chinese."""

KINDS = [kind.value for kind in Recallable if kind is not Recallable.WOKEN]


@verb(
    "recall",
    examples=(
        "memory-server recall what did we decide on the release",
        "memory-server recall 数据库的端口 --kind memory --kind fact",
        "memory-server recall --since yesterday",
        "memory-server recall who may deploy --max-tokens 300 --json",
    ),
)
@click.argument("query", nargs=-1)
@click.option(
    "--max-tokens",
    type=options.Number(100, 8000),
    default=800,
    show_default=True,
    help="The most tokens of the answer.",
)
@click.option("--kind", "kinds", multiple=True, type=options.Word(KINDS), help="Only this kind.")
@options.project_option
@options.since_option
@options.until_option
@options.meaning_option
def recall_command(
    settings: Settings,
    query: tuple[str, ...],
    max_tokens: int,
    kinds: tuple[str, ...],
    project: str | None,
    since: str | None,
    until: str | None,
) -> None:
    """Ask memories, facts, turns and short-term memories one question. The answer is in sentences, best first.

    Without a question, --kind, --since and --until list what is stored.
    """
    text = options.checked(SearchText, " ".join(query).strip(), "query")
    if not (text or kinds or since or until):
        raise click.UsageError("Ask a question, or choose by --kind, --since and --until.")
    wish = RecallWish(frozenset(map(Recallable, kinds or KINDS)), project, since, until)
    with embedding(settings) as services:
        result = services.recall.recall(
            text, (), max_tokens, wish, caller(settings), explain=terminal.is_json()
        )
    worse, answer = output.degraded(result.degraded), result.answer
    if output.answered(
        RecallAnswer(answer.text, answer.items, answer.tokens, answer.left_out, result.note, worse)
    ):
        return
    if answer.text:
        output.say_text(_in_language(answer.text))
    if answer.left_out:
        left = ", ".join(f"{number} {terminal.translated(kind)}" for kind, number in answer.left_out.items())
        output.note(f"Left out: {left}. --max-tokens makes room.")
    output.note(_in_language(result.note or ""), worse)


def _in_language(text: str) -> str:
    return in_chinese(text) if terminal.is_chinese() else text


def in_chinese(text: str) -> str:
    for english, chinese in _IN_CHINESE:
        text = english.sub(chinese, text)
    return text
