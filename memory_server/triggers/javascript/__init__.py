"""Tier 1: all JavaScript that is not a simple condition, run in a worker process."""
