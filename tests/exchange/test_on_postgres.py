"""Export and import on PostgreSQL: to the letter what they are on a file."""

from pathlib import Path

import pytest

from memory_server.where import Postgres
from tests.exchange.conftest import Run
from tests.postgres_server import new_place


@pytest.fixture
def tenant(copy: Path, run: Run) -> Postgres:
    """A tenant with every kind: a copy of the file."""
    place = new_place()
    done = run(copy, "copy", copy, place.given)
    assert done.code == 0, done.err
    return place


@pytest.mark.parametrize("flags", [(), ("--embeddings",), ("--project", "ledger"), ("--format", "markdown")])
def test_an_export_is_that_of_the_file(
    copy: Path, run: Run, tenant: Postgres, flags: tuple[str, ...]
) -> None:
    of_file, of_tenant = run(copy, "export", *flags), run(tenant.given, "export", *flags)
    assert (of_tenant.code, of_tenant.err) == (of_file.code, of_file.err)
    assert of_tenant.out.splitlines() == of_file.out.splitlines()


def test_an_export_imported_into_an_empty_tenant_is_exported_again_to_the_letter(
    copy: Path, tmp_path: Path, run: Run
) -> None:
    lines = tmp_path / "all.jsonl"
    run(copy, "export", "--embeddings", lines)
    place = new_place()
    first = run(place.given, "import", lines, "--json")
    assert first.code == 0, first.err
    again = run(place.given, "export", "--embeddings")
    assert again.out.splitlines() == lines.read_text("utf-8").splitlines()
    assert run(place.given, "doctor", "--json").summary["problems"] == []
    second = run(place.given, "import", lines, "--json").summary
    assert second != first.summary
    assert run(place.given, "export", "--embeddings").out == again.out


def test_what_a_rule_refuses_is_told_and_the_rest_is_taken(copy: Path, tmp_path: Path, run: Run) -> None:
    lines = run(copy, "export").out
    assert lines.count('"type": "pattern"') == 1
    source = tmp_path / "changed.jsonl"
    source.write_text(lines.replace('"type": "pattern"', '"type": "nonsense"'), "utf-8")
    place = new_place()
    done = run(place.given, "import", source)
    assert done.code == 1
    assert "memories_type_check" in done.out + done.err
    kept = run(place.given, "list", "--limit", "50")
    assert "生产环境每周二上午十点发布" in kept.out, kept.err
    assert "Backups" not in kept.out
