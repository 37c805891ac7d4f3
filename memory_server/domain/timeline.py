"""Kinds of events of what is stored, as a timeline counts them."""

from enum import StrEnum


class Happened(StrEnum):
    STORED = "stored"
    RECALLED = "recalled"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
