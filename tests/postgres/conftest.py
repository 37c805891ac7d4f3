"""A tenant of its own for each test."""

from collections.abc import Iterator

import pytest

from memory_server.postgres.database import Database
from tests.conftest import Clock
from tests.postgres_server import new_tenant


@pytest.fixture
def tenant(clock: Clock) -> Iterator[Database]:
    """An empty tenant; nothing is wrong with it afterwards, or the test fails."""
    database = new_tenant(clock)
    yield database
    assert database.problems() == []
    database.close()
