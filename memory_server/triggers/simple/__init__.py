"""Tier 0: simple conditions, parsed and evaluated in Python."""
