"""Readers of other programs' memories: a file for each format, which yields records. A source is only read."""
