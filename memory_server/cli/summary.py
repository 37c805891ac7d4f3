"""Sums up an import or a merge, for people and as JSON."""

from memory_server.language.text import visible
from memory_server.transfer.counts import KINDS, of_kind
from memory_server.transfer.importing import Imported
from memory_server.transfer.taking import kept
from memory_server.transfer.taking.run import Outcome

SHOWN = 20
"""Lines of each list for people; `--json` has all."""


def answer(parts: list[tuple[str, str, Imported]], dry_run: bool) -> dict[str, object]:
    """The summary for JSON: of each path its format and counts, and all that was left out."""
    return {
        "dry_run": dry_run,
        **{outcome.value: sum(done.total(outcome) for _, _, done in parts) for outcome in Outcome},
        "sources": [
            {
                "path": path,
                "undo": None if done.event is None or dry_run else f"i{done.event}",
                "format": form,
                "written_back": done.followed,
                "counts": {
                    kind: {outcome.value: number for outcome, number in counts.items()}
                    for kind, counts in done.counts.items()
                },
                "refused_items": [
                    {"where": visible(refusal.where), "why": visible(refusal.why)} for refusal in done.refused
                ],
                "rules": {visible(name): state for name, state in done.rules.items()},
                "conflicts": [visible(conflict) for conflict in done.conflicts],
            }
            for path, form, done in parts
        ],
    }


def told(path: str, form: str, done: Imported, dry_run: bool) -> str:
    """The same in lines."""
    lines = [f"{path} ({form})" + (": would do this, nothing was written" if dry_run else "")]
    for kind in filter(done.counts.__contains__, KINDS):
        lines.append(f"  {of_kind(kind, done.counts[kind])}")
    if done.event is not None and not dry_run:
        lines.append(f"  `memory-server undo i{done.event}` takes it back")
    if done.followed:
        files = "1 file" if done.followed == 1 else f"{done.followed:,} files"
        lines.append(f"  what you correct here is written back to {files}; --no-write-back ends that")
    if not done.counts:
        lines.append("  it is empty")
    lines += _list("rules", [_rule(name, state) for name, state in done.rules.items()])
    lines += _list("not taken over", [f"{refusal.where}: {refusal.why}" for refusal in done.refused])
    lines += _list("conflicts", list(done.conflicts))
    return "\n".join(map(visible, lines))


def _rule(name: str, state: str) -> str:
    match state:
        case "unconfirmed":
            return f"`{name}` only says, until you confirm it: `memory-server rules confirm '{name}'`"
        case kept.NO_EFFECT:
            return f"`{name}` came without its effect, so it does nothing; `memory-server rules add` makes a rule"
    return f"`{name}`: {state}"


def _list(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = [f"    and {len(items) - SHOWN:,} more; --json lists all"] if len(items) > SHOWN else []
    return [f"  {title}:", *(f"    {item}" for item in items[:SHOWN]), *more]
