"""All that is made of the results in docs/performance/: the tables of docs/performance.md and of the READMEs."""

from pathlib import Path

from show import markdown, part, readme

ROOT = Path(__file__).resolve().parents[3]

RESULTS = Path("docs/performance")
"""The folder of the results, from the root of the repository: a file for each benchmark."""

PAGE = Path("docs/performance.md")


def rendered(root: Path = ROOT) -> dict[Path, str]:
    """What each file that shows results should hold, by its path from the root."""
    page = (root / PAGE).read_text(encoding="utf-8")
    for path in sorted((root / RESULTS).glob("*.json")):
        found = part.load(path)
        page = markdown.between(page, f"<!-- {found.command} -->", found.text)
    return {
        PAGE: page,
        Path("README.md"): _readme(root / "README.md", readme.english(root / RESULTS)),
        Path("README.zh-CN.md"): _readme(root / "README.zh-CN.md", readme.chinese(root / RESULTS)),
    }


def write(root: Path = ROOT) -> list[Path]:
    """Write what has changed; its paths from the root."""
    changed = []
    for path, text in rendered(root).items():
        file = root / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


def _readme(path: Path, table: str) -> str:
    return markdown.between(path.read_text(encoding="utf-8"), readme.MARKER, table)
