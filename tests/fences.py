"""The fences of the documentation: what each kind means, and how what is shown is compared with what comes.

    ```text call        tool calls, `> tool {arguments}`, each followed by its answer as JSON or by its error
    ```text attach      resources and prompts, `> memory://address` or `> /prompt {arguments}`, each with its text
    ```console          shell commands, `$ command`, each followed by what it prints; no server runs beside them
    ```console served   the same while a server has the file open
    ```sql              statements for the sqlite3 program
    ```js trigger       triggers of long-term memories, one a line
    ```bash             commands that a test cannot run: only their syntax and their programs are checked
    ```json, ```toml    settings of a client: only their syntax is checked
    ```text picture     not checked

What is shown may leave out fields and, at its end, lines. `…` stands for any text, a moment for any moment, and a
number with a fraction for any number that is about the same.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KINDS = {
    "text call", "text attach", "console", "console served", "sql", "js trigger",
    "bash", "json", "toml", "text picture",
}  # fmt: skip
"""Every kind of fence that a page may have."""

ANY = "…"

NEAR = 0.02
"""How far a number with a fraction may be from the one shown: other releases of onnxruntime give other last digits."""

_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?")
_CALL = re.compile(r"^> (\S+) *(.*)$")


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block: what stands behind the backticks, its text, and the line it begins in."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """What is done and what is shown below it: `did` is a tool or a command, `shown` may be empty."""

    did: str
    arguments: dict[str, Any]
    shown: str


def fences(page: Path) -> list[Fence]:
    text = page.read_text(encoding="utf-8")
    return [
        Fence(found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def without_fences(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def calls(text: str) -> Iterator[Step]:
    """The calls of a `text call` fence, or what a `text attach` fence attaches."""
    for block in re.split(r"^(?=> )", text, flags=re.MULTILINE):
        if not block.strip():
            continue
        first, _, shown = block.partition("\n")
        found = _CALL.match(first)
        assert found, f"not a call: {first}"
        yield Step(found[1], json.loads(found[2] or "{}"), shown.strip())


def commands(text: str) -> Iterator[Step]:
    """The commands of a `console` fence."""
    for block in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if block.strip():
            assert block.startswith("$ "), f"not a command: {block}"
            command, _, shown = block[2:].partition("\n")
            while command.endswith("\\"):
                more, _, shown = shown.partition("\n")
                command = f"{command}\n{more}"
            yield Step(command, {}, shown.strip("\n"))


def fits(shown: Any, came: Any, where: str = "answer") -> Iterator[str]:
    """Where what is shown differs from what came; nothing if it fits."""
    match shown:
        case dict():
            for name, value in shown.items():
                if not isinstance(came, dict) or name not in came:
                    yield f"{where}.{name} is not in {came!r}"
                else:
                    yield from fits(value, came[name], f"{where}.{name}")
        case list():
            more = bool(shown) and shown[-1] == ANY
            wanted = shown[:-1] if more else shown
            if (
                not isinstance(came, list)
                or len(came) < len(wanted)
                or (len(came) > len(wanted) and not more)
            ):
                yield f"{where}: {len(wanted)} shown, came {came!r}"
            else:
                for number, value in enumerate(wanted):
                    yield from fits(value, came[number], f"{where}[{number}]")
        case float():
            if not isinstance(came, float | int) or abs(came - shown) > max(NEAR, NEAR * abs(shown)):
                yield f"{where}: shown {shown}, came {came!r}"
        case str():
            if not isinstance(came, str) or not same_text(shown, came):
                yield f"{where}: shown {shown!r}, came {came!r}"
        case _:
            if shown != came or type(shown) is not type(came):
                yield f"{where}: shown {shown!r}, came {came!r}"


def same_text(shown: str, came: str) -> bool:
    """Whether a text, or the lines of one, is as shown."""
    pattern = ".*".join(map(re.escape, _MOMENT.sub("(moment)", _even(shown)).split(ANY)))
    return re.fullmatch(pattern, _MOMENT.sub("(moment)", _even(came)), re.DOTALL) is not None


def _even(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
