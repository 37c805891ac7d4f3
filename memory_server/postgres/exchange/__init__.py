"""Rows of a tenant as exports, imports and copies move them."""
