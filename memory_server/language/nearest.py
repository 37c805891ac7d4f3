"""Suggests the known name that a wrong name was probably meant to be."""

from collections.abc import Sequence

ALIKE = 60.0
"""Per cent of similarity (rapidfuzz `ratio`, from 0 to 100) from which a name is suggested; chosen by trial: `serch`
suggests `search`, `find` does not. Every "Did you mean" of the program uses this one."""


def meant(name: str, names: Sequence[str]) -> str | None:
    """The known name that is most similar to a wrong one; None if none is similar enough. Case, `_` and `-` do not
    count."""
    from rapidfuzz import fuzz, process  # imported here, because only a mistake needs it

    near = process.extractOne(name, names, scorer=fuzz.ratio, score_cutoff=ALIKE, processor=_letters)
    return near[0] if near else None


def nearest(name: str, names: Sequence[str]) -> str:
    """Sentences for an error: which known name was probably meant, if any, then all known names."""
    near = meant(name, names)
    hint = f"Did you mean `{near}`? " if near else ""
    return f"{hint}There are: {', '.join(names)}."


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
