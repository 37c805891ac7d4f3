"""The rights of a person. The database shows only what `sees` allows: `sqlite/rights.py` says the same in SQL."""

from collections.abc import Iterable

from memory_server.domain.caller import OWNED, Person


def sees(person: Person | None, row_person: str | None, project: str | None) -> bool:
    """True if a person sees a row. `row_person` is the person whose own it is, `project` its project; None: none.

    `person` None stands for the owner of the file, who sees all.
    """
    if person is None:
        return True
    if row_person is not None:
        return row_person == person.name
    return bool(project) and has(person, project or "")


def has(person: Person | None, project: str) -> bool:
    """True if a person may see and change what belongs to a project."""
    return person is None or person.projects is None or project in person.projects


def shares(person: Person | None) -> bool:
    """True for those who may change a shared fact: it stands in everybody's briefing."""
    return person is None or person.projects is None or person.shares


def erases(person: Person | None, writers: Iterable[str | None]) -> bool:
    """True for those who may erase for good what these people have written; None is the owner, several, or unknown."""
    return person is None or all(writer == person.name for writer in writers)


def key(person: Person | None, name: str) -> str:
    """A name as a key of the file: two people may have the same one."""
    return name if person is None else f"{person.name}{OWNED}{name}"


def name(person: Person | None, key: str) -> str:
    """The name that a key of a person has for that person."""
    return key if person is None else key.removeprefix(f"{person.name}{OWNED}")
