"""Looks at every page in a real browser: wide and narrow, light and dark, in both languages, among 50,000 memories.

python scripts/lab/pages.py                      a line for each page: the worst of its eight looks
python scripts/lab/pages.py --memories 0         the pages of an empty memory
python scripts/lab/pages.py --pictures FOLDER    keeps a picture of each page in each look
python scripts/lab/pages.py --file FILE          takes a file that an earlier run has left, or leaves it there

A page is usable when its scripts have run and it is painted; that is time by the clock, so it needs a quiet machine.
CPU is that of the server. Findings are those of axe, of any impact, with targets smaller than 24 pixels.
A page is too wide where it scrolls sideways. Ends with 1 where there is a finding or a page is too wide.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]
sys.path.append(str(Path(__file__).parent / "bench"))

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from browser import launched  # noqa: E402
from corpus import memories  # noqa: E402
from picture_data import SESSION, filled  # noqa: E402
from screenshots import serving  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = tuple(product((1400, 400), ("en-GB", "zh-CN"), COLOURS))

AXE = {"rules": {"target-size": {"enabled": True}}}
POINTS = {"exclude": [[".map svg"]]}
"""Points of the map, which axe does not judge: 2,000 take it half a minute, and the lists lead to the same memories."""

LINE = "The tide table of the harbour has a line for each hour. 潮汐表每小时一行。\n\n"
COMMAND = "systemctl restart ledger && journalctl -fu ledger --since today --output json | head -n 100"

AWKWARD = {
    "long": f"# Ten thousand characters\n\n{LINE * 140}",
    "word": f"https://harbour.example/{'a-path-without-a-space/' * 30} and {'一个没有空格的很长很长的句子' * 8}",
    "code": f"Deploy it:\n\n```sh\nssh kelp '{COMMAND}'\n```\n\n| host | port |\n| --- | --- |\n| kelp | 5432 |",
    "arabic": "قاعدة البيانات التجريبية موجودة على الخادم kelp، المنفذ 5432. שרת הגיבוי הוא quarry. 🚢⚓️",
    "tags": "This memory has ten tags as long as a tag may be.",
}
"""Texts that are hard to lay out, by name."""

PAGES = {
    "newest": "/",
    "search": "/?q=nightly+backup",
    "all filters": "/?q=backup&type=decision&importance=3&since=2020-01-01&tag=backup",
    "nothing found": "/?q=zebra+crossing&tag=nothing",
    "add": "/new",
    "memory": "/memory/{moved}",
    "long": "/memory/{long}",
    "long word": "/memory/{word}",
    "code": "/memory/{code}",
    "arabic": "/memory/{arabic}",
    "tags": "/memory/{tags}",
    "now": "/now?project=ledger",
    "sessions": "/sessions",
    "session": f"/session/{SESSION}",
    "timeline": "/timeline?days=365",
    "graph": "/graph",
    "map": "/map",
    "map by meaning": "/map?by=meaning",
    "map by time": "/map?by=time",
    "facts": "/facts?project=ledger",
    "fact": "/fact/project/current.task?project=ledger",
    "triggers": "/triggers?project=ledger",
    "trigger": "/trigger/before%20a%20release?project=ledger",
    "rules": "/rules",
    "review": "/review",
    "health": "/doctor",
    "wrong address": "/memory/999999999",
}
OF_AN_EMPTY_MEMORY = (
    "newest",
    "add",
    "now",
    "sessions",
    "timeline",
    "graph",
    "map",
    "facts",
    "triggers",
    "rules",
    "review",
)


class Look(NamedTuple):
    """What one page was in one look: milliseconds, findings of axe, and pixels that it is too wide."""

    usable: float
    cpu: float
    findings: tuple[str, ...]
    wider: int


def made(db: Path, size: int) -> dict[str, int]:
    """Fill a file with the story, awkward texts and so many notes; return the memories that pages are of."""
    with filled(db, "hashing") as ids:
        moved = ids["memory"]
    notes = db.with_suffix(".jsonl")
    with notes.open("w", encoding="utf-8") as lines:
        for note in numbered(size):
            lines.write(json.dumps(note, ensure_ascii=False) + "\n")
    command = [
        sys.executable,
        "-m",
        "memory_server",
        "--db",
        str(db),
        "--embedder",
        "hashing",
        "import",
        str(notes),
    ]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return {"moved": moved}


def numbered(size: int) -> Iterator[dict[str, Any]]:
    """Yield the awkward texts, and so many notes, each hour one, back from now."""
    for text in AWKWARD.values():
        long = text is AWKWARD["tags"]
        tags = (
            [f"a-tag-of-fifty-characters-without-any-space-{number:06}" for number in range(10)]
            if long
            else []
        )
        project = "a-project-with-a-name-that-is-as-long-as-names-of-folders-get" if long else "ledger"
        yield {"content": text, "type": "observation", "tags": tags, "project": project}
    now = datetime.now(UTC)
    for number, note in enumerate(memories(size)):
        fields: dict[str, Any] = {
            name: note[name] for name in ("type", "tags", "project", "importance") if name in note
        }
        day = (now - timedelta(hours=number / 6)).isoformat()
        yield {"content": f"{note['content']} #{number}", "date": day, **fields}


def awkward_ids(db: Path) -> dict[str, int]:
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    rows = connection.execute("SELECT content, id FROM memories WHERE content IN (SELECT value FROM json_each(?))",
                              [json.dumps(list(map(str.strip, AWKWARD.values())))])  # fmt: skip
    ids = dict(rows.fetchall())
    moved = connection.execute(
        "SELECT id FROM memories WHERE content LIKE '%behind pgbouncer in session mode.'"
    )
    return {name: ids[text.strip()] for name, text in AWKWARD.items()} | {"moved": moved.fetchone()[0]}


def seconds_of(process: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(page: Any, address: str, process: int) -> Look:
    began = seconds_of(process)
    page.goto(address, wait_until="load")
    usable = page.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
    )
    if address.endswith("/doctor"):
        page.wait_for_selector("#checked[aria-busy]", state="detached", timeout=120_000)
    cpu = 1000 * (seconds_of(process) - began)
    violations = Axe().run(page, POINTS, AXE).response["violations"]
    findings = tuple(f"{rule['id']}: {node['target']}" for rule in violations for node in rule["nodes"])
    return Look(usable, cpu, findings, page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--only", help="names of pages, with commas between them")
    options = parser.parse_args()
    db = options.file or Path(tempfile.mkdtemp(prefix="memory-pages-")) / "memory.db"
    if options.memories and not db.exists():
        made(db, options.memories)
    ids = awkward_ids(db) if options.memories else {}
    names = list(PAGES) if options.memories else OF_AN_EMPTY_MEMORY
    if options.only:
        names = options.only.split(",")
    looks = looked(db, {name: PAGES[name].format(**ids) for name in names}, options.pictures)
    print(
        f"{'page':<16}{'usable ms':>10}{'CPU ms':>8}{'findings':>10}{'too wide':>10}   in {len(LOOKS)} looks; the worst"
    )
    for name, seen in looks.items():
        findings = sorted({finding for view in seen for finding in view.findings})
        wider = max(view.wider for view in seen)
        print(f"{name:<16}{max(view.usable for view in seen):>10.0f}{max(view.cpu for view in seen):>8.0f}"
              f"{len(findings):>10}{max(0, wider):>10}", *findings, sep="\n    ")  # fmt: skip
    return int(any(view.findings or view.wider > 0 for seen in looks.values() for view in seen))


def looked(db: Path, addresses: dict[str, str], pictures: Path | None) -> dict[str, list[Look]]:
    """Look at each page in each look."""
    looks = defaultdict[str, list[Look]](list)
    with serving(db, "--embedder", "hashing") as (address, process), launched() as browser:
        base, cookie = address.partition("/?")[0], None
        for width, language, colours in LOOKS:
            context = browser.new_context(viewport={"width": width, "height": 860}, locale=language,
                                          color_scheme=colours, storage_state=cookie)  # fmt: skip
            page = context.new_page()
            if cookie is None:
                page.goto(address)
                cookie = context.storage_state()
            for name, path in addresses.items():
                looks[name].append(look(page, base + path, process))
                if pictures is not None:
                    pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=pictures / f"{name} {width} {language[:2]} {colours}.png")
            context.close()
    return looks


if __name__ == "__main__":
    sys.exit(main())
