"""The face for people: the services as commands."""
