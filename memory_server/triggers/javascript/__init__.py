"""Tier 1: any other JavaScript, run in a worker process."""
