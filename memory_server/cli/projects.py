"""`memory-server projects`: lists, renames and joins projects."""

import argparse

from memory_server import app
from memory_server.domain.project import Listed, Moved
from memory_server.errors import Invalid
from memory_server.language.text import visible
from memory_server.settings import Settings


def projects(settings: Settings, arguments: argparse.Namespace) -> None:
    """Print the projects, or what a rename or a join did. Creates no file."""
    if not settings.db.exists():
        raise Invalid(f"There is no database {settings.db}. Give its path with --db.")
    services = app.build(settings)
    services.database.refuse_empty()
    match arguments.action:
        case "rename":
            old = services.projects.rename(arguments.old, arguments.new)
            _say(f"{old} is called {arguments.new.strip()} now. Its old name leads to it too.")
        case "join":
            source, target, moved = services.projects.join(arguments.source, arguments.target)
            _say(f"{source} is part of {target} now. Its name leads to {target} too.")
            _say(f"Moved: {_counts(moved)}.")
            for key in moved.both:
                _say(f"  {key}: both had a value. The newer one is current, the other is in its history.")
        case _:
            here = settings.here
            name = services.projects.here(here) or "no project"
            _say(f"This folder: {name}" + ("" if here.is_given else f" ({here.key})"))
            for each in services.projects.select():
                _say(_line(each))
    services.close()


def _line(project: Listed) -> str:
    known = [*project.keys, *(f"once {name}" for name in project.former_names)]
    if project.folder is not None and project.folder not in project.keys:
        known.append(project.folder)
    return f"{project.name}: {_counts(project)}" + (f" ({', '.join(known)})" if known else "")


def _counts(of: Listed | Moved) -> str:
    return f"memories {of.memories}, facts {of.facts}, turns {of.turns}"


def _say(line: str) -> None:
    print(visible(line))
