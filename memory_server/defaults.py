"""Default folders and files."""

from pathlib import Path


def database() -> Path:
    """`memory.db` in the user data folder."""
    from platformdirs import user_data_path  # 5 ms, which a process whose database is named does without

    return user_data_path("memory-server", appauthor=False) / "memory.db"


def cache() -> Path:
    """The user's folder for files that can be created again."""
    from platformdirs import user_cache_path

    return user_cache_path("memory-server", appauthor=False)


def folder() -> Path:
    """The working folder; where that was deleted, the user's own."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()
