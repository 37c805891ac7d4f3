"""Makes docs/demo.png and docs/demo.zh-CN.png, the pictures of both READMEs: what `memory-server demo` prints first.

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
PICTURES = {"C.UTF-8": ROOT / "docs" / "demo.png", "zh_CN.UTF-8": ROOT / "docs" / "demo.zh-CN.png"}

COLUMNS = 92

PAGE = """<body style="margin: 0; padding: 14px; color: #d9d9d9; background: #0c0c0c">
<pre style="margin: 0; font: 13px/1.35 {}, monospace">{}</pre>"""

FONTS = {"C.UTF-8": "'DejaVu Sans Mono', 'Noto Sans Mono CJK SC'", "zh_CN.UTF-8": "'Noto Sans Mono CJK SC'"}
"""Of the Chinese one a Chinese character is as wide as two letters, as on a terminal."""

LAST = ("Taken back", "可以撤销")
"""The scene with which a picture ends, left out itself."""


def main() -> None:
    for language, picture in PICTURES.items():
        draw(language, picture)


def draw(language: str, picture: Path) -> None:
    command = [sys.executable, "-m", "memory_server", "demo"]
    environment = os.environ | {"COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT), "LANG": language}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    printed = re.split(rf"\n(?:{'|'.join(LAST)})", done.stdout)[0]
    page = PAGE.format(
        FONTS[language], "\n".join(map(coloured, ["$ memory-server demo", *printed.splitlines()]))
    )
    with browser.launched() as started:
        tab = started.new_page(viewport={"width": 780, "height": 600}, device_scale_factor=1.5)
        tab.set_content(page)
        tab.screenshot(path=picture, full_page=True)


def coloured(line: str) -> str:
    """Return a line as HTML: titles bold, who does something and what comes back in colours."""
    html = escape(line, quote=False)
    if html and not html.startswith(" "):
        return f"<b>{html}</b>"
    html = re.sub(
        r"^( +)((?:Claude|Cursor|Somebody|有人)(?: ?\w+)+)(?=  )",
        r"\1<span style='color: #58d1eb'>\2</span>",
        html,
    )
    return html.replace("→", "<span style='color: #98e024'>→</span>")


if __name__ == "__main__":
    main()
