"""Makes docs/demo.png, the picture of README: the first lines that `memory-server demo` prints.

python scripts/demo_picture.py
"""

import io
import os
import subprocess
import sys
from pathlib import Path

import browser
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "demo.png"

COLUMNS = 92

PAGE = """<body style="margin: 0; padding: 14px; color: {foreground}; background: {background}">
<pre style="margin: 0; font: 13px/1.35 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace">{code}</pre>"""

LAST = "Taken back"
"""The scene with which the picture ends, left out itself."""


def main() -> None:
    command = [sys.executable, "-m", "memory_server", "demo"]
    environment = os.environ | {"COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print("[bold]$ memory-server demo[/]")
    for line in done.stdout.partition(f"\n{LAST}")[0].splitlines():
        text = Text(line, style="bold" if line and not line.startswith(" ") else "")
        text.highlight_regex(r"^ +(Claude|Cursor|Somebody)( \w+)+(?=  )", "cyan")
        text.highlight_regex(r"→", "green")
        console.print(text)
    page = console.export_html(theme=MONOKAI, code_format=PAGE, inline_styles=True)
    with browser.launched() as started:
        tab = started.new_page(viewport={"width": 780, "height": 600}, device_scale_factor=1.5)
        tab.set_content(page)
        tab.screenshot(path=PICTURE, full_page=True)


if __name__ == "__main__":
    main()
