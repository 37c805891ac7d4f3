"""When Python begins to look for garbage."""

import gc


def look_from_now() -> None:
    """What was imported and made so far stays, and is never looked through. `__main__` has switched the looking off:
    to serve imports and makes 300,000 objects, and to look through these again and again costs a tenth."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
