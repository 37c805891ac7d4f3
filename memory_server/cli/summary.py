"""Sums up an import or a merge, for people and as JSON."""

from memory_server.cli import output
from memory_server.cli.done import ImportAnswer, ImportedPath, RefusedItem
from memory_server.cli.refusals import refused
from memory_server.cli.terminal import bracketed, colon, filled, is_chinese, listed, translated
from memory_server.language.text import visible
from memory_server.transfer.counts import KINDS, in_chinese, of_kind
from memory_server.transfer.importing import Imported
from memory_server.transfer.taking import kept
from memory_server.transfer.taking.run import Outcome

SHOWN = 20
"""Lines of each list for people; `--json` has all."""


def answer(parts: list[tuple[str, str, Imported]], dry_run: bool) -> ImportAnswer:
    """Return the summary for JSON: of each path its format and counts, and all that was left out."""
    totals = {outcome.value: sum(done.total(outcome) for _, _, done in parts) for outcome in Outcome}
    sources = [_path(path, form, done, dry_run) for path, form, done in parts]
    return ImportAnswer(dry_run=dry_run, sources=sources, **totals)


def _path(path: str, form: str, done: Imported, dry_run: bool) -> ImportedPath:
    return ImportedPath(
        path,
        None if done.event is None or dry_run else f"i{done.event}",
        form,
        done.followed,
        {
            kind: {outcome.value: number for outcome, number in counts.items()}
            for kind, counts in done.counts.items()
        },
        [RefusedItem(visible(refusal.where), visible(refusal.why)) for refusal in done.refused],
        {visible(name): state for name, state in done.rules.items()},
        list(map(visible, done.conflicts)),
        done.lowered,
    )


def told(path: str, form: str, done: Imported, dry_run: bool) -> str:
    """The same in lines."""
    lines = [
        f"{path}{bracketed(translated(form))}"
        + (translated(": would do this, nothing was written") if dry_run else "")
    ]
    for kind in filter(done.counts.__contains__, KINDS):
        line = of_kind(kind, done.counts[kind])
        lines.append(f"  {in_chinese(line) if is_chinese() else line}")
    lines += [f"  {line}" for line in _filed(done, dry_run)]
    if done.event is not None and not dry_run:
        lines.append(f"  {translated(f'`memory-server undo i{done.event}` takes it back')}")
    if done.lowered:
        lowered = translated(
            f"{done.lowered:,} that the file calls yours became imported; "
            "import the file again at a terminal to mark them as yours"
        )
        lines.append(f"  {lowered}")
    if done.followed:
        files = output.counted(done.followed, "file")
        back = translated(f"what you correct here is written back to {files}; --no-write-back ends that")
        lines.append(f"  {back}")
    if not done.counts:
        lines.append(f"  {translated('it is empty')}")
    lines += _list("rules", [_rule(name, state) for name, state in done.rules.items()])
    lines += _list("not taken over", [refused(refusal.where, refusal.why) for refusal in done.refused])
    lines += _list("conflicts", list(map(translated, done.conflicts)))
    return "\n".join(map(visible, lines))


def _filed(done: Imported, dry_run: bool) -> list[str]:
    """Say into which projects the new memories went."""
    if not done.filed:
        return []
    if not any(done.filed):
        return [
            translated(
                "in no project, so all projects find it; --project NAME chooses one"
                if dry_run
                else "in no project, so all projects find it; for one, undo it and add --project NAME"
            )
        ]
    names = [
        f"{name or translated('no project')} {number:,}" if len(done.filed) > 1 else name
        for name, number in done.filed.most_common(SHOWN)
    ]
    return [translated("project") + colon() + listed(names)]


def _rule(name: str, state: str) -> str:
    match state:
        case "unconfirmed":
            return filled(
                "`{name}` only says, until you confirm it: `memory-server rules confirm '{name}'`", name=name
            )
        case kept.NO_EFFECT:
            return filled(
                "`{name}` came without its effect, so it does nothing; `memory-server rules add` makes a rule",
                name=name,
            )
    return f"`{name}`{colon()}{translated(state)}"


def _list(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    left = translated(f"and {len(items) - SHOWN:,} more; --json lists all")
    more = [f"    {left}"] if len(items) > SHOWN else []
    return [f"  {translated(title)}{colon().rstrip()}", *(f"    {item}" for item in items[:SHOWN]), *more]
