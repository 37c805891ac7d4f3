"""Where memories lie on a picture of the whole: none outside, none on another, alike ones near each other."""

from dataclasses import replace

import numpy as np

from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.web.picture import MARGIN, RADIUS, SMALLEST, Picture, by_meaning, by_project, by_time

AT = "2026-03-13T09:00:00.000Z"
MEMORY = Memory(MemoryId(1), "text", MemoryType.DECISION, "quay", (), 5, {}, 0, AT, AT, None, None, AT)


def memories(number: int, project: str = "quay") -> list[Memory]:
    return [
        replace(
            MEMORY, id=MemoryId(id), project=project, occurred_at=f"2026-{1 + id % 12:02}-11T09:00:00.000Z"
        )
        for id in range(1, number + 1)
    ]


def nearest(picture: Picture) -> float:
    places = np.array([(x, y) for x, y, _ in picture.points]) * picture.size / 100
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float((distances + np.eye(len(places)) * picture.size).min())


def inside(picture: Picture) -> bool:
    return all(0 < x < 100 and 0 < y < 100 for x, y, _ in picture.points)


def test_projects_are_discs_in_which_no_point_covers_another() -> None:
    pictures = by_project([*memories(300, "quay"), *memories(900, "mill"), *memories(3, "")])
    assert [picture.project for picture in pictures] == ["mill", "quay", ""]
    assert sum(len(picture.points) for picture in pictures) == 1203
    assert all(inside(picture) and nearest(picture) > 2 * picture.radius for picture in pictures)
    assert pictures[-1].size == SMALLEST
    (few,) = by_project(memories(100))
    assert few.radius > RADIUS
    assert inside(few)
    assert nearest(few) > 2 * few.radius


def test_two_groups_of_meaning_lie_apart() -> None:
    chance = np.random.default_rng(3)
    middles = chance.normal(size=(2, 32)) * 3
    listed = memories(200)
    vectors = {
        memory.id: (middles[memory.id % 2] + chance.normal(size=32)).astype(np.float32)
        for memory in listed[:199]
    }
    shown = by_meaning(listed, vectors)
    assert len(shown.points) == 199
    assert inside(shown)
    sides = [np.mean([x for x, _, memory in shown.points if memory.id % 2 == side]) for side in (0, 1)]
    assert abs(sides[0] - sides[1]) > 33


def test_what_means_something_far_away_lies_apart_and_not_on_the_edge() -> None:
    chance = np.random.default_rng(3)
    listed = memories(100)
    vectors = {memory.id: chance.normal(size=32).astype(np.float32) for memory in listed}
    for memory in listed[:5]:
        vectors[memory.id] += 40
    shown = by_meaning(listed, vectors)
    outer = [max(abs(x - 50), abs(y - 50)) for x, y, memory in shown.points if memory in listed[:5]]
    assert all(42 < far < 50 - MARGIN for far in outer)
    assert len({(round(x, 1), round(y, 1)) for x, y, _ in shown.points}) == 100


def test_the_oldest_is_at_the_left_and_a_high_pile_stays_inside() -> None:
    shown = by_time([*memories(24), *(replace(MEMORY, id=MemoryId(id)) for id in range(100, 1100))])
    assert inside(shown)
    ordered = sorted(shown.points, key=lambda point: point[0])
    assert ordered[0][2].occurred_at < ordered[-1][2].occurred_at
    assert shown.days[0] == "2026-01-11"


def test_one_memory_and_none_have_a_picture_too() -> None:
    vector = np.ones(8, dtype=np.float32)
    assert inside(by_meaning(memories(1), {MemoryId(1): vector}))
    assert inside(by_time(memories(1)))
    assert inside(by_project(memories(1))[0])
    assert not by_meaning(memories(1), {}).points
    assert not by_time([]).points
    assert by_project([]) == []
