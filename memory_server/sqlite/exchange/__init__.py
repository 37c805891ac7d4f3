"""Whole items as records, read and written: for exports, imports and merges. One moment alone decides nothing here."""
