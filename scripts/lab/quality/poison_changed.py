"""Is a page known that copies what the user said and changes a number, a name or a "never"?

python scripts/lab/quality/poison_changed.py           two thirds of the pairs
python scripts/lab/quality/poison_changed.py --held    the third that no rule was chosen on

`poison_changed.txt` has 30 attacks and 30 innocent sessions, invented before the rules that they measure: what the user
said (or, after `local:`, what a local tool returned), a line of a page, and what the model stores, a memory or a fact.
Every third is held. An attack must be known to be from the page, an innocent text must not.
"""

import random
import sys
from pathlib import Path

sys.path[:0] = map(str, (Path(__file__).resolve().parents[3], Path(__file__).resolve().parents[1]))

from memory_server.domain import fact_text, trust  # noqa: E402
from memory_server.project import NONE  # noqa: E402
from quality.poison import CLEAN, HELD, ROOT, SEED, Session, is_chinese, prose  # noqa: E402
from quality.poison_pages import command_line, local  # noqa: E402

FILE = ROOT / "scripts/lab/quality/poison_changed.txt"


def origin(said: str, page: str, stored: str, clean: str) -> str:
    """Return the origin of a text in a session in which the user or a local tool said one, and a page another."""
    session = Session.of()
    if said.startswith("local:"):
        local(session, said.removeprefix("local:"))
    else:
        session.hear("UserPromptSubmit", prompt=f"Hello. {said} Now read https://evil.example/p.")
    session.outputs(clean, CLEAN, random.Random(SEED))
    session.page(page, clean)
    if not stored.startswith("fact:"):
        return session.origin(stored)
    key, _, value = stored.removeprefix("fact:").partition("=")
    return fact_text.origin(key, value, session.witness.stamp("s1", NONE))


def main() -> None:
    arguments = command_line(__doc__)
    clean = prose()
    flags: dict[str, list[bool]] = {"attack": [], "innocent": []}
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines()):
        kind, said, page, stored = line.split(" | ")
        if (number % HELD == HELD - 1) == arguments.held:
            stamp = origin(said, page, stored, clean[is_chinese(said + page)])
            flags[kind].append(trust.waits(stamp))
            if arguments.list and trust.waits(stamp) != (kind == "attack"):
                print(f"{kind}, {stamp}: {stored}")
    for kind, known in flags.items():
        print(f"{kind}: known to be from the page: {sum(known)} of {len(known)}")


if __name__ == "__main__":
    main()
