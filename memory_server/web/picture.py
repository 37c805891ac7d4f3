"""Places memories on a picture of the whole: by project, by meaning or by time. Figures are units of the picture."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Vector
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.moment import parse

WIDTH, EDGE = 1000.0, 24.0
HEIGHT_OF_MEANING, HEIGHT_OF_TIME = 620.0, 300.0

APART = 10.0
"""Units between two points of a project."""

LABEL, LETTER = 26.0, 8.0
"""Units above a project for its name, and for a letter of it."""

LEAST, SHALLOW = 480.0, 1.6
"""Units of width at least, and for each unit of height: few memories fill the picture, and it fits a screen."""

TURN = pi * (3 - sqrt(5))
"""The angle between two points of a spiral that fills a disc evenly."""

OUTER = 2.0
"""Per cent of the points at each end of an axis of meaning that are moved to its edge: else a few take all the room."""

BINS = 100
LABELS = 6

Point = tuple[float, float, Memory]


@dataclass(frozen=True, slots=True)
class Picture:
    """Points from the top left, texts with their places, and the size; `radius` is that of a point."""

    points: list[Point]
    labels: list[tuple[float, float, str]]
    height: float
    radius: float
    width: float = WIDTH


def by_project(memories: Sequence[Memory]) -> Picture:
    """Make a disc of each project, the largest first, row by row; the newest memories are in its middle."""
    groups: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        groups[memory.project or ""].append(memory)
    points: list[Point] = []
    labels: list[tuple[float, float, str]] = []
    left, top, row, widest = EDGE, EDGE, 0.0, 0.0
    for name, members in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        radius = max(40.0, APART / 2 * sqrt(len(members)) * 1.15 + APART)
        if left > EDGE and left + 2 * radius > WIDTH - EDGE:
            left, top, row = EDGE, top + row, 0.0
        middle = left + radius, top + LABEL + radius
        labels.append((middle[0], top + LABEL - 10, _cut(name, int((2 * radius + EDGE) / LETTER))))
        for number, memory in enumerate(members):
            far = APART / 2 * 1.15 * sqrt(number + 0.5)
            points.append(
                (middle[0] + far * cos(number * TURN), middle[1] + far * sin(number * TURN), memory)
            )
        left, row = left + 2 * radius + EDGE, max(row, 2 * radius + LABEL + EDGE)
        widest = max(widest, left)
    width = min(WIDTH, max(widest, SHALLOW * (top + row), LEAST))
    shift = max(0.0, width - widest) / 2
    return Picture(
        [(x + shift, y, memory) for x, y, memory in points], [(x + shift, y, name) for x, y, name in labels],
        top + row, 4.2, width,
    )  # fmt: skip


def _cut(name: str, most: int) -> str:
    """Return a name in the room of so many letters; a Chinese one takes that of two."""
    room = float(most)
    for place, letter in enumerate(name):
        room -= 1 if letter.isascii() else 2
        if room < 0:
            return name[: max(1, place - 1)] + "…"
    return name


def by_meaning(memories: Sequence[Memory], vectors: Mapping[MemoryId, Vector]) -> Picture:
    """Put those that say alike near each other: the two axes along which the vectors differ most."""
    embedded = [memory for memory in memories if memory.id in vectors]
    if not embedded:
        return Picture([], [], HEIGHT_OF_MEANING, 5.0)
    flat = _two_axes(np.array([vectors[memory.id] for memory in embedded], dtype=np.float32))
    size = np.array([WIDTH, HEIGHT_OF_MEANING]) - 2 * EDGE
    places = (EDGE + flat * size).tolist()
    return Picture(
        [(x, y, memory) for (x, y), memory in zip(places, embedded, strict=True)], [], HEIGHT_OF_MEANING, 5.0
    )


def _two_axes(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the places of vectors on their first two principal axes, from 0 to 1; shape (texts, 2)."""
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    flat = centred @ axes[:, -1:-3:-1]
    low, high = np.percentile(flat, [OUTER, 100 - OUTER], axis=0)
    shares: NDArray[np.float64] = np.clip((flat - low) / np.maximum(high - low, 1e-9), 0, 1)
    return shares


def by_time(memories: Sequence[Memory]) -> Picture:
    """Pile the memories up, the oldest at the left; a pile for each hundredth of the time."""
    dated = sorted(((_moment(memory), memory.id, memory) for memory in memories), key=lambda row: row[:2])
    if not dated:
        return Picture([], [], HEIGHT_OF_TIME, 4.0)
    first, last = dated[0][0], dated[-1][0]
    piles: dict[int, list[Memory]] = defaultdict(list)
    for at, _, memory in dated:
        piles[min(BINS - 1, int((at - first) / max(1.0, last - first) * BINS))].append(memory)
    step = (WIDTH - 2 * EDGE) / BINS
    room = HEIGHT_OF_TIME - 2 * EDGE
    rise = min(step, room / max(map(len, piles.values())))
    floor = HEIGHT_OF_TIME - EDGE - step / 2
    points = [
        (EDGE + (place + 0.5) * step, floor - number * rise, memory)
        for place, pile in piles.items()
        for number, memory in enumerate(pile)
    ]
    labels = [
        (EDGE + share * (WIDTH - 2 * EDGE), HEIGHT_OF_TIME - 4, _day(first + share * (last - first)))
        for share in (number / (LABELS - 1) for number in range(LABELS))
    ]
    return Picture(points, labels, HEIGHT_OF_TIME, 4.0)


def _moment(memory: Memory) -> float:
    """Return the seconds since 1970; those of the storing where a hand edit has left no moment."""
    for at in (memory.occurred_at, memory.created_at):
        try:
            return parse(at).timestamp()
        except ValueError:
            continue
    return 0.0


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d}"
