"""Finds which new text of a source is an earlier one, edited there: at the same place, or else in the same file."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

COMPARED = 2_000
"""Characters of a text that are compared."""

NEAR = 30
"""Earlier texts that a new one is compared with at most, in their order: a file may hold thousands."""

ALIKE = 0.6
"""The likeness from which on a text at the same place is the earlier one, edited."""

MOVED = 0.75
"""The likeness from which on a text elsewhere in the file is: its heading may have been renamed."""

Text = tuple[str, str, str]
"""The id of a text, its place, `FILE#HEADING`, and what it says."""


def pairs(earlier: Sequence[Text], new: Sequence[Text]) -> dict[str, str]:
    """Return by the id of a new text that of the earlier one which it was; each is taken once."""
    earlier_ids: dict[str, str] = {}
    for likeness, file_alone in ((ALIKE, False), (MOVED, True)):
        left = {
            place: [text for text in texts if text[0] not in earlier_ids.values()]
            for place, texts in _by_place(earlier, file_alone).items()
        }
        unmatched = [text for text in new if text[0] not in earlier_ids]
        earlier_ids |= dict(_matched(left, _by_place(unmatched, file_alone), likeness))
    return earlier_ids


def _by_place(texts: Sequence[Text], file_alone: bool) -> dict[str, list[Text]]:
    by_place: dict[str, list[Text]] = {}
    for text in texts:
        place = text[1].partition("#")[0] if file_alone else text[1]
        by_place.setdefault(place, []).append(text)
    return by_place


def _matched(
    earlier: Mapping[str, list[Text]], new: Mapping[str, list[Text]], likeness: float
) -> Iterator[tuple[str, str]]:
    for place, texts in new.items():
        left = earlier.get(place, [])
        for id, _, content in texts:
            scored = [
                (_likeness(old[2], content, likeness), -rank, old) for rank, old in enumerate(left[:NEAR])
            ]
            best = max(scored, default=(0.0, 0, ("", "", "")))
            if best[0] >= likeness:
                left.remove(best[2])
                yield id, best[2][0]


def _likeness(left: str, right: str, least: float) -> float:
    matcher = SequenceMatcher(None, left[:COMPARED], right[:COMPARED], autojunk=False)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return matcher.ratio()
