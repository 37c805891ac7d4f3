"""Patterns that are compiled when they are first used. One that names all Han characters takes 1 to 10 ms."""

import re
from typing import Any, cast


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern as from `re.compile`, but compiled at its first use."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))


def closed_list(pattern: str) -> re.Pattern[str]:
    """A pattern of alternatives over several lines, in any case; compiled at its first use."""
    return lazy(pattern, re.VERBOSE | re.IGNORECASE)


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern and keep its attribute; Python calls this once for each name."""
        attribute = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, attribute)
        return attribute
