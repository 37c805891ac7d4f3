"""Lets Python look for garbage late."""

import gc


def look_from_now() -> None:
    """Never look through what was imported and made so far: it stays. `__main__` has switched the looking off:
    to serve imports and makes 300,000 objects, and to look through these again and again costs a tenth."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
