"""Serves several people over Streamable HTTP: who asks, how often, and how it ends."""
