"""Options that several commands share, and the types of their values."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click
from pydantic import TypeAdapter, ValidationError

from memory_server.cli import output
from memory_server.cli.terminal import bracketed, colon, translated
from memory_server.domain import moment
from memory_server.domain.memory import Filter, MemoryType
from memory_server.language import catalogue, when
from memory_server.language.nearest import nearest
from memory_server.language.text import has_han
from memory_server.language.when import Use
from memory_server.settings import is_month_first
from memory_server.stores import clock

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_AGO = re.compile(r"(\d{1,6})\s*(h|d|w|m|y)", re.IGNORECASE)
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}

MOST_SECONDS = 100 * 365 * 86_400
"""The longest length of time: a hundred years."""

_WRONG = {
    "string_unicode": "it is not UTF-8.",
    "string_too_short": "it is empty.",
    "string_too_long": "it has more than {max_length:,} characters.",
    "too_long": "there are more than {max_length}.",
    "greater_than_equal": "it is less than {ge:,}.",
    "less_than_equal": "it is more than {le:,}.",
}
"""By pydantic's type of an error: what is wrong, where its own words are those of a programmer."""


class MomentType(click.ParamType[str]):
    """A date or a time in the local time of the person, in words too, or how long ago: `2026-03-14`, `yesterday`, `7d`.

    With `Use.STARTS` `7d` is in a week.
    """

    name = "when"

    def __init__(self, use: Use = Use.SINCE) -> None:
        self._use = use
        self._sign = 1 if use is Use.STARTS else -1

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value).strip()
        try:
            if span := _AGO.fullmatch(text):
                return moment.timestamp(clock() + self._sign * int(span[1]) * _UNITS[span[2].lower()])
            if text.isdigit() and len(text) >= 10:
                return moment.read(text)
            return moment.timestamp(moment.parse(text, None).astimezone())
        except OverflowError:
            pass
        except ValueError:
            now = clock().astimezone().replace(tzinfo=None)
            read = when.moment(text, self._use, now, month_first=is_month_first())
            if read is not None:
                output.note(f"{text!r} was read as {read.reading}.")
                return moment.timestamp(read.local.astimezone())
        forms = "next Friday, November 3" if self._use is Use.STARTS else "yesterday, last week, November 3"
        return self.fail(
            f"{text!r} is not a date. Write 2026-03-14, '2026-03-14 09:26', {forms} or 7d (h, d, w, m, y).",
            param,
            ctx,
        )


MOMENT = MomentType()


class Length(click.ParamType[int]):
    """A length of time in seconds, or in words: `90 minutes`, `7d`."""

    name = "length"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip().replace(",", "")
        if text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_SECONDS:
            return int(text)
        now = clock().astimezone().replace(tzinfo=None)
        length = None if text.isdigit() else when.seconds(text, now, month_first=is_month_first())
        if length is None or length > MOST_SECONDS:
            return self.fail(f"{str(value)!r} is no length of time. Write {when.LENGTHS}.", param, ctx)
        return length


class Number(click.ParamType[int]):
    """A whole number from `least` to `most`."""

    name = "number"

    def __init__(self, least: int, most: int = 1_000_000_000) -> None:
        self.least, self.most = least, most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip().replace(",", "")
        if text.isascii() and text.isdigit() and len(text) < 19 and self.least <= int(text) <= self.most:
            return int(text)
        return self.fail(f"{str(value)!r} is not a number from {self.least:,} to {self.most:,}.", param, ctx)


class Share(click.ParamType[float]):
    """A number from 0 to 1."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            share = float(str(value))
        except ValueError:
            share = -1
        if 0 <= share <= 1:
            return share
        return self.fail(f"{str(value)!r} is not a number from 0 to 1.", param, ctx)


def completed(what: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Completes what the file has: `things`, `keys`, `projects` or `changes`. Imported when a shell asks."""

    def complete(context: click.Context, param: click.Parameter, written: str) -> list[Any]:
        from memory_server.cli import completing

        done: list[Any] = getattr(completing, what)(context, param, written)
        return done

    return complete


class Word(click.Choice[str]):
    """One of a few words; it may be written in Chinese."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if has_han(str(value)):
            value = {catalogue.word(choice): choice for choice in self.choices}.get(value, value)
        return super().convert(value, param, ctx)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        return f"{value!r} is unknown. {nearest(str(value), list(map(named, self.choices)))}"


def named(choice: str) -> str:
    """Return a word to type, with its Chinese for who reads that."""
    chinese = translated(choice)
    return choice if chinese == choice else f"{choice}{bracketed(chinese)}"


TYPE = Word([type_.value for type_ in MemoryType], case_sensitive=False)

meaning_option = click.option("--meaning", is_flag=True, hidden=True, expose_value=False)
"""Without effect: every question is asked by meaning."""

project_option = click.option(
    "--project",
    help="Only of this project: its name, folder or remote. '' is no project.",
    shell_complete=completed("projects"),
)
since_option = click.option(
    "--since",
    type=MOMENT,
    metavar="WHEN",
    help="From this moment on: 2026-03-14, '2026-03-14 09:26', 'last week', or 7d for a week ago.",
)
until_option = click.option("--until", type=MomentType(Use.UNTIL), metavar="WHEN", help="Before this moment.")
type_option = click.option("--type", "type_", type=TYPE, help="Only memories of this type.")
tag_option = click.option(
    "--tag", "tags", multiple=True, help="Only with this tag; repeat it for any of several."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def limit_option(default: int) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--limit",
        "-n",
        type=Number(1, output.MOST_ROWS),
        default=default,
        show_default=True,
        help="How many at most.",
    )


def filter_options(function: Decorated) -> Decorated:
    """Add the options that choose memories."""
    for option in (until_option, since_option, tag_option, project_option, type_option):
        function = option(function)
    return function


def filter_of(values: dict[str, Any]) -> Filter:
    """Return the filter for the values of these options."""
    return Filter(
        memory_type(values["type_"]),
        values["project"],
        tuple(values["tags"]),
        None,
        values["since"],
        values["until"],
    )


def memory_type(value: str | None) -> MemoryType | None:
    return MemoryType(value.lower()) if value else None


def checked(kind: Any, value: object, name: str) -> Any:
    """Check what a person types by a field type of the tools.

    Raises:
        BadParameter: it is not right.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        words, limits = _WRONG.get(first["type"]), first.get("ctx", {})
        wrong = translated(words).format(**limits) if words else first["msg"].removeprefix("Value error, ")
        message = f"{translated(name)}{colon()}{wrong}"
        raise click.BadParameter(message, click.get_current_context(silent=True)) from error
