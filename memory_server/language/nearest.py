"""What a wrong name may have meant."""

from collections.abc import Sequence

ALIKE = 60.0
"""Per cent of likeness (Levenshtein ratio) from which a name is suggested: `serch` for `search`, not `find`."""


def nearest(name: str, known: Sequence[str]) -> str:
    """The names that there are, and first the one that is most like a wrong name, as sentences."""
    from rapidfuzz import fuzz, process  # only a mistake needs it

    near = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=ALIKE, processor=str.lower)
    hint = f"Did you mean `{near[0]}`? " if near else ""
    return f"{hint}There are: {', '.join(known)}."
