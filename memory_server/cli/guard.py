"""Runs a command: reads its settings, sets up its messages, and tells a failure in one line."""

import errno
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from memory_server import defaults
from memory_server.cli import terminal
from memory_server.cli.hints import told
from memory_server.cli.terminal import translated
from memory_server.errors import MemoryServerError
from memory_server.language.text import visible
from memory_server.settings import Settings

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, or what is left of it for this user or this file, is full."""


def guarded(action: Callable[[], int]) -> int:
    """Run it; what fails with an explanation is told in one line."""
    try:
        return action()
    except ValidationError as error:
        return failed(*map(_wrong_setting, error.errors(include_url=False)), code=2)
    except MemoryServerError as error:
        return failed(explained(error))
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


def _wrong_setting(fault: Mapping[str, Any]) -> str:
    name, wrong = ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")
    return f"{name}: {wrong}, got {fault['input']!r}"


def _print_no_more() -> None:
    """Drop what was not written yet: at the exit it would fail once more."""
    if terminal.client() is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def configured(flags: Mapping[str, object]) -> Settings:
    """Read the settings, with those that have flags; messages go to standard error from now on.

    Raises:
        ValidationError: a value is wrong.
    """
    settings = Settings(**flags)  # type: ignore[arg-type]
    set_up(settings)
    return settings


def set_up(settings: Settings) -> None:
    """Use the time zone of the settings in this process, and write messages to standard error from now on."""
    if settings.time_zone is not None:
        defaults.use_zone(settings.time_zone)
    log = logging.StreamHandler(sys.stderr)
    log.setFormatter(_Formatter("memory-server: %(levelname)s: %(message)s"))
    logging.basicConfig(handlers=[log], level=settings.log_level)


def explained(error: MemoryServerError) -> str:
    """Return what is wrong, and what mends it, in the language of the person."""
    return told(error.problem) or ""


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
