"""Does a prompt that corrects something stored name it, and is half a sentence kept of it?

    python scripts/lab/quality/corrections.py [FILE]

`corrections.jsonl` has what is stored, the turn before, the prompt, and the number of what it corrects, or null. `by`
is `shown` where the session was shown what is stored, else the assistant has stored it in this session.
`corrections_others.jsonl` has hard prompts by five authors; the rules were made with them. `corrections_held.jsonl` has
those of a sixth, with which nothing was chosen.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import stores  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.fact import FactDraft, Scope  # noqa: E402
from memory_server.domain.memory import MemoryDraft, MemoryType  # noqa: E402
from memory_server.domain.message import Message  # noqa: E402
from memory_server.language import lasting  # noqa: E402
from memory_server.project import Project  # noqa: E402
from memory_server.services import projects  # noqa: E402
from memory_server.services.capturing import CaptureService  # noqa: E402
from memory_server.services.correcting import CorrectingService  # noqa: E402
from memory_server.services.facts import FactService  # noqa: E402
from memory_server.storage.database import Database  # noqa: E402

CASES = Path(__file__).with_suffix(".jsonl")
CALLER = Caller("lab", "s1", Project("shop", "shop"))
STOP = "Stop"


@contextmanager
def empty() -> Iterator[Database]:
    with TemporaryDirectory() as folder:
        database = stores.at(Path(folder) / "memory.db", stores.clock)
        try:
            yield database
        finally:
            database.close()


def stored(database: Database, case: dict[str, Any]) -> list[str]:
    """Store what a case has and return the names."""
    if "fact" in case:
        draft = FactDraft(case["fact"]["key"], case["fact"]["value"])
        FactService(database).write(draft, Scope.PROJECT, CALLER)
        return [draft.key]
    with database.write() as tx:
        caller = projects.settled(tx, CALLER)
        drafts = [MemoryDraft(text, MemoryType.LEARNING, caller.project.name) for text in case["stored"]]
        ids = [tx.memories.insert(draft, caller).id for draft in drafts]
        if case["by"] == "shown":
            tx.memory_uses.show(ids, "s1")
    return [f"m{id}" for id in ids]


def play(case: dict[str, Any]) -> tuple[str | None, str | None, list[str | None]]:
    """Return the name of what the prompt corrects, the name that is said, and what the prompt leaves behind."""
    with empty() as database:
        names, service = stored(database, case), CaptureService(database)
        for question, answer in case["turns"]:
            service.keep_turn([Message("user", question), Message("assistant", answer)], STOP, CALLER)
        correction = CorrectingService(database).corrected(case["prompt"], CALLER)
        turn = [Message("user", case["prompt"]), Message("assistant", "Changed.")]
        service.keep_told(turn, STOP, CALLER, lasting.by_words)
        with database.read() as tx:
            memories = [
                capture.text for capture in tx.hook_captures.select("s1", None) if capture.kind == "memory"
            ]
    corrected = None if case["corrects"] is None else names[case["corrects"]]
    return corrected, correction.name if correction else None, memories


def main() -> None:
    path = Path(sys.argv[1]) if sys.argv[1:] else CASES
    counts: Counter[str] = Counter()
    for case in map(json.loads, path.read_text("utf-8").splitlines()):
        corrected, named, memories = play(case)
        counts["to name" if corrected else "nothing to name"] += 1
        counts["named" if corrected == named else "named something else"] += bool(corrected)
        counts["false alarms"] += bool(named and not corrected)
        counts["kept"] += bool(memories)
        if corrected != named or memories:
            print(f"  {case['prompt']}: {corrected} corrected, {named} said, kept {memories}")
    print(
        f"{path.name}: {counts['named']} of {counts['to name']} named, {counts['false alarms']} of "
        f"{counts['nothing to name']} false alarms; of {counts['kept']} prompts something is kept"
    )


if __name__ == "__main__":
    main()
