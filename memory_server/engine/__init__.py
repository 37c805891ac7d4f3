"""The engine: one process for a user and a database, which serves all clients of this machine."""
