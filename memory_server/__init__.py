"""A memory for AI assistants: one SQLite file behind an MCP server."""

__version__ = "0.2.0"
