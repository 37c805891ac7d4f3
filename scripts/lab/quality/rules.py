"""Do rules hold what they forbid, also in disguise, and nothing else?

    python scripts/lab/quality/rules.py            the two thirds that may be looked at, with every miss
    python scripts/lab/quality/rules.py --held     the third that is kept aside, figures alone
    python scripts/lab/quality/rules.py --set strangers     all of the second set, which was written later

`rules.jsonl` has 161 rules, each with a plain command that it forbids; 723 ordinary commands as they stand in the
history of developers; and 500 forbidden ones in the disguise that a helpful assistant gives them, each with the rule
that must hold. They and their labels were written before the code was run. An ordinary command fails where any of the
rules holds. What a rule in doubt holds, which asks a person, counts as held.

30 sentences state rules in Chinese, written before the code as well: each has its effect, acts that it holds and near
misses that pass; the effect is empty where it must be refused, since a part of it is no rule.

60 sentences in English (`--set english`) were written before the code of their reader was looked at: 42 rules and 18
that cannot be held. At the first look 27 were right; 7 held a half, 3 were held though a part of them was dropped, 1
held what its exception allows, 1 denied instead of asking, 21 rules were refused.

The second set, 60 rules of other programs and forms, was run once before the code was changed: 60 of 60 plain, 126 of
174 in disguise, 2 of 81 near misses held. Its misses were mended then, so its figures now are of cases that were seen.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from memory_server.call import deadline  # noqa: E402
from memory_server.domain import plain_rules, sight  # noqa: E402
from memory_server.domain.situation import Situation  # noqa: E402
from memory_server.triggers import Value  # noqa: E402
from memory_server.triggers.engine import Engine  # noqa: E402
from memory_server.triggers.javascript.sandbox import Sandbox  # noqa: E402

BRANCH = "feature/login"
"""The branch that is checked out in all cases."""


def holding(engine: Engine, rules: dict[str, str], command: str) -> dict[str, str]:
    """Return the rules that hold a command: `sure` or `asks`; a rule that fails is a miss of its own."""
    act = sight.data(sight.of_text(command), None, BRANCH)
    situation = Situation((), "default", datetime(2026, 11, 27, tzinfo=UTC), 1, act=act)
    with deadline.within(20):
        outcomes = engine.judge(list(rules.values()), situation)
    held = {}
    for name, outcome in zip(rules, outcomes, strict=True):
        if not isinstance(outcome, Value):
            held[name] = f"failed: {outcome}"
        elif outcome.holds:
            held[name] = "asks" if outcome.doubted else "sure"
    return held


def misread(engine: Engine, row: dict[str, Any]) -> str:
    """Return what is wrong with the rule that a sentence is read as; '' where nothing is."""
    plain = plain_rules.read(row["sentence"])
    if plain is None or not row["effect"]:
        return f"read as {plain and plain.trigger}" if (plain is None) == bool(row["effect"]) else ""
    rules = {"": plain.trigger}
    if wrong := [act for act in row["holds"] if not holding(engine, rules, act)]:
        return f"{plain.trigger} lets pass {wrong}"
    if wrong := [act for act in row["passes"] if holding(engine, rules, act)]:
        return f"{plain.trigger} holds {wrong}"
    return "" if plain.draft.effect == row["effect"] else f"read as {plain.draft.effect}"


def main() -> None:
    rows = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()]
    rules = {row["rule"]: row["trigger"] for row in rows if "trigger" in row}
    aside = "--held" in sys.argv
    chosen = sys.argv[sys.argv.index("--set") + 1] if "--set" in sys.argv else ""
    engine = Engine(Sandbox(None), lambda _message, _text: None)
    counts = {kind: [0, 0, 0] for kind in ("plain", "forbidden", "ordinary")}
    for kind, count in counts.items():
        cases = [row for row in rows if kind in row]
        for place, row in enumerate(cases):
            if row.get("set") != chosen if chosen else (place % 3 == 2) is not aside:
                continue
            held = holding(engine, rules, row[kind])
            right = not held if kind == "ordinary" else row["rule"] in held
            count[0] += 1
            count[1] += right
            count[2] += held.get(row.get("rule", ""), "") == "asks"
            if not right and not aside:
                print(f"{kind}: {row[kind]!r} {row.get('rule', '')} -> {held}")
    sentences = [row for row in rows if "sentence" in row and row.get("set", "") == chosen]
    judged = [row for place, row in enumerate(sentences) if chosen or (place % 3 == 2) is aside]
    problems = {row["sentence"]: misread(engine, row) for row in judged}
    for sentence, problem in problems.items():
        if problem and not aside:
            print(f"sentence: {sentence} -> {problem}")
    engine.close()
    for kind, (number, sum_right, asks) in counts.items():
        if number:
            print(
                f"{kind:10} {number:4} right {sum_right:4} ({sum_right / number:.1%}), of them {asks} only ask"
            )
    if judged:
        print(f"{'sentence':10} {len(judged):4} right {list(problems.values()).count(''):4}")


if __name__ == "__main__":
    main()
