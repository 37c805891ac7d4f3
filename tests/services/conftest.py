"""Services run on both stores: what only a file of SQLite can show asks for it with `file_of`."""

from collections.abc import Iterator

import pytest

from memory_server.storage.database import Database
from tests.conftest import STORES, Clock, InMemory, problems
from tests.postgres_server import new_tenant


@pytest.fixture(params=STORES)
def database(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Database]:
    """A database with nothing in it; whole afterwards, or the test fails."""
    if request.param == "sqlite":
        file = InMemory(clock)
        yield file
        assert problems(file) == []
        file.close()
    else:
        tenant = new_tenant(clock)
        yield tenant
        assert tenant.problems() == []
        tenant.close()
