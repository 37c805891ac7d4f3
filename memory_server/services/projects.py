"""Finds the project of the file that a call means; and lists, renames and joins projects.

A caller and an argument say what the disk or a person calls a project: its remote, its folder, a name. In the file it
has one name, under which its rows are filed. The functions here find that name inside the transaction of a service,
so that a project that is renamed meanwhile is still the same.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memory_server.domain import event, rights
from memory_server.domain.caller import Caller
from memory_server.domain.project import (
    DEFAULT_CONVERSATION,
    EVERYWHERE,
    Listed,
    Moved,
    chosen_name,
    default_conversation,
    folder_names,
)
from memory_server.domain.secrets import find_secret
from memory_server.errors import Conflict, Invalid, Mend, NotFound
from memory_server.language.nearest import meant
from memory_server.project import NAME, NONE, Project, address, named, project_of
from memory_server.storage.database import Database
from memory_server.storage.projects import AT_ONCE, KeyKind, Known
from memory_server.storage.tx import Tx, WriteTx

NOBODY = Caller()

SHOWN = 60
"""Characters of the path of a folder that an answer shows: its last ones."""


@dataclass(frozen=True, slots=True)
class Among:
    """The projects of a search: `only` one, or all, of which `first` comes first.

    `note` says that nothing is known of the project that was named.
    """

    only: str | None
    first: str | None
    note: str | None = None


# For other services, in their transactions


def known(tx: Tx, caller: Caller) -> Caller:
    """Return the caller with the name that its project has in the file, or would get."""
    return called(caller, name_of(tx, caller.project))


def called(caller: Caller, name: str) -> Caller:
    """Return the caller, with this name for its project, if it has one."""
    return replace(caller, project=Project(name, name) if caller.project.key else NONE)


def settled(tx: WriteTx, caller: Caller) -> Caller:
    """Return the caller of something about to be stored: a project that is new is entered in the file."""
    return called(caller, settle(tx, caller.project))


def asked(text: str, caller: Caller) -> Project:
    """Return the project of an argument: a name, a key, the path of a folder, the address of a remote; '' is none.

    Call it before the transaction: it looks at the disk where a path of this machine is given.
    """
    if text.strip() == caller.project.key:
        return caller.project
    return _read(text) if caller.is_here else named(text)


def name_of(tx: Tx, project: Project) -> str:
    """Return the name of a project in the file, or the one it would get; '' for none."""
    if not project.key:
        return ""
    row = _find(tx, project)
    return row.name if row else _new_name(tx, project)


def settle(tx: WriteTx, project: Project) -> str:
    """Return the name of a project in the file, which is entered where it is new.

    Raises:
        Invalid: what stands for all projects is given for one.
        NotFound: the caller is a person who does not have the project, whether there is one of this name or not.
    """
    if not project.key:
        return ""
    if project.key == EVERYWHERE:
        raise Invalid(f"`{EVERYWHERE}` stands for all projects. Nothing was stored. Name one project.")
    if not rights.has(tx.person, project.name) and _find(tx, project) is None:
        raise NotFound(f"You have no project `{project.name}`. Nothing was stored.", Mend.LIST_PROJECTS)
    row = None if project.is_given else _primary(tx, project)
    if row is None:
        row = _find(tx, project) or tx.projects.insert(_new_name(tx, project))
        _enter_key(tx, row, project)
    if project.folder is not None:
        tx.projects.mark_folder(row.id, project.folder)
    return row.name


def among(project: str | None, caller: Caller) -> Callable[[Tx], Among]:
    """Return what looks up the projects of a search: one, all equally ('*'), or all with the caller's first (None).

    Call it before the transaction, as `asked`.
    """
    only = None if project is None or project == EVERYWHERE else asked(project, caller)

    def named(tx: Tx) -> Among:
        if project == EVERYWHERE:
            return Among(None, None)
        first = name_of(tx, caller.project) or None
        return Among(None, first) if only is None else Among(name_of(tx, only), first, unknown(tx, only))

    return named


def unknown(tx: Tx, project: Project) -> str | None:
    """Return the note for a project of which the file knows nothing: what was probably meant. None if it is known."""
    if not project.key or _find(tx, project) is not None:
        return None
    near = meant(project.name, tx.projects.names()) if project.is_given else None
    hint = f" Did you mean `{near}`?" if near else ""
    return f"Nothing is stored of a project `{project.key}`.{hint}"


def missing_folder(tx: Tx, caller: Caller) -> str | None:
    """Return the note for a project that is a folder of this machine which does not exist. None where the file knows
    the project: its folder may have moved."""
    folder = caller.project.key
    if not caller.is_here or not address.is_path(folder) or os.path.exists(folder):  # noqa: PTH110 - of any length
        return None
    if _find(tx, caller.project) is not None:
        return None
    near = meant(caller.project.name, tx.projects.names())
    hint = f" Did you mean the project `{near}`?" if near else ""
    return f"There is no folder `{folder if len(folder) <= SHOWN else f'…{folder[-SHOWN:]}'}`.{hint}"


def conversation(tx: Tx, name: str | None, caller: Caller) -> str:
    """Return the conversation that is named, else that of the caller's project."""
    return default_conversation(name_of(tx, caller.project)) if name is None else name


def settled_conversation(tx: WriteTx, name: str | None, caller: Caller) -> str:
    """Return the conversation for what is about to be stored: a project that is new is entered in the file."""
    return default_conversation(settle(tx, caller.project)) if name is None else name


def conversations(tx: Tx, name: str | None, caller: Caller) -> tuple[str, ...]:
    """Return the conversation that is named, else those of the caller's project and of no project (the user's)."""
    first = conversation(tx, name, caller)
    return (first,) if name is not None or first == DEFAULT_CONVERSATION else (first, DEFAULT_CONVERSATION)


@dataclass(frozen=True, slots=True)
class ProjectService:
    database: Database

    def settle(self, project: Project) -> None:
        """Background work: enter what is new of a project that the file has. One that has nothing is not entered."""
        if self.database.read_only or project.is_given:
            return
        with self.database.read() as tx:
            row = _find(tx, project)
            if row is None or (_primary(tx, project) == row and tx.projects.is_in(row.id, project.folder)):
                return
        with self.database.write() as tx:
            settle(tx, project)

    def here(self, project: Project) -> str:
        """Return the name of a project in the file."""
        with self.database.read() as tx:
            return name_of(tx, project)

    def names(self) -> list[str]:
        """Return the names of all projects, in order."""
        with self.database.read() as tx:
            return tx.projects.names()

    def select(self) -> list[Listed]:
        """Return all projects, by name."""
        with self.database.read() as tx:
            return tx.projects.select()

    def rename(self, old: str, new: str, caller: Caller = NOBODY) -> str:
        """Give a project another name, and return the old one. Its rows follow; the old name leads to it too.

        One with many memories moves to a new project in short transactions. Where that is broken off, to join both
        goes on.

        Raises:
            NotFound: there is no such project.
            Conflict: another project has the name.
            Invalid: it can be no name.
        """
        project, name = _read(old), new.strip()
        _refuse_name(name)
        with self.database.write() as tx:
            row = _get(tx, project)
            namesake = _by_text(tx, name)
            if namesake is not None and namesake.id != row.id and not _is_former(tx, name):
                raise Conflict(
                    f"There is a project `{namesake.name}` already. Nothing was renamed.", Mend.JOIN_PROJECTS
                )
            large = tx.joined_projects.is_large(row)
            if name != row.name:
                _log(tx, event.RENAMED, row.name, name, caller)
            if large and namesake is None:
                tx.projects.hand_on(row, tx.projects.insert(name))
                tx.tokens.rename_project(row.name, name)
            else:
                tx.projects.rename(row.id, name)
        if large and namesake is None:
            self.join(row.name, name, None)
        return row.name

    def join(self, source: str, target: str, caller: Caller | None = NOBODY) -> tuple[str, str, Moved]:
        """Move all of a project into another one, in short transactions; return both names, and how much moved.

        Where it is broken off, the same command goes on. `caller` is None where a project only gets another name.

        Raises:
            NotFound: one of them does not exist.
            Invalid: both are the same.
        """
        parts, memories = (_read(source), _read(target)), 0
        while True:
            with self.database.write() as tx:
                source_row, target_row = (_get(tx, part) for part in parts)
                if source_row.id == target_row.id:
                    raise Invalid(f"`{source}` and `{target}` are one project already: {source_row.name}.")
                number = tx.joined_projects.move_memories(source_row, target_row)
                memories += number
                if number < AT_ONCE:
                    tx.projects.hand_on(source_row, target_row)
                    moved = tx.joined_projects.finish(source_row, target_row, memories)
                    if caller is not None:
                        _log(tx, event.JOINED, source_row.name, target_row.name, caller, moved)
                    return source_row.name, target_row.name, moved


def _log(tx: WriteTx, source: str, old: str, new: str, caller: Caller, moved: Moved | None = None) -> None:
    """Log what was done to a project, as an event without steps: nothing undoes it."""
    counts = "" if moved is None else f"memories {moved.memories}, facts {moved.facts}, turns {moved.turns}"
    tx.events.count(tx.events.insert("imported", source, f"{old} → {new}", tx.now, caller), counts)


def _find(tx: Tx, project: Project) -> Known | None:
    """Return the project of the file that a folder, a remote or a name stands for.

    One that is known by a path is the same after its repository got its first remote. And a folder takes over what was
    stored under its name, as long as no other folder or remote has that name.
    """
    if project.is_given:
        return _by_text(tx, project.name)
    row = _primary(tx, project)
    if row is not None:
        return row
    for path in project.paths:
        row = tx.projects.find_by_key(path)
        if row is not None and not tx.projects.has_key(row.id, KeyKind.REMOTE):
            return row
    for name in folder_names(project):
        row = tx.projects.find(name)
        if row is not None and not tx.projects.has_key(row.id, KeyKind.REMOTE, KeyKind.FOLDER):
            return row
    return None


def _primary(tx: Tx, project: Project) -> Known | None:
    """Find a project by its key; a person may have written a path as the name."""
    row = tx.projects.find_by_key(project.key)
    return tx.projects.find(project.key) if row is None and address.is_path(project.key) else row


def _by_text(tx: Tx, text: str) -> Known | None:
    """Find a project by name, former name or key; else by name in any case, where only one has it."""
    row = tx.projects.find(text) or tx.projects.find_by_former_name(text) or tx.projects.find_by_key(text)
    if row is not None:
        return row
    alike = [name for name in tx.projects.names() if name.casefold() == text.casefold()]
    if len(alike) == 1:
        return tx.projects.find(alike[0])
    remote = address.read(text) if "/" in text else None
    return None if remote is None else tx.projects.find_by_key(remote.key)


def _get(tx: Tx, project: Project) -> Known:
    row = _find(tx, project) if project.key else None
    if row is None:
        wrong = unknown(tx, project) or "This folder belongs to no project."
        raise NotFound(f"{wrong} Nothing was changed.", Mend.LIST_PROJECTS)
    return row


def _is_former(tx: Tx, name: str) -> bool:
    return tx.projects.find(name) is None and tx.projects.find_by_former_name(name) is not None


def _new_name(tx: Tx, project: Project) -> str:
    """Return the name of a new project. A given one is taken as it is, even if another project once had it."""
    if project.is_given:
        return project.name
    return chosen_name(project, [*tx.projects.names(), *tx.projects.former_names()])


def _enter_key(tx: WriteTx, row: Known, project: Project) -> None:
    """Enter the key, but never one that holds a credential: then the folder stands for the project."""
    keys = () if project.is_given else (project.key, *project.paths)
    safe = next((key for key in keys if find_secret(key) is None), None)
    if safe is not None and tx.projects.find_by_key(safe) is None:
        tx.projects.add_key(row.id, safe)


def _refuse_name(name: str) -> None:
    """Raise Invalid where a text could not be told from a path, an address, none or all of them."""
    if name in ("", EVERYWHERE) or _read(name) != Project(name, name):
        raise Invalid(
            f"`{name[:NAME]}` can be no name: it has 1 to {NAME} characters and is no path, address or `*`."
        )


def _read(text: str) -> Project:
    return project_of(text, Path()) if text.strip() else NONE
