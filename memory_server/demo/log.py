"""The log that the demo stores and asks about: six weeks of notes of an invented software team."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.errors import Invalid

DEMO_LOG = Path(__file__).with_name("worklog.jsonl")


@dataclass(frozen=True, slots=True)
class DemoLog:
    """Arguments of `memory_store` by line number, and the questions to ask afterwards."""

    path: Path
    memories: dict[int, dict[str, Any]]
    questions: list[dict[str, Any]]


def read(path: Path) -> DemoLog:
    """A JSONL file: a line with `ask` is a question, another one a memory. The server checks their fields.

    Raises:
        Invalid: it cannot be read, a line is not a JSON object, or it holds no memories.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Invalid(f"{path} cannot be read: {reason}.") from error
    log = DemoLog(path, {}, [])
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise Invalid(f"{path}, line {number}, is not JSON: {error}.") from error
        if not isinstance(value, dict):
            raise Invalid(f"{path}, line {number}, is not a JSON object.")
        if "ask" in value:
            log.questions.append(value)
        else:  # the date goes to the metadata; no project means none, not that of the current folder
            date = {"metadata": {"date": value.pop("date")}} if "date" in value else {}
            log.memories[number] = value | {"project": value.get("project") or ""} | date
    if not log.memories:
        raise Invalid(f'{path} holds no memories. One is a line {{"content": "…", "type": "decision"}}.')
    return log
