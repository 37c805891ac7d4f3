"""Runs a command: reads its settings, sets up its messages, and tells a failure in one line."""

import errno
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, get_args

from annotated_types import Ge, Gt, Le
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from memory_server import defaults, flags
from memory_server.cli import terminal
from memory_server.cli.hints import told
from memory_server.cli.terminal import colon, translated
from memory_server.errors import MemoryServerError
from memory_server.language.nearest import nearest
from memory_server.language.text import visible
from memory_server.settings import Settings

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, or what is left of it for this user or this file, is full."""


_NUMBERS = frozenset(
    "int_parsing int_from_float float_parsing finite_number greater_than greater_than_equal less_than "
    "less_than_equal".split()
)
"""Errors of pydantic about a number."""


class WrongSettings(Exception):
    """Settings have values that they cannot have: a text for each."""


def guarded(action: Callable[[], int]) -> int:
    """Run it; what fails with an explanation is told in one line."""
    try:
        return action()
    except WrongSettings as error:
        return failed(*error.args, code=2)
    except MemoryServerError as error:
        return failed(told(error.problem) or "")
    except BrokenPipeError:  # who reads has seen enough: `memory-server list | head`
        _print_no_more()
        return 1
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return failed("too many files are open. Raise the limit (ulimit -n 256), then try again.")
        if error.errno in FULL:
            _print_no_more()
            complain(
                f"{error.filename or 'the output'} cannot be written: {error.strerror}. Free some space."
            )
            return 1
        if error.errno == errno.EIO:
            return failed(f"{error.filename or 'a file'} cannot be read or written: {error.strerror}.")
        raise


def _wrong_setting(fault: Mapping[str, Any], flags_of_call: Mapping[str, object]) -> str:
    """Say which flag or variable has a wrong value, and what it takes."""
    name, value = str(fault["loc"][0]), fault["input"]
    field = Settings.model_fields[name]
    is_variable = name not in flags_of_call and flags.value_of(name, {}, flags.HERE)
    place = flags.PREFIX + name.upper() if is_variable else flags.flag_of(name)
    wrong = _wrong_value(fault["type"], field, value) or fault["msg"].removeprefix("Value error, ")
    if value is None:
        return f"{place} {wrong}."
    return f"{place}{colon()}{wrong}" if wrong.endswith(".") else f"{place}: {wrong}, got {value!r}"


def _wrong_value(kind: str, field: FieldInfo, value: object) -> str | None:
    """Say what is wrong, where pydantic's words are those of a programmer."""
    if kind == "literal_error":
        return f"{value!r} is unknown. {nearest(str(value), get_args(field.annotation))}"
    if kind in _NUMBERS:
        return _wrong_number(field, value)
    return f"{value!r} is neither true nor false." if kind.startswith("bool") else None


def _wrong_number(field: FieldInfo, value: object) -> str:
    """Say which numbers a setting takes."""
    limits = {type(limit): limit for limit in field.metadata}
    if Le not in limits:
        return f"{value!r} is not a number."
    most = limits[Le].le
    if Gt in limits:
        return f"{value!r} is not a number above {limits[Gt].gt:,}, up to {most:,}."
    least = limits[Ge].ge
    if field.annotation is int:
        return f"{value!r} is not a whole number from {least:,} to {most:,}."
    return f"{value!r} is not a number from {least:,} to {most:,}."


def _print_no_more() -> None:
    """Drop what was not written yet: at the exit it would fail once more."""
    if terminal.client() is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def configured(flags_of_call: Mapping[str, object]) -> Settings:
    """Read the settings, with those that have flags; messages go to standard error from now on.

    Raises:
        WrongSettings: a value is wrong.
    """
    try:
        settings = Settings(**flags_of_call)  # type: ignore[arg-type]
    except ValidationError as error:
        faults = error.errors(include_url=False)
        raise WrongSettings(*(_wrong_setting(fault, flags_of_call) for fault in faults)) from error
    set_up(settings)
    return settings


def set_up(settings: Settings) -> None:
    """Use the time zone of the settings in this process, and write messages to standard error from now on."""
    if settings.time_zone is not None:
        defaults.use_zone(settings.time_zone)
    log = logging.StreamHandler(sys.stderr)
    log.setFormatter(_Formatter("memory-server: %(levelname)s: %(message)s"))
    logging.basicConfig(handlers=[log], level=settings.log_level)


def failed(*texts: str, code: int = 1) -> int:
    """Tell why a command has failed, and return its exit code. With `--json` it is `{"error": …}`."""
    if terminal.is_json():
        print(json.dumps({"error": visible(" ".join(texts))}, ensure_ascii=False), file=terminal.out())
    else:
        for text in texts:
            complain(text)
    return code


def complain(text: str) -> None:
    """Tell on standard error what went wrong."""
    line, err = f"memory-server{terminal.colon()}{visible(translated(text))}", terminal.err()
    print(*terminal.fitted(line, err), sep="\n", file=err)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))
