"""A long text in parts: nothing is lost, and each part is shown with whole sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain import parts
from memory_server.domain.parts import LONG, PART, STEP

LENGTHS = st.one_of(
    st.integers(1, 100_000),
    st.sampled_from([0, 1, LONG - 1, LONG, LONG + 1, 5_600, 5_601, 6_799, 6_800, 6_801, 99_999, 100_000]),
)


def sentences(characters: int) -> str:
    """A text of about so many characters, in numbered sentences of 60."""
    return " ".join(
        f"Sentence {number:05} says that its number is this one.".ljust(59)
        for number in range(1, characters // 60)
    )


@pytest.mark.parametrize(
    ("length", "number"),
    [(0, 1), (1, 1), (2_000, 1), (5_000, 1), (5_001, 3), (5_600, 3), (5_601, 4), (6_800, 4), (100_000, 56)],
)
def test_so_many_parts_has_a_text(length: int, number: int) -> None:
    assert len(parts.starts(length)) == len(parts.split("x" * length)) == number


@given(LENGTHS, st.sampled_from(["ab c.", "数据库。", "🚀a", "é"]))
def test_the_parts_overlap_and_together_are_the_text(length: int, unit: str) -> None:
    text = (unit * (length // len(unit) + 1))[:length]
    found = parts.split(text)
    assert found[0] + "".join(part[PART - STEP :] for part in found[1:]) == text
    assert len(found) == len(parts.starts(length))
    if length <= LONG:
        assert found == [text]
    else:
        assert all(len(part) == PART for part in found[:-1])
        assert PART - STEP < len(found[-1]) <= PART


@given(st.integers(LONG + 1, 100_000), st.data())
def test_every_stretch_as_long_as_the_overlap_is_whole_in_a_part(length: int, data: st.DataObject) -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000))) * (length // 5_000 + 1)
    text = text[:length]
    start = data.draw(st.integers(0, length - (PART - STEP)))
    stretch = text[start : start + PART - STEP]
    assert any(stretch in part for part in parts.split(text))


@given(st.integers(1, (1 << 40) - 1), st.integers(0, 55))
def test_the_id_of_a_part_tells_its_memory_and_its_number(memory: int, number: int) -> None:
    id = parts.id_of(memory, number)
    assert (parts.memory_of(id), parts.number_of(id)) == (memory, number)
    assert 0 < id < 1 << 63
    assert (number > 0) or id == memory


def test_a_part_is_shown_in_whole_sentences() -> None:
    text = sentences(20_000)
    for number in parts.starts(len(text)):
        shown = parts.shown(text, number // STEP)
        assert shown.startswith("Sentence ")
        assert shown.endswith("this one.")
        assert shown in text


def test_every_sentence_is_shown_whole_in_a_part() -> None:
    text = sentences(20_000)
    shown = [parts.shown(text, number) for number in range(len(parts.starts(len(text))))]
    for number in range(1, 20_000 // 60):
        assert any(f"Sentence {number:05} says that its number is this one." in each for each in shown)


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("offset", [-40, -1, 0, 1, PART - 40, PART - 1, PART])
def test_a_sentence_at_the_border_of_a_part_is_shown_whole_with_each_part_that_has_its_words(
    number: int, offset: int
) -> None:
    text, deep = sentences(20_000), "The lighthouse was sold to Ingrid. "
    place = number * STEP + offset
    begins = text.rindex("Sentence", 0, place)
    text = text[:begins] + deep + text[begins:]
    for each, part in enumerate(parts.split(text)):
        if "Ingrid" in part or "lighthouse" in part:
            assert deep.strip() in parts.shown(text, each)


@pytest.mark.parametrize("unit", ["x", "数据", "a\n", "\na", "?", " ", ". ", "b. "])
@pytest.mark.parametrize("length", [LONG + 1, 6_800, 100_000])
def test_a_part_is_shown_of_any_text(unit: str, length: int) -> None:
    text = (unit * length)[:length]
    for number, part in enumerate(parts.split(text)):
        shown = parts.shown(text, number)
        assert part.strip() in shown
        assert shown in text
        assert len(shown) <= PART + 2 * (PART - STEP)
