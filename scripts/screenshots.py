"""Makes the pictures of docs/view.md in a real browser, of a file that the product fills with the story of its demo.

python scripts/screenshots.py            writes docs/view/*.webp
python scripts/screenshots.py --keep     and leaves the file, whose path it prints
"""

import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from browser import launched
from picture_data import SESSION, filled

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "view"

WIDE, NARROW = (1400, 860), (400, 800)


class Picture(NamedTuple):
    """A page as it looks in a window, in a language and a scheme of colours."""

    name: str
    path: str
    size: tuple[int, int] = WIDE
    language: str = "en-GB"
    colours: Literal["light", "dark"] = "light"


PICTURES = (
    Picture("search", "/?q=database+port"),
    Picture("search.zh-CN", "/?q=部署时出了什么问题", language="zh-CN"),
    Picture("memory", "/memory/{memory}"),
    Picture("session", f"/session/{SESSION}"),
    Picture("map", "/map"),
    Picture("timeline", "/timeline"),
    Picture("graph-zh", "/graph/{hub}?depth=2", language="zh-CN", colours="dark"),
    Picture("search-narrow", "/?q=database+port", NARROW),
    Picture("session-zh-narrow", f"/session/{SESSION}", NARROW, "zh-CN", "dark"),
)


@contextmanager
def serving(db: Path, *arguments: str) -> Iterator[tuple[str, int]]:
    """Run `memory-server view` on a file; yield its address, which opens once, and its process."""
    command = [
        sys.executable,
        "-m",
        "memory_server",
        "view",
        "--db",
        str(db),
        "--project",
        "ledger",
        *arguments,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def save(page: Any, path: Path) -> None:
    """Save what a page shows as WebP, which takes a third of what PNG does; playwright itself cannot."""
    shot = page.context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": 80}
    )
    path.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    db = Path(tempfile.mkdtemp(prefix="memory-view-")) / "memory.db"
    FOLDER.mkdir(exist_ok=True)
    with filled(db) as ids, serving(db) as (address, _), launched() as browser:
        base = address.partition("/?")[0]
        first = browser.new_page()
        first.goto(address)
        cookie = first.context.storage_state()
        for picture in PICTURES:
            context = browser.new_context(
                viewport={"width": picture.size[0], "height": picture.size[1]}, locale=picture.language,
                color_scheme=picture.colours, storage_state=cookie,
            )  # fmt: skip
            page = context.new_page()
            page.goto(base + picture.path.format(**ids))
            page.wait_for_load_state("networkidle")
            save(page, FOLDER / f"{picture.name}.webp")
            context.close()
    print(f"{len(PICTURES)} pictures in {FOLDER}" + (f"; {db}" if "--keep" in sys.argv else ""))


if __name__ == "__main__":
    main()
