"""All that is made of the results in docs/performance/: its plots, docs/performance.md, the tables of the READMEs."""

from pathlib import Path

from show import markdown, part, plots, readme, results, tables

ROOT = Path(__file__).resolve().parents[4]

RESULTS = Path("docs/performance")
"""The folder of the results, from the root of the repository: a file for each benchmark."""

KEPT = RESULTS / "bench.json"
"""The results of `python scripts/lab/bench`."""

PAGE = Path("docs/performance.md")

COMMAND = "python scripts/lab/bench"


def rendered(root: Path = ROOT) -> dict[Path, str]:
    """What each file that shows results should hold, by its path from the root."""
    kept = results.load(root / KEPT)
    drawn = plots.plots(kept)
    page = (root / PAGE).read_text(encoding="utf-8")
    page = markdown.between(page, f"<!-- {COMMAND} -->", _shown(kept, list(drawn)))
    for path in parts(root):
        found = part.load(path)
        page = markdown.between(page, f"<!-- {found.command} -->", found.text)
    figures = readme.Source(root / RESULTS, kept)
    return {
        **{RESULTS / name: text for name, text in drawn.items()},
        PAGE: page,
        Path("README.md"): _readme(root / "README.md", readme.english(figures)),
        Path("README.zh-CN.md"): _readme(root / "README.zh-CN.md", readme.chinese(figures)),
    }


def parts(root: Path = ROOT) -> list[Path]:
    """The results of the other benchmarks."""
    return [path for path in sorted((root / RESULTS).glob("*.json")) if path != root / KEPT]


def left_over(root: Path = ROOT) -> list[Path]:
    """Plots that nothing shows any more, from the root."""
    there = {path.relative_to(root) for path in (root / RESULTS).glob("*.svg")}
    return sorted(there - set(rendered(root)))


def write(root: Path = ROOT) -> list[Path]:
    """Write what has changed, and remove plots that are left over; the paths from the root of what was written."""
    changed = []
    for path, text in rendered(root).items():
        file = root / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            changed.append(path)
    for path in left_over(root):
        (root / path).unlink()
    return changed


def _shown(kept: results.Results, drawn: list[str]) -> str:
    """All tables, then the plots."""
    shown = "\n".join(f"![{Path(name).stem}]({RESULTS.name}/{name})" for name in drawn)
    return f"{tables.text(kept)}\n{shown}\n"


def _readme(path: Path, table: str) -> str:
    return markdown.between(path.read_text(encoding="utf-8"), readme.MARKER, table)
