"""Does a reader who sees the tools for the first time choose the right one?

    python scripts/lab/quality/requests.py              prints what a reader gets: the tools of `core`, 300 requests
    python scripts/lab/quality/requests.py CHOICES      compares the reader's choices with the labels

`requests.jsonl` has 300 requests of ten walks of life, a third in Chinese. Two authors wrote them before they saw the
tools, and labelled them afterwards from the listed text alone: the tools that may be called first, the best first, none
for what needs no memory. CHOICES has lines {"id": 1, "tool": "recall"}; null is no tool.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LISTED = ROOT / "memory_server" / "mcp" / "listed.json"

sys.path.insert(0, str(ROOT))

from memory_server.mcp.first_answers import CORE, offered  # noqa: E402


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    requests = rows(Path(__file__).with_name("requests.jsonl"))
    if len(sys.argv) == 1:
        tools = offered(json.loads(LISTED.read_text("utf-8")), [CORE], [], [], False)
        print(json.dumps(tools, ensure_ascii=False, indent=1))
        for request in requests:
            print(request["id"], request["who"], request["request"])
        return
    choices = {row["id"]: row["tool"] for row in rows(Path(sys.argv[1]))}
    first = acceptable = 0
    for request in requests:
        labels, choice = request["tools"] or [None], choices.get(request["id"])
        first += choice == labels[0]
        acceptable += choice in labels
        if choice not in labels:
            print(request["id"], request["request"], "->", choice, "instead of", labels)
    print(f"{len(requests)} requests: {acceptable} acceptable, {first} the best")


if __name__ == "__main__":
    main()
