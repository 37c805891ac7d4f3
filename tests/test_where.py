"""The address of a tenant on PostgreSQL: as libpq takes it, with the tenant by its name, shown without a password."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from memory_server.where import Postgres, of


@pytest.mark.parametrize(
    ("given", "options", "tenant"),
    [
        ("postgres://db.example.com/memory", {"host": "db.example.com", "dbname": "memory"}, "default"),
        ("postgresql:///memory?host=/run/pg&tenant=shop", {"host": "/run/pg", "dbname": "memory"}, "shop"),
        (
            "postgresql://me:a%20b@h:6432/m?tenant=the+shop&options=-c%20geqo%3Doff",
            {
                "host": "h",
                "port": "6432",
                "dbname": "m",
                "user": "me",
                "password": "a b",
                "options": "-c geqo=off",
            },
            "the shop",
        ),
    ],
)
def test_an_address_is_what_libpq_reads_and_a_tenant(
    given: str, options: dict[str, str], tenant: str
) -> None:
    place = of(given)
    assert isinstance(place, Postgres)
    assert (conninfo_to_dict(place.url), place.tenant) == (options, tenant)
    assert of(place.given) == place


def test_an_address_can_forbid_prepared_statements() -> None:
    place = of("postgresql://h/m?tenant=shop&prepare=no")
    assert place == Postgres("postgresql://h/m", "shop", prepares=False)
    assert of(place.given) == of(str(place)) == place
    assert of("postgresql://h/m?prepare=yes") == Postgres("postgresql://h/m")
    with pytest.raises(ValueError, match="prepare must be yes or no"):
        of("postgresql://h/m?prepare=never")


def test_a_password_is_never_shown() -> None:
    for given in ("postgresql://me:hunter2@h/m", "postgresql://h/m?user=me&password=hunter2&tenant=a"):
        assert "hunter2" not in str(of(given))
        assert of(str(of(given)))


def test_an_address_can_let_replicas_be_read() -> None:
    place = of("postgresql://h,i/m?target_session_attrs=read-write&replicas=yes")
    assert place == Postgres("postgresql://h,i/m?target_session_attrs=read-write", replicas=True)
    assert of(place.given) == place
    with pytest.raises(ValueError, match="replicas must be yes or no"):
        of("postgresql://h/m?replicas=2")
