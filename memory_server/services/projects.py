"""Which project of the file a call means; and listing, renaming and joining them.

A caller and an argument say what the disk or a person calls a project: its remote, its folder, a name. In the file it
has one name, under which its rows are filed. The functions here find that name inside the transaction of a service,
so that a project that is renamed meanwhile is still the same.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path

from memory_server.domain import rights
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
from memory_server.errors import Conflict, Invalid, Mend, NotFound
from memory_server.language.nearest import meant
from memory_server.project import NAME, NONE, Project, address, named, project_of
from memory_server.storage.database import Database
from memory_server.storage.projects import AT_ONCE, KeyKind, Known
from memory_server.storage.tx import Tx, WriteTx


@dataclass(frozen=True, slots=True)
class Among:
    """Where a search looks: in `only` one project, or in all, of which `own` comes first.

    `note` says that nothing is known of the project that was named.
    """

    only: str | None
    own: str | None
    note: str | None = None


# For other services, in their transactions


def known(tx: Tx, caller: Caller) -> Caller:
    """The caller with the name that its project has in the file, or would get."""
    return called(caller, name_of(tx, caller.project))


def called(caller: Caller, name: str) -> Caller:
    """The caller, with this name for its project."""
    return replace(caller, project=_named(caller.project, name))


def settled(tx: WriteTx, caller: Caller) -> Caller:
    """The same for what is about to be stored: a project that is new is entered in the file."""
    return called(caller, settle(tx, caller.project))


def asked(given: str, caller: Caller) -> Project:
    """The project of an argument: a name, a key, the path of a folder, the address of a remote; '' is none.

    Call it before the transaction: it looks at the disk where a path of this machine is given.
    """
    if given.strip() == caller.project.key:
        return caller.project
    return _read(given) if caller.is_here else named(given)


def name_of(tx: Tx, project: Project) -> str:
    """The name of a project in the file, or the one it would get; '' for none."""
    if not project.key:
        return ""
    found = _find(tx, project)
    return found.name if found else _new_name(tx, project)


def settle(tx: WriteTx, project: Project) -> str:
    """The name of a project in the file, which is entered where it is new.

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
    found = None if project.is_given else _primary(tx, project)
    if found is None:
        found = _find(tx, project) or tx.projects.insert(_new_name(tx, project))
        _enter_key(tx, found, project)
    if project.folder is not None:
        tx.projects.mark_folder(found.id, project.folder)
    return found.name


@dataclass(frozen=True, slots=True)
class Where:
    """Where a search looks whose argument is a project, '*' for all equally, or nothing.

    `first` gives the name of the project that comes first, None: all are equal. `one` gives the name of the only one in
    which it looks, with a note where it is unknown; None: it looks in all. `guess` is the probable answer, and
    `asked` is equal for two searches that look in the same place.
    """

    first: Callable[[Tx], str | None]
    one: Callable[[Tx], tuple[str, str | None]] | None
    guess: Among
    asked: Hashable

    def __call__(self, tx: Tx) -> Among:
        one = self.one
        if one is None:
            return Among(None, self.first(tx))
        first, (name, note) = tx.together(lambda: self.first(tx), lambda: one(tx))
        return Among(name, first, note)


def among(given: str | None, caller: Caller) -> Where:
    """Where a search looks that was given a project, '*' for all equally, or nothing."""
    if given == EVERYWHERE:
        return Where(lambda _: None, None, Among(None, None), EVERYWHERE)
    own, only = caller.project, None if given is None else asked(given, caller)
    return Where(
        lambda tx: name_of(tx, own) or None,
        None if only is None else lambda tx: _name_and_note(tx, only),
        Among(None if only is None else only.name, own.name or None),
        (own, only),
    )


def _name_and_note(tx: Tx, project: Project) -> tuple[str, str | None]:
    """What `name_of` and `unknown` give."""
    found = _find(tx, project) if project.key else None
    return (found.name, None) if found else (name_of(tx, project), unknown(tx, project))


def unknown(tx: Tx, project: Project) -> str | None:
    """The note for a project of which the file knows nothing: what was probably meant. None where it is known."""
    if not project.key or _find(tx, project) is not None:
        return None
    near = meant(project.name, tx.projects.names()) if project.is_given else None
    return f"Nothing is stored of a project `{project.key}`." + (f" Did you mean `{near}`?" if near else "")


def conversation(tx: Tx, given: str | None, caller: Caller) -> str:
    """The conversation that is named, else that of the caller's project."""
    return default_conversation(name_of(tx, caller.project)) if given is None else given


def probable_conversation(given: str | None, caller: Caller) -> str:
    """What `conversation` probably is."""
    return default_conversation(caller.project.name) if given is None else given


def settled_conversation(tx: WriteTx, given: str | None, caller: Caller) -> str:
    """The same for what is about to be stored."""
    return default_conversation(settle(tx, caller.project)) if given is None else given


def conversations(tx: Tx, given: str | None, caller: Caller) -> tuple[str, ...]:
    """The same, and where none is named that of no project too: what is there is the user's, in every project."""
    own = conversation(tx, given, caller)
    return (own,) if given is not None or own == DEFAULT_CONVERSATION else (own, DEFAULT_CONVERSATION)


@dataclass(frozen=True, slots=True)
class ProjectService:
    database: Database

    def settle(self, project: Project) -> None:
        """Background work: enter what is new of a project that the file has. One that has nothing is not entered."""
        if self.database.read_only or project.is_given:
            return
        with self.database.read() as tx:
            found = _find(tx, project)
            if found is None or (
                _primary(tx, project) == found and tx.projects.is_in(found.id, project.folder)
            ):
                return
        with self.database.write() as tx:
            settle(tx, project)

    def here(self, project: Project) -> str:
        """What a project is called in the file."""
        with self.database.read() as tx:
            return name_of(tx, project)

    def names(self) -> list[str]:
        """The names of all projects, in order."""
        with self.database.read() as tx:
            return tx.projects.names()

    def select(self) -> list[Listed]:
        """All projects, by name."""
        with self.database.read() as tx:
            return tx.projects.select()

    def rename(self, old: str, new: str) -> str:
        """Give a project another name. Its rows follow; the old name leads to it too. The old name.

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
            found = _get(tx, project)
            taken = _by_text(tx, name)
            if taken is not None and taken.id != found.id and not _is_former(tx, name):
                raise Conflict(
                    f"There is a project `{taken.name}` already. Nothing was renamed.", Mend.JOIN_PROJECTS
                )
            large = tx.joined_projects.is_large(found)
            if large and taken is None:
                tx.joined_projects.hand_on(found, tx.projects.insert(name))
                tx.tokens.follow(found.name, name)
            else:
                tx.projects.rename(found.id, name)
        if large and taken is None:
            self.join(found.name, name)
        return found.name

    def join(self, source: str, target: str) -> tuple[str, str, Moved]:
        """Move all of a project into another one, in short transactions. Both names, and how much moved.

        Where it is broken off, the same command goes on.

        Raises:
            NotFound: one of them does not exist.
            Invalid: both are the same.
        """
        parts, memories = (_read(source), _read(target)), 0
        while True:
            with self.database.write() as tx:
                one, other = (_get(tx, part) for part in parts)
                if one.id == other.id:
                    raise Invalid(f"`{source}` and `{target}` are one project already: {one.name}.")
                number = tx.joined_projects.move_memories(one, other)
                memories += number
                if number < AT_ONCE:
                    return one.name, other.name, tx.joined_projects.finish(one, other, memories)


def _find(tx: Tx, project: Project) -> Known | None:
    """The project of the file that a folder, a remote or a name stands for.

    One that is known by a path is the same after its repository got its first remote. And a folder takes over what was
    stored under its name, as long as no other folder or remote has that name.
    """
    if project.is_given:
        return _by_text(tx, project.name)
    found = _primary(tx, project)
    if found is not None:
        return found
    for path in project.others:
        found = tx.projects.find_by_key(path)
        if found is not None and not tx.projects.has_key(found.id, KeyKind.REMOTE):
            return found
    for name in folder_names(project):
        found = tx.projects.find(name)
        if found is not None and not tx.projects.has_key(found.id, KeyKind.REMOTE, KeyKind.FOLDER):
            return found
    return None


def _primary(tx: Tx, project: Project) -> Known | None:
    """By its key; a person may have written a path as the name."""
    found = tx.projects.find_by_key(project.key)
    return tx.projects.find(project.key) if found is None and address.is_path(project.key) else found


def _by_text(tx: Tx, text: str) -> Known | None:
    """By name, former name or key; else by name in upper or lower case, where only one has it."""
    found = tx.projects.find(text) or tx.projects.find_by_former_name(text) or tx.projects.find_by_key(text)
    if found is not None:
        return found
    alike = [name for name in tx.projects.names() if name.casefold() == text.casefold()]
    if len(alike) == 1:
        return tx.projects.find(alike[0])
    remote = address.read(text) if "/" in text else None
    return None if remote is None else tx.projects.find_by_key(remote.key)


def _get(tx: Tx, project: Project) -> Known:
    found = _find(tx, project) if project.key else None
    if found is None:
        wrong = unknown(tx, project) or "This folder belongs to no project."
        raise NotFound(f"{wrong} Nothing was changed.", Mend.LIST_PROJECTS)
    return found


def _is_former(tx: Tx, name: str) -> bool:
    return tx.projects.find(name) is None and tx.projects.find_by_former_name(name) is not None


def _new_name(tx: Tx, project: Project) -> str:
    """A name that is given is taken as it is, also where it was that of another project once."""
    if project.is_given:
        return project.name
    return chosen_name(project, [*tx.projects.names(), *tx.projects.former_names()])


def _enter_key(tx: WriteTx, found: Known, project: Project) -> None:
    """Enter the key, but never one that holds a credential: then the folder stands for the project."""
    from memory_server.domain.secrets import (
        find_secret,
    )  # its patterns take 15 ms, and reading needs none of them

    keys = () if project.is_given else (project.key, *project.others)
    safe = next((key for key in keys if find_secret(key) is None), None)
    if safe is not None and tx.projects.find_by_key(safe) is None:
        tx.projects.add_key(found.id, safe)


def _refuse_name(name: str) -> None:
    """Raises Invalid where a text could not be told from a path, an address, none or all of them."""
    if name in ("", EVERYWHERE) or _read(name) != Project(name, name):
        raise Invalid(
            f"`{name[:NAME]}` can be no name: it has 1 to {NAME} characters and is no path, address or `*`."
        )


def _read(given: str) -> Project:
    return project_of(given, Path()) if given.strip() else NONE


def _named(project: Project, name: str) -> Project:
    return Project(name, name) if project.key else NONE
