"""`memory-server projects`: lists, renames and joins projects."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from memory_server.cli import options, output
from memory_server.cli.answers import ProjectsAnswer
from memory_server.cli.done import JoinedAnswer, RenamedAnswer
from memory_server.cli.importing import tried
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import Verbs, verb
from memory_server.cli.terminal import bracketed, colon, filled, translated
from memory_server.domain.project import Listed, Moved
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services


@verb("list", examples=("memory-server projects", "memory-server projects list --json"))
def list_command(settings: Settings) -> None:
    """List the projects, and tell which one this folder is."""
    here = settings.here
    with opened(settings) as services:
        name = services.projects.here(here)
        projects = services.projects.select()
    if output.answered(ProjectsAnswer(name or None, projects)):
        return
    folder = name or translated("no project")
    output.say(f"This folder: {folder}" if here.is_given else f"This folder: {folder} ({here.key})")
    for project in projects:
        output.say_text(_line(project))


@verb("rename", examples=("memory-server projects rename old-shop shop",))
@click.argument("old", shell_complete=options.completed("projects"))
@click.argument("new")
def rename_command(settings: Settings, old: str, new: str) -> None:
    """Give the project OLD another name. The old one still leads to it."""
    with opened(settings) as services:
        name = services.projects.rename(old, new, caller(settings))
    if output.answered(RenamedAnswer(new.strip(), name)):
        return
    output.say(f"{name} is now called {new.strip()}. Its old name still leads to it.")


@verb(
    "join",
    examples=(
        "memory-server projects join old-shop shop --dry-run",
        "memory-server projects join old-shop shop",
    ),
)
@click.argument("source", metavar="FROM", shell_complete=options.completed("projects"))
@click.argument("target", metavar="INTO", shell_complete=options.completed("projects"))
@options.dry_run_option
def join_command(settings: Settings, source: str, target: str, dry_run: bool) -> None:
    """Move all of the project FROM into the project INTO, for good."""
    with _joining(settings, dry_run) as services:
        part, whole, moved = services.projects.join(source, target, caller(settings))
    if output.answered(JoinedAnswer(part, whole, moved, not dry_run)):
        return
    if dry_run:
        output.say(f"Would join {part} into {whole} and move: {_counts(moved)}. Nothing was changed.")
    else:
        output.say(f"Joined {part} into {whole}. Its name now leads to {whole}.")
        output.say(f"Moved: {_counts(moved)}.")
    for key in moved.both:
        output.say(
            f"{key}: both had a value. The newer one is current; the older one is in its history.", indent=2
        )


@contextmanager
def _joining(settings: Settings, dry_run: bool) -> Iterator["Services"]:
    """A trial works on a copy of the file."""
    if dry_run:
        with tried(settings, dry_run) as services:
            yield services
        return
    with opened(settings) as services:
        yield services


@click.group("projects", cls=Verbs, invoke_without_command=True)
@click.pass_context
def projects_command(context: click.Context) -> None:
    """List the projects; rename or join them. Without a command it lists.

    A project is its name, the path of its folder, or the address of its remote.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_command)


for command in (list_command, rename_command, join_command):
    projects_command.add_command(command)


def _line(project: Listed) -> str:
    names = [*project.keys, *(filled("once {name}", name=name) for name in project.former_names)]
    if project.folder is not None and project.folder not in project.keys:
        names.append(project.folder)
    line = f"{project.name}{colon()}{_counts(project)}"
    return line + (bracketed(", ".join(names)) if names else "")


def _counts(amounts: Listed | Moved) -> str:
    return translated(f"memories {amounts.memories}, facts {amounts.facts}, turns {amounts.turns}")
