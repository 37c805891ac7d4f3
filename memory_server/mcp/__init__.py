"""The face for models: the services as MCP tools."""
