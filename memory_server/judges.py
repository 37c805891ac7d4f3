"""Builds what judges acts by rules, for a process that needs no other service: a hook that no engine answers."""

from collections.abc import Iterator
from contextlib import contextmanager

from memory_server.errors import Unavailable
from memory_server.services.ruling import RulingService
from memory_server.storage.database import Database
from memory_server.triggers.engine import BUDGET, Engine
from memory_server.triggers.javascript.sandbox import Sandbox


@contextmanager
def ruling(database: Database, time_zone: str | None) -> Iterator[RulingService]:
    """Lend a service whose worker starts with the first act that a rule has to judge."""
    engine = Engine(Sandbox(time_zone), _no_nearness)
    try:
        yield RulingService(database, engine.judge, BUDGET)
    finally:
        engine.close()


def _no_nearness(_first_text: str, _second_text: str) -> float:
    """Refuse to compare meanings: a rule that asks for it must not count as one that lets the act pass.

    Raises:
        Unavailable: always.
    """
    raise Unavailable("a rule compares meanings, which takes an engine")
