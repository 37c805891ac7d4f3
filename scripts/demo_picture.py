"""Makes docs/demo.png, the picture of README: the first lines that `memory-server demo` prints.

python scripts/demo_picture.py
"""

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

import browser

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "demo.png"

COLUMNS = 92

PAGE = """<body style="margin: 0; padding: 14px; color: #d9d9d9; background: #0c0c0c">
<pre style="margin: 0; font: 13px/1.35 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace">{}</pre>"""

LAST = "Taken back"
"""The scene with which the picture ends, left out itself."""


def main() -> None:
    command = [sys.executable, "-m", "memory_server", "demo"]
    environment = os.environ | {"COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    printed = done.stdout.partition(f"\n{LAST}")[0]
    page = PAGE.format("\n".join(map(coloured, ["$ memory-server demo", *printed.splitlines()])))
    with browser.launched() as started:
        tab = started.new_page(viewport={"width": 780, "height": 600}, device_scale_factor=1.5)
        tab.set_content(page)
        tab.screenshot(path=PICTURE, full_page=True)


def coloured(line: str) -> str:
    """Return a line as HTML: titles bold, who does something and what comes back in colours."""
    html = escape(line, quote=False)
    if html and not html.startswith(" "):
        return f"<b>{html}</b>"
    html = re.sub(
        r"^( +)((?:Claude|Cursor|Somebody)(?: \w+)+)(?=  )", r"\1<span style='color: #58d1eb'>\2</span>", html
    )
    return html.replace("→", "<span style='color: #98e024'>→</span>")


if __name__ == "__main__":
    main()
