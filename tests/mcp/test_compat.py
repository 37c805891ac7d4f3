"""The private doors of the SDK are where they were."""

from importlib.metadata import version

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.mcpserver import MCPServer

from memory_server.mcp import compat


def test_the_doors_were_looked_at_in_the_version_that_is_installed() -> None:
    """After an upgrade: read what `compat.py` uses in the new version, run the protocol tests, then renew VERSION."""
    assert version("mcp") == compat.VERSION


def test_the_server_inside_the_server_runs_over_given_streams() -> None:
    lowlevel = MCPServer("x")._lowlevel_server
    assert callable(lowlevel.run)
    assert callable(lowlevel.create_initialization_options)
    assert callable(lowlevel.add_request_handler)


def test_one_person_cannot_use_up_all_sessions() -> None:
    """A person is the same with each token; clients without one are limited by the number of all sessions."""
    sessions = compat.over_http(MCPServer("x"), most_of_person=2, max_sessions=6)

    def opened(token: str, person: str, issuer: str | None = None) -> bool:
        who = AuthorizationContext(client_id=token, issuer=issuer, subject=person)
        return sessions._admit_session(who) is not None

    assert [opened("1", "ana"), opened("2", "ana"), opened("1", "ana")] == [True, True, False]
    assert [opened("3", "bob"), opened("4", "ana", "https://login.example.com")] == [True, True]
    assert [sessions._admit_session(None) is not None for _ in range(3)] == [True, True, False]
