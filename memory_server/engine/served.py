"""Makes the parts of a server that serves on standard input or over HTTP: its tools."""

from functools import partial
from typing import TYPE_CHECKING

from memory_server.app import Services
from memory_server.engine import arenas, garbage
from memory_server.errors import Invalid
from memory_server.mcp import listed
from memory_server.mcp.observing import counting
from memory_server.mcp.offers import offers
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.services.background import Job
from memory_server.settings import Settings
from memory_server.stores import clock

if TYPE_CHECKING:
    from memory_server.mcp.audit import Audit

AUDITING = 60.0
"""Seconds between two looks whether calls are missing in the audit log; each call that is recorded looks too."""


def start(services: Services) -> None:
    """Start the background jobs. From here on Python looks for garbage."""
    garbage.look_from_now()
    services.start()
    arenas.give_back_what_loading_took()


def audit_of(settings: Settings) -> "Audit | None":
    """Raises Invalid where the setting names no file that can be written, and OSError where its disk fails."""
    if settings.audit is None:
        return None
    from memory_server.mcp.audit import Audit

    try:
        return Audit(settings.audit, clock, settings.audit_required)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise Invalid(
            f"--audit {settings.audit}: {error.strerror}. "
            "Name a file in a folder that exists and that you may write to."
        ) from error


def work_of(services: Services, audit: "Audit | None", tenant: str | None = None) -> Work:
    """Makes what carries out the calls with the tools that the settings leave; called before the services start.

    `tenant` names the memory in the audit log, where a server has several.
    """
    left = listed.callable_names(services.settings)
    observers = [counting(services.calls)]
    if audit is not None:
        observers.append(audit.called if tenant is None else partial(audit.called, tenant=tenant))
        services.background.add(
            Job("write the audit log", audit.tell_lost, AUDITING, wake=audit.changed, last=audit.tell_lost)
        )
    tools = {tool.name: tool for tools in toolsets(services).values() for tool in tools if tool.name in left}
    admit = None if audit is None else audit.admit
    trust = None if services.settings.trust == "off" else services.trust
    return Work(tools, offers(services), listed.names(), observers, admit, services.late.take, trust=trust)
