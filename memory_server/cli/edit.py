"""`memory-server edit`: changes a memory, in the editor or by flags."""

from typing import TYPE_CHECKING, Any

import click

from memory_server.cli import options, output
from memory_server.cli.done import EditedAnswer
from memory_server.cli.handles import HandleType, knowing_deleted, memory_of
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import verb
from memory_server.domain.handles import Handle
from memory_server.domain.memory import MemoryChange, MemoryId
from memory_server.domain.memory import change as changed
from memory_server.mcp.tools.fields import Content, Importance, Project, Tags
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services


@verb(
    "edit",
    examples=(
        "memory-server edit 12",
        "EDITOR='code --wait' memory-server edit 12",
        "memory-server edit 12 --importance 9 --tag staging --tag db",
        "memory-server edit 12 --text 'The staging database listens on port 6000.'",
    ),
)
@click.argument("id", type=HandleType())
@click.option("--text", help="The new text. Without any option the editor is opened.")
@click.option("--type", "type_", type=options.TYPE, help="What it is.")
@click.option("--tag", "tags", multiple=True, help="The new tags. They replace the old ones.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--importance", type=options.Number(1, 10), help="1 to 10.")
@click.option(
    "--project", help="Move it to this project; '' is none.", shell_complete=options.completed("projects")
)
def edit_command(
    settings: Settings,
    id: Handle,
    text: str | None,
    type_: str | None,
    tags: tuple[str, ...],
    no_tags: bool,
    importance: int | None,
    project: str | None,
) -> None:
    """Change a memory in $VISUAL or $EDITOR, or with options. The old text stays in its history."""
    memory = memory_of(id)
    change = MemoryChange(
        None if text is None else options.checked(Content, text, "text"),
        options.memory_type(type_),
        None if project is None else options.checked(Project, project, "project"),
        () if no_tags else tuple(options.checked(Tags, list(tags), "tag")) or None,
        None if importance is None else options.checked(Importance, importance, "importance"),
    )
    by = caller(settings)
    with opened(settings) as services, knowing_deleted(services, by, id):
        if change == MemoryChange():
            change = _edited(services, memory)
        current = services.memories.whole(memory).memory
        if changed(current, change) == current:
            if not output.answered(EditedAnswer(current, None)):
                output.say(f"{id} is unchanged.")
            return
        updated = services.memories.update(memory, change, by)
    same_as = None if updated.same_as is None else f"m{updated.same_as}"
    if output.answered(EditedAnswer(updated.memory, same_as)):
        return
    output.say(f"{id} changed. `memory-server undo` changes it back.")
    output.note(same_as and f"{same_as} says the same. Forget one of the two.")


def _edited(services: "Services", id: MemoryId) -> MemoryChange:
    """Let the person change the text in the editor."""
    memory = services.memories.whole(id).memory
    if not output.asks():
        raise click.UsageError("There is no terminal for an editor. Give the new text with --text.")
    edited: Any = click.edit(memory.content + "\n", extension=".md")
    text = "" if edited is None else edited.strip()
    if not text or text == memory.content.strip():
        return MemoryChange()
    return MemoryChange(content=options.checked(Content, text, "text"))
