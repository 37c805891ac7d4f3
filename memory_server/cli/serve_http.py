"""`memory-server serve --http`: one server for several machines and people."""

import ipaddress
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from memory_server import app
from memory_server.app import Services
from memory_server.cli.listening import listen
from memory_server.cli.view import CLIENT
from memory_server.domain.caller import Caller
from memory_server.engine import garbage
from memory_server.engine.readers import Readers
from memory_server.engine.served import audit_of, start, work_of
from memory_server.errors import Invalid, Mend
from memory_server.mcp import listed
from memory_server.mcp.http.app import PATH, HttpOptions, ProtocolApp, endpoint, guarded, http_app
from memory_server.mcp.http.callers import HttpCallers
from memory_server.mcp.http.guard import Traffic
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.http.logins import RefusedLogins
from memory_server.mcp.http.metrics import ReaderLoad, by_tenant, written
from memory_server.mcp.http.serving import serve
from memory_server.mcp.http.tenants import Faces, TenantFile, Tenants
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.tool import CarryOut, carry_out_here
from memory_server.mcp.work import Work
from memory_server.settings import LOOPBACK, Settings
from memory_server.web.door import BrowserDoor
from memory_server.web.gate import SECRET
from memory_server.web.prefix import Prefixed
from memory_server.web.site import site
from memory_server.where import Where

if TYPE_CHECKING:
    from memory_server.mcp.audit import Audit
    from memory_server.mcp.http.oauth import OAuth


@dataclass(frozen=True, slots=True)
class _Served:
    """An application; `begin` starts its background work, `close` closes what it uses."""

    application: Starlette
    begin: Callable[[], None]
    close: Callable[[], None]


def serve_http(settings: Settings) -> None:
    """Serve until a signal asks to stop; running calls are still answered. Never returns: the process ends here.

    Raises:
        Invalid: other machines could reach it, also through a proxy, and there is no token.
        Unavailable: nothing can listen there, or the file cannot be opened.
    """
    host, port = settings.http_place or (LOOPBACK, 0)
    hosts, traffic = (*_names(host), *settings.http_hosts), Traffic()
    if settings.tenants is None:
        served = _one(settings, hosts, traffic, settings.http_hosts if _is_loopback(host) else (host,))
    else:
        served = _several(settings, settings.tenants, hosts, traffic)
    listening = listen(host, port)
    served.begin()
    shown = f"[{host}]" if ":" in host else host
    print(f"memory-server: http://{shown}:{listening.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    prefix = settings.http_prefix
    try:
        serve(Prefixed(served.application, prefix) if prefix else served.application, listening, traffic)
    finally:
        served.close()
    sys.stderr.flush()
    os._exit(0)  # all is closed; the interpreter would take two seconds to end its threads


def _one(settings: Settings, hosts: tuple[str, ...], traffic: Traffic, public: tuple[str, ...]) -> _Served:
    """Serve the memory of the settings. `public`: the names under which other machines reach the server."""
    services = app.build(settings, several=True)
    oauth = _oauth(settings)
    if public and oauth is None and not services.tokens.are_needed():
        raise Invalid(
            f"{public[0]} can be reached from other machines, and there is no token: everybody could read the memory.",
            Mend.ADD_TOKEN,
        )
    audit, readers = audit_of(settings), Readers(settings, services.effort)
    faces = _faces(services, hosts, work_of(services, audit), readers.carry_out)

    def metrics(_is_from_here: bool) -> str:
        counted, effort = services.calls.counted, services.effort
        return written([faces.server], counted, effort, services.waiting(), readers.load())

    keys = Keys(services.tokens, oauth)
    options = HttpOptions(hosts, settings.http_rate, metrics, traffic=traffic)

    def close() -> None:
        readers.close()
        services.close()

    application = _application(faces.endpoint, faces.pages, keys, options, audit, settings.http_prefix)
    return _Served(application, partial(start, services), close)


def _several(settings: Settings, file: Path, hosts: tuple[str, ...], traffic: Traffic) -> _Served:
    """Serve the memories that a file lists."""
    if settings.workers > 1:
        raise Invalid("--workers serves one memory. With --tenants, start more servers instead.")
    if settings.oauth_issuer is not None and settings.oauth_tenant is None:
        raise Invalid("--oauth-issuer with --tenants needs --oauth-tenant: the claim that names the tenant.")
    shared, audit = app.SharedParts(settings), audit_of(settings)

    def make(name: str, place: Where) -> Faces:
        services = app.build(settings.model_copy(update={"db": place}), several=True, shared=shared)
        services.database.refuse_new()
        work = work_of(services, audit, name)
        services.start()
        return _faces(services, hosts, work)

    tenants = Tenants(TenantFile(file), make)
    keys = Keys(tenants, _oauth(settings), tenant_of=tenants.tenant_of)

    def metrics(is_from_here: bool) -> str:
        loads = tenants.loads()
        waiting = sum(load.waiting for load in loads)
        text = written(tenants.servers(), shared.counted, shared.effort, waiting, ReaderLoad())
        return text + by_tenant(loads) if is_from_here else text

    options = HttpOptions(hosts, settings.http_rate, metrics, traffic=traffic)
    application = _application(tenants, tenants.pages, keys, options, audit, settings.http_prefix)
    return _Served(application, garbage.look_from_now, tenants.close)


def _faces(
    services: Services, hosts: tuple[str, ...], work: Work, carry_out: CarryOut = carry_out_here
) -> Faces:
    """Make what answers for one memory: the protocol, and the pages for those who have a token, within their rights."""
    settings, callers = services.settings, HttpCallers()

    def may_only_read(caller: Caller) -> bool:
        return settings.read_only or (caller.person is not None and caller.person.reads_only)

    work = replace(work, carry_out=carry_out)
    server = MemoryServer(listed.chosen(settings), work, callers, settings.log_level)
    pages = site(services, lambda request: callers(CLIENT, request), os.urandom(SECRET), may_only_read)
    return Faces(services, server, endpoint(server, hosts), pages)


def _application(
    answers: ProtocolApp, pages: ASGIApp, keys: Keys, options: HttpOptions, audit: "Audit | None", root: str
) -> Starlette:
    logins = None if audit is None else RefusedLogins(keys, audit.refused)
    if logins is not None:
        options = replace(options, refused=logins.by_token)

    async def is_valid(token: str) -> bool:
        return await keys.find(token) is not None

    door = BrowserDoor(
        guarded(pages, keys, options),
        is_valid,
        os.urandom,
        report=None if logins is None else logins.by_form,
        root=root,
    )
    return http_app(answers, keys, replace(options, routes=[Mount("/", door)]))


def _oauth(settings: Settings) -> "OAuth | None":
    if settings.oauth_issuer is None:
        return None
    if settings.oauth_audience is None:
        raise Invalid("--oauth-issuer needs --oauth-audience: the address of this server as clients know it.")
    from memory_server.mcp.http.oauth import Issuer, OAuth

    person, projects, tenant = settings.oauth_person, settings.oauth_projects, settings.oauth_tenant
    return OAuth(Issuer(settings.oauth_issuer, settings.oauth_audience, person, projects, tenant))


def _names(host: str) -> tuple[str, ...]:
    """The address at which it listens, unless that stands for all of the machine."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return (host,)
    return () if address.is_unspecified else (f"[{host}]" if address.version == 6 else host,)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
