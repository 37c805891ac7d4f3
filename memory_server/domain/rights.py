"""Who sees what. The database shows a person only what `sees` tells: `sqlite/rights.py` says the same in SQL."""

from collections.abc import Iterable

from memory_server.domain.caller import OWNED, Person


def sees(person: Person | None, own: str | None, project: str | None) -> bool:
    """Whether a person sees a row that is the own one of somebody, or of nobody (None), and of a project, or of none.

    None stands for the owner of the file, who sees all.
    """
    if person is None:
        return True
    if own is not None:
        return own == person.name
    return bool(project) and has(person, project or "")


def has(person: Person | None, project: str) -> bool:
    """Whether what belongs to a project is for a person to see and to change."""
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
