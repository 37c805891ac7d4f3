"""`memory-server serve --http`: one server for several machines and people."""

import ipaddress
import os
import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import Mount

from memory_server import app
from memory_server.app import Services
from memory_server.cli.listening import listen
from memory_server.cli.view import CLIENT
from memory_server.domain.caller import Caller
from memory_server.engine.readers import Readers
from memory_server.engine.served import audit_of, start, work_of
from memory_server.errors import Invalid, Mend
from memory_server.mcp import listed
from memory_server.mcp.http.app import PATH, HttpOptions, http_app
from memory_server.mcp.http.callers import HttpCallers
from memory_server.mcp.http.guard import Guard
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.http.logins import RefusedLogins
from memory_server.mcp.http.metrics import written
from memory_server.mcp.http.rates import Rates
from memory_server.mcp.http.serving import serve
from memory_server.mcp.server import MemoryServer
from memory_server.settings import LOOPBACK, Settings
from memory_server.web.door import BrowserDoor
from memory_server.web.gate import SECRET
from memory_server.web.site import site

if TYPE_CHECKING:
    from memory_server.mcp.http.oauth import OAuth


def serve_http(settings: Settings) -> None:
    """Serve until a signal asks to stop; running calls are still answered. Never returns: the process ends here.

    Raises:
        Invalid: other machines could reach it, also through a proxy, and there is no token.
        Unavailable: nothing can listen there, or the file cannot be opened.
    """
    host, port = settings.http_place or (LOOPBACK, 0)
    services = app.build(settings, several=True)
    tokens = services.tokens
    oauth = _oauth(settings)
    public = settings.http_hosts if _is_loopback(host) else (host,)
    if public and oauth is None and not tokens.are_needed():
        raise Invalid(
            f"{public[0]} can be reached from other machines, and there is no token: everybody could read the memory.",
            Mend.ADD_TOKEN,
        )
    listening = listen(host, port)
    callers = HttpCallers()
    audit = audit_of(settings)
    readers = Readers(settings, services.effort)
    work = replace(work_of(services, audit), carry_out=readers.carry_out)
    server = MemoryServer(listed.chosen(settings), work, callers, settings.log_level)
    metrics = partial(written, server, services.calls, services.effort, services.waiting, readers.load)
    keys = Keys(tokens, oauth)
    logins = None if audit is None else RefusedLogins(keys, audit.refused)
    hosts = (*_names(host), *settings.http_hosts)
    options = HttpOptions(
        hosts, settings.http_rate, metrics, refused=None if logins is None else logins.by_token
    )
    pages = Mount("/", _pages(services, keys, callers, options, logins))
    application = http_app(server, keys, replace(options, routes=[pages]))
    start(services)
    shown = f"[{host}]" if ":" in host else host
    print(f"memory-server: http://{shown}:{listening.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    try:
        serve(application, listening, options.traffic)
    finally:
        readers.close()
        services.close()
    sys.stderr.flush()
    os._exit(0)  # all is closed; the interpreter would take two seconds to end its threads


def _pages(
    services: Services,
    keys: Keys,
    callers: HttpCallers,
    options: HttpOptions,
    logins: RefusedLogins | None,
) -> BrowserDoor:
    """The pages for those who have a token, each within their rights."""

    def may_only_read(caller: Caller) -> bool:
        return services.settings.read_only or (caller.person is not None and caller.person.reads_only)

    async def is_valid(token: str) -> bool:
        return await keys.find(token) is not None

    pages = site(services, lambda request: callers(CLIENT, request), os.urandom(SECRET), may_only_read)
    rates = Rates(options.rate, time.monotonic)
    guard = Guard(pages, keys.find, keys.are_open, rates, options.traffic, keys.metadata, options.refused)
    return BrowserDoor(guard, is_valid, os.urandom, report=None if logins is None else logins.by_form)


def _oauth(settings: Settings) -> "OAuth | None":
    if settings.oauth_issuer is None:
        return None
    if settings.oauth_audience is None:
        raise Invalid("--oauth-issuer needs --oauth-audience: the address of this server as clients know it.")
    from memory_server.mcp.http.oauth import Issuer, OAuth

    person, projects = settings.oauth_person, settings.oauth_projects
    return OAuth(Issuer(settings.oauth_issuer, settings.oauth_audience, person, projects))


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
