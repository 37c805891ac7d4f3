"""Tables in Markdown, and parts of pages between two markers."""

from collections.abc import Iterable, Sequence

END = "<!-- end -->"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without a newline at its end."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, ["---"] * len(titles), *rows))


def between(page: str, begin: str, text: str) -> str:
    """The page with this text, which ends with a newline, between the line `begin` and the next END.

    Raises:
        ValueError: the page has no such lines.
    """
    before, found, rest = page.partition(f"{begin}\n")
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"no lines {begin} and {END}")
    return f"{before}{found}{text}{ended}{after}"
