"""Says who said a text first, of a command that no person at a terminal runs: the engines know what hooks heard."""

import json
import os
import socket
from contextlib import suppress

import click

from memory_server.domain import trust
from memory_server.front import finding, place
from memory_server.project import Project
from memory_server.settings import Settings

PATIENCE = 5.0
"""Seconds that an engine has for a text."""

LONGEST = 200_000
"""Characters of a text that are compared."""


def stamp(settings: Settings, project: Project) -> trust.Stamp:
    """Return what stamps the texts of the command, as those of a tool in its session are stamped.

    All engines of the database are asked, since any of them may have heard it. They are unknown where there is none.
    """
    links: list[socket.socket] | None = None

    def stamped(text: str) -> str:
        nonlocal links
        if not text or settings.trust == "off":
            return trust.UNKNOWN
        if links is None:
            links = _connected(settings, project)
        return trust.of_parts([trust.UNKNOWN, *(_origin(link, text[:LONGEST]) for link in links)])

    return stamped


def _connected(settings: Settings, project: Project) -> list[socket.socket]:
    """Connect to the engines until the command ends."""
    if os.name == "nt":
        return []
    database = place.name_of(settings.db)
    members = {"stamps": database, "session": settings.session or "", "project": project.key}
    links = []
    for link in finding.all_of(settings.db):
        click.get_current_context().call_on_close(link.close)
        with suppress(OSError):  # it has ended
            link.settimeout(PATIENCE)
            link.sendall(json.dumps(members).encode() + b"\n")
            links.append(link)
    return links


def _origin(link: socket.socket, text: str) -> str:
    """Return the origin that an engine knows of a text. One that does not answer is not asked again."""
    try:
        link.sendall(json.dumps(text).encode() + b"\n")
        with link.makefile("rb") as lines:
            return str(json.loads(lines.readline()))
    except (OSError, ValueError):
        link.close()
        return trust.UNKNOWN
