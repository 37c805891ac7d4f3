"""The parts of quickjs-ng that its documentation does not promise, all in one place.

Checked with quickjs-ng 0.17.0.2; tests/triggers/test_compat.py names that version. The worker cannot import this module
(see its first lines) and repeats the name of the extension module.
"""

import importlib.util
import re
from pathlib import Path

ENGINE = "_quickjs"
"""The extension module of the package. The worker loads it alone, because importing the package takes 20 ms more."""

_STACK_FRAME = re.compile(r" *at (?:(?P<function>.*) \()?<input>:(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?")
"""A line of an error's `stack`; `<input>` is the name that the engine gives evaluated code."""

_EVAL_FRAME = "at runTrigger "
"""The line of the stack that stands for the prelude's function around a trigger: those above it are the trigger's."""

_PRELUDE_FUNCTIONS = frozenset(
    """match_keys match_keys_all similar FrozenDate Date makeIntl toLocaleDateString toLocaleTimeString toLocaleString
    format formatToParts resolvedOptions DateTimeFormat getFullYear getMonth getDate getDay getHours getMinutes
    getSeconds compared""".split()
)
"""Functions of the prelude that a trigger calls: the position of an error in one of them is that of its caller."""


def engine_folder() -> str:
    """The folder of the engine's extension module, found without importing it; '' where it is not installed."""
    module = importlib.util.find_spec(ENGINE)
    return "" if module is None or module.origin is None else str(Path(module.origin).parent)


def position(stack: str) -> tuple[int, int] | None:
    """Line and column of an error in the trigger, read from the error's `stack`."""
    place = None
    for line in stack.splitlines():
        if _EVAL_FRAME in line:
            break
        frame = _STACK_FRAME.fullmatch(line)
        if frame is None:
            continue
        if frame["function"] in _PRELUDE_FUNCTIONS:
            place = None
        elif place is None:
            place = int(frame["line"]), int(frame["column"])
    return place
