"""Default folders and files, and the order of a date."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

_MONTH_FIRST = ("en_US", "en_PH", "zh", "ja", "ko", "hu", "C", "POSIX")
"""Locales whose people write the month before the day."""


def is_month_first(environment: Mapping[str, str]) -> bool:
    """True where 3/4 is the 4th of March by the locale of the environment, or where that names none."""
    names = (environment.get(name) for name in ("LC_ALL", "LC_TIME", "LANG"))
    return next(filter(None, names), "C").startswith(_MONTH_FIRST)


def database() -> Path:
    """`memory.db` in the user data folder."""
    from platformdirs import user_data_path  # 5 ms, which a process whose database is named does without

    return user_data_path("memory-server", appauthor=False) / "memory.db"


def cache() -> Path:
    """The user's folder for files that can be created again."""
    from platformdirs import user_cache_path

    return user_cache_path("memory-server", appauthor=False)


def use_zone(name: str) -> None:
    """Make a time zone that of this process, where the system has such a thing."""
    os.environ["TZ"] = name
    if hasattr(time, "tzset"):
        time.tzset()


def folder() -> Path:
    """The working folder; where that was deleted, the user's own."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()
