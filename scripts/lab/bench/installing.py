"""Measures an installation from the wheel: what pip fetches and writes, and how long it works. Prints markdown.

    python scripts/lab/bench/installing.py            bare, with each extra, and as it was before there were extras
    python scripts/lab/bench/installing.py --quick    bare
    python scripts/lab/bench/installing.py --write    also writes the figures into docs/performance.md

It needs a package index and some 3 GB in the folder for temporary files.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from report import Report
from show.pages import ROOT

BEFORE = "httpx2 jinja2 markdown-it-py pyjwt[crypto] rich<16 starlette uvicorn".split()
"""What 0.1.0 required of everybody and 0.2.0 does not."""

INSTALLATIONS = {
    "as 0.1.0, everything required": ("", BEFORE),
    "`memory-server`": ("", []),
    "`memory-server[view]`": ("[view]", []),
    "`memory-server[http]`": ("[http]", []),
    "`memory-server[endpoint]`": ("[endpoint]", []),
    "`memory-server[postgres]`": ("[postgres]", []),
    "`memory-server[sentence-transformers]`": ("[sentence-transformers]", []),
}


class Installed(NamedTuple):
    packages: int
    wheels: int
    written: int
    seconds: float


def main() -> None:
    report = Report(__file__, quick="the bare installation")
    with tempfile.TemporaryDirectory(prefix="memory-server-installing-") as folder:
        wheel = _built(Path(folder))
        names = ["`memory-server`"] if report.quick else list(INSTALLATIONS)
        rows = [_row(name, _installed(wheel, *INSTALLATIONS[name])) for name in names]
    report.publish(["installation", "packages", "wheels, MB", "on disk, MB", "pip, CPU seconds"], rows)


def _row(name: str, installed: Installed) -> list[str]:
    megabytes = (f"{size / 1e6:,.0f}" for size in (installed.wheels, installed.written))
    return [name, str(installed.packages), *megabytes, f"{installed.seconds:.0f}"]


def _built(folder: Path) -> Path:
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _installed(wheel: Path, extra: str, requirements: list[str]) -> Installed:
    """Install the wheel and what it needs into an empty environment: first the wheels are fetched, then written."""
    with tempfile.TemporaryDirectory(dir=wheel.parent) as place:
        environment, wheels = Path(place, "environment"), Path(place, "wheels")
        _run(sys.executable, "-m", "venv", environment)
        pip = (environment / "bin/python", "-m", "pip", "--disable-pip-version-check")
        named_packages = (f"{wheel}{extra}", *requirements)
        _run(
            *pip, "wheel", "--constraint", ROOT / "requirements.lock", "--wheel-dir", wheels, *named_packages
        )
        before, began = _size(environment), _child_seconds()
        _run(*pip, "install", "--no-index", "--find-links", wheels, *named_packages)
        seconds = _child_seconds() - began
        return Installed(len(list(wheels.iterdir())), _size(wheels), _size(environment) - before, seconds)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
