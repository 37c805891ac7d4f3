"""`memory-server install CLIENT` and `uninstall CLIENT`: what they write, and what they say."""

from collections.abc import Sequence

from memory_server.cli.install import files
from memory_server.cli.install.clients import EVERY, clients
from memory_server.cli.install.launch import lasting_program, this_program
from memory_server.cli.install.parts import Part
from memory_server.hook.event import Name
from memory_server.settings import Settings
from memory_server.where import Postgres


def install(settings: Settings, name: str, only_print: bool) -> None:
    """Enter the server and its hooks, or print what would be entered."""
    client = clients()[name]
    parts = client.parts(lasting_program(_flags(settings)), events_of(settings))
    if only_print:
        _print(parts)
        return
    changes = files.entered(parts)
    for change in changes:
        if change.is_none:
            print(f"{change.path}: is as it should be.")
            continue
        kept = files.keep_backup(change, parts)
        change.write()
        print(f"{change.path}: " + (f"changed; as it was: {change.backup.name}" if kept else "written."))
    if all(change.is_none for change in changes):
        print(f"{client.title} was connected already. Nothing was changed.")
    else:
        print(f"{client.title} is connected. {client.then}")


def uninstall(settings: Settings, name: str, only_print: bool) -> None:
    """Take the server and its hooks out again, or print what would be taken out. The memory itself stays."""
    client = clients()[name]
    parts = client.parts(this_program(_flags(settings)), EVERY)
    if only_print:
        _print(parts)
        return
    changes = files.taken_out(parts)
    for change in changes:
        if change.is_none:
            continue
        change.write()
        gone = files.drop_backup(change)
        done = "removed, as before" if change.after is None else "taken out"
        print(f"{change.path}: {done}" + ("." if gone else f"; {change.backup.name} is what it was before."))
    if all(change.is_none for change in changes):
        print(f"{client.title} was not connected. Nothing was changed.")
    else:
        print(f"{client.title} is not connected any more. The memory stays in {settings.db}.")


def _flags(settings: Settings) -> list[str]:
    """The database, where one is named."""
    if "db" not in settings.model_fields_set:
        return []
    return ["--db", settings.db.given if isinstance(settings.db, Postgres) else str(settings.db.absolute())]


def events_of(settings: Settings) -> frozenset[Name]:
    """The events that are not turned off."""
    return frozenset() if "all" in settings.hooks_off else EVERY - set(settings.hooks_off)


def _print(parts: Sequence[Part]) -> None:
    """Each file with its entries, as they would stand in it alone."""
    shown: dict[str, str] = {}
    for part in parts:
        shown[str(part.path)] = part.put(shown.get(str(part.path), ""))
    for path, text in shown.items():
        print(f"{path}:\n\n{text.rstrip()}\n")
