"""The browser in which the pages are tested: Debian's chromium, driven by playwright, which brings none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

MISSING = "there is no chromium: `scripts/browser` installs it (apt-get install chromium fonts-noto-cjk)"


def found() -> str | None:
    """The path of a browser on this machine."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window."""
    path = found()
    if path is None:
        raise SystemExit(MISSING)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()
