"""Moves what is stored: exports, imports, merges and copies, for every store."""
