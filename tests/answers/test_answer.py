"""An answer has the fields that it names, read from an object; its schema has the types of that object."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from memory_server.answers.answer import Answer, field, made, plain, rounded
from tests.answers.schema import schema_of


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Leaf:
    colour: Colour
    width: float
    note: str | None = None

    @property
    def is_wide(self) -> bool:
        return self.width > 1


@dataclass(frozen=True, slots=True)
class Tree:
    leaf: Leaf
    leaves: tuple[Leaf, ...]
    value: Any = None
    rings: int = 5


RED = Leaf(Colour.RED, 1.2345)
WIDE = Answer(Leaf, "is_wide", field("cm=width", rounded), "note?")


def _count(tree: Tree) -> int:
    return len(tree.leaves)


def test_fields_are_read_by_path_and_told_in_the_order_of_the_answer() -> None:
    answer = Answer(Tree, "leaf.colour", made("count", _count), field("leaves", WIDE), "value")
    assert answer.of(Tree(RED, (RED,), {"a": (1, None)})) == {
        "colour": "red",
        "count": 1,
        "leaves": [{"is_wide": True, "cm": 1.23}],
        "value": {"a": [1, None]},
    }


def test_an_optional_field_is_left_out_where_it_is_empty_and_a_usual_one_where_it_is_usual() -> None:
    answer = Answer(Tree, "leaf.note? leaves?", field("rings", usual=5))
    assert answer.of(Tree(RED, ())) == {}
    assert answer.of(Tree(Leaf(Colour.RED, 0, ""), (), rings=0)) == {"note": "", "rings": 0}
    assert schema_of(answer).get("required") is None


def test_an_object_is_told_by_its_line_or_whole_without_what_is_none_by_default() -> None:
    assert plain([RED], {Leaf: WIDE}) == [{"is_wide": True, "cm": 1.23}]
    assert plain(RED) == {"colour": "red", "width": 1.2345}
    assert plain(Tree(RED, ()))["leaf"] == plain(RED)


def test_a_schema_has_the_types_of_the_object() -> None:
    answer = Answer(Tree, field("colour=leaf.colour", Colour), "leaf.note", field("leaves", WIDE), "value")
    text, wide = {"type": ["string", "null"]}, {"type": "boolean"}
    leaf = {
        "type": "object",
        "properties": {"is_wide": wide, "cm": {"type": "number"}, "note": text},
        "required": ["is_wide", "cm"],
    }
    assert schema_of(answer) == {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": ["red"]},
            "note": text,
            "leaves": {"type": "array", "items": leaf},
            "value": {"type": ["string", "number", "boolean", "object", "array", "null"]},
        },
        "required": ["colour", "note", "leaves", "value"],
    }


def test_a_name_that_the_object_lacks_has_no_schema() -> None:
    with pytest.raises(KeyError, match="size"):
        schema_of(Answer(Tree, "leaf.size"))
