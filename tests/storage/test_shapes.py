"""The records of exports have every column that is declared, but for what they tell in another way."""

import pytest

from memory_server.transfer import shapes
from memory_server.transfer.shapes import Shape

OTHERWISE = {
    "memories": set(),
    "memory_history": {"memory_id"},
    "edges": {"source_id", "target_id"},
    "turns": set(),
    "conversations": set(),
    "short_term_memories": {"conversation_id", "keyed"},
    "long_term_memories": {"conversation_id"},
    "wakes": {"memory_id"},
    "rules": {"memory_id"},
    "projects": set(),
    "hook_captures": {"kind", "item_id"},
    "memory_uses": {"memory_id"},
    "open_questions": set(),
    "facts": {
        "origin",
        "value",
        "tags",
        "version",
        "updated_at",
        "expires_at",
        "updated_by",
        "writer",
    },  # of its last step
    "fact_history": {"fact_id", "scope", "owner", "key"},
}
"""By table, the columns that a record tells by what it belongs to."""

SHAPES = [shape for shape in vars(shapes).values() if isinstance(shape, Shape)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.table.name)
def test_a_record_has_every_column_of_its_table(shape: Shape[object]) -> None:
    assert set(shape.table.columns) - set(shape.columns) == {"id"} | OTHERWISE[shape.table.name]


def test_every_table_that_records_tell_is_compared() -> None:
    assert sorted(shape.table.name for shape in SHAPES) == sorted(OTHERWISE)
