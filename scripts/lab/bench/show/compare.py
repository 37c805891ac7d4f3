"""Two runs side by side."""

from show import markdown
from show.results import Results


def compared(before: Results, after: Results) -> str:
    """A table of all that both measured: before, after, and after / before.

    Raises:
        ValueError: they measured other memories.
    """
    if before.texts != after.texts:
        raise ValueError(f"other memories were measured: {before.texts} and {after.texts}")
    rows = []
    for each in before.measured:
        values = after.find(each.who, each.what, each.size) or {}
        for name, value in each.values.items():
            if name in values:
                ratio = f"{values[name] / value:.2f}" if value else "–"
                shown = (each.who, each.what, f"{each.size:,}", name)
                rows.append((*shown, f"{value:,g}", f"{values[name]:,g}", ratio))
    titles = ("who", "what", "memories", "value", "before", "after", "after / before")
    machines = "" if before.machine == after.machine else f"{before.machine} and {after.machine}\n\n"
    return machines + markdown.table(titles, rows)
