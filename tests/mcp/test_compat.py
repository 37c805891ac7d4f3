"""The private doors of the SDK are where they were."""

from importlib.metadata import version

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
