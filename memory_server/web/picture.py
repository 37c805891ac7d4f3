"""Places memories on pictures of the whole: by project, by meaning or by time. Places are per cent of a picture."""

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

MARGIN = 3.0
"""Per cent that stay free at each edge."""

RADIUS, APART, SMALLEST = 4.2, 11.5, 96
"""Pixels: of a point, between two points of a project, and of a project with few."""

FEW, LARGEST = 600, 2.0
"""Memories below which points by project are larger, and how many times at most: few fill the page too."""

TURN = pi * (3 - sqrt(5))
"""The angle between two points of a spiral that fills a disc evenly."""

OUTER = 10
"""Per cent of the points at each end of an axis of meaning that are drawn in: else a few take all the room."""

BINS, FEWEST_BINS = 100, 12
RISE = 3.3
"""Per cent between two points of a pile: the height of a point, and a gap."""

LABELS = 5

Point = tuple[float, float, Memory]


@dataclass(frozen=True, slots=True)
class Picture:
    """Points from the top left; the project that they are of; the size in pixels, 0: the page's; and days below.

    `radius` is that of a point in pixels.
    """

    points: list[Point]
    project: str = ""
    size: int = 0
    days: tuple[str, ...] = ()
    radius: float = RADIUS


def by_project(memories: Sequence[Memory]) -> list[Picture]:
    """Make a disc of each project, the largest first; the newest memories are in its middle."""
    groups: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        groups[memory.project or ""].append(memory)
    scale = min(LARGEST, max(1.0, sqrt(FEW / max(1, len(memories)))))
    by_size = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [_disc(project, members, scale) for project, members in by_size]


def _disc(project: str, memories: Sequence[Memory], scale: float) -> Picture:
    step = APART * 0.575 * scale
    size = max(SMALLEST, round(2 * (step * sqrt(len(memories)) + 2 * RADIUS * scale)))
    points: list[Point] = []
    for number, memory in enumerate(memories):
        far = 100 * step * sqrt(number + 0.5) / size
        points.append((50 + far * cos(number * TURN), 50 + far * sin(number * TURN), memory))
    return Picture(points, project, size, radius=RADIUS * scale)


def by_meaning(memories: Sequence[Memory], vectors: Mapping[MemoryId, Vector]) -> Picture:
    """Put those that say alike near each other: the two axes along which the vectors differ most."""
    embedded = [memory for memory in memories if memory.id in vectors]
    if not embedded:
        return Picture([])
    flat = _two_axes(np.array([vectors[memory.id] for memory in embedded], dtype=np.float32))
    places = (MARGIN + (100 - 2 * MARGIN) * flat).tolist()
    return Picture([(x, y, memory) for (x, y), memory in zip(places, embedded, strict=True)])


def _two_axes(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the places of vectors on their first two principal axes, from 0 to 1; shape (texts, 2).

    The middle keeps its distances; the further out a place is, the more it is drawn in, so that none lies on the edge.
    """
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    flat = centred @ axes[:, -1:-3:-1]
    low, high = np.percentile(flat, [OUTER, 100 - OUTER], axis=0)
    spread = (2 * flat - low - high) / np.maximum(high - low, 1e-9)
    shares: NDArray[np.float64] = 0.5 + 0.5 * spread / np.sqrt(1 + spread**2)
    return shares


def by_time(memories: Sequence[Memory]) -> Picture:
    """Pile the memories up, the oldest at the left; more memories make more and thinner piles."""
    dated = sorted(((_moment(memory), memory.id, memory) for memory in memories), key=lambda row: row[:2])
    if not dated:
        return Picture([])
    first, last = dated[0][0], dated[-1][0]
    bins = min(BINS, max(FEWEST_BINS, round(sqrt(8 * len(dated)))))
    piles: dict[int, list[Memory]] = defaultdict(list)
    for at, _, memory in dated:
        piles[min(bins - 1, int((at - first) / max(1.0, last - first) * bins))].append(memory)
    room = 100 - 2 * MARGIN
    rise = min(RISE, room / max(map(len, piles.values())))
    points = [
        (MARGIN + (place + 0.5) * room / bins, 100 - MARGIN - number * rise, memory)
        for place, pile in piles.items()
        for number, memory in enumerate(pile)
    ]
    days = tuple(_day(first + number / (LABELS - 1) * (last - first)) for number in range(LABELS))
    return Picture(points, days=days)


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
