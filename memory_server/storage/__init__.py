"""A database as services use it, whichever it is."""
