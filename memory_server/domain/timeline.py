"""What can happen to what is stored, as a timeline counts it."""

from enum import StrEnum


class Happened(StrEnum):
    STORED = "stored"
    RECALLED = "recalled"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
