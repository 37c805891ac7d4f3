"""Groups of terms, of which a memory that shares most words with a text holds at least one: see `Peers.find`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from memory_server.language import background

COUNTED = 200
"""Texts of a term that are read: a rare term has fewer. To read all of 17 terms takes 30 ms in a million memories."""


@dataclass(frozen=True, slots=True)
class Groups:
    """`rare_ids` are the texts that hold a rare term, once for each term; `common` are the groups of two terms."""

    rare_ids: list[int]
    common: list[list[str]]


def number_of_groups(terms: Sequence[str], least: float) -> int:
    """Return the number of groups that finds all memories with at least a share `least` of the terms."""
    return len(terms) - ceil(least * len(terms)) + 1


def in_order(terms: Sequence[str]) -> list[str]:
    """Sort terms, the rarest in ordinary language first: mostly they are rare in the store too."""
    return sorted(terms, key=lambda term: (background.share(term), term))


def grouped(
    terms: Sequence[str], number: int, ids_by_term: Mapping[str, Sequence[int]], rare_only: bool
) -> Groups:
    """Make a group of each of the first `number` terms, the rarest first; `rare_only` leaves out those of two terms.

    `ids_by_term` has at most COUNTED texts of each term. A term that has so many is joined by one of the later terms.
    """
    partners = iter(terms[number:])
    rare_ids: list[int] = []
    common: list[list[str]] = []
    for term in reversed(terms[:number]):
        if len(ids_by_term[term]) < COUNTED:
            rare_ids += ids_by_term[term]
        elif not rare_only:
            common.append([term, *islice(partners, 1)])
    return Groups(rare_ids, common)
