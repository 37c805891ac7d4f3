"""Patterns that are compiled when they are first used. One that names all Han characters takes 1 to 10 ms."""

import re
from typing import Any, cast


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, but compiled later."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called once for each name: from then on it is found without this."""
        found = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)
        return found
