"""Our own export: a JSON object a line, the first one names the form."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from memory_server.domain.exchange.records import (
    OWN,
    VERSION,
    Exported,
    FactRecord,
    Header,
    MemoryRecord,
    Record,
    Refusal,
)
from memory_server.domain.fact import is_plain
from memory_server.errors import Invalid, Mend
from memory_server.importing.opened import Format, Opened


def line(record: Record | Header) -> str:
    """A record as one line of JSON. What is as by default is left out, but for the version of the form."""
    if isinstance(record, Header):
        return json.dumps({"kind": record.kind, "version": record.version})
    fields = _adapter().dump_python(
        record, exclude_defaults=True, warnings=False
    )  # nothing here is validated
    return json.dumps({"kind": record.kind, **fields}, ensure_ascii=False, allow_nan=False)


def read(text: str) -> Record:
    """Return the record of a line."""
    record: Record = _adapter().validate_python(json.loads(text))
    return record


def fits(opened: Opened) -> bool:
    return opened.first.get("kind") == OWN


def records(opened: Opened) -> Iterator[Record]:
    """The records of an export. A line that is none is refused.

    Raises:
        Invalid: the export is of a newer version.
    """
    header = opened.first
    if header.get("version", VERSION) != VERSION:
        raise Invalid(
            f"{opened.path} has version {header['version']} of the export, and this program reads version {VERSION}. "
            "Nothing was imported.",
            Mend.UPGRADE,
        )
    with opened.path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        for number, text in enumerate(file, 1):
            if number > 1 and text.strip():
                yield _record(number, text)


def _record(number: int, text: str) -> Record:
    try:
        record = read(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Refusal(f"line {number}", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return Refusal(f"line {number}", f"is no JSON: {error}")
    if isinstance(record, FactRecord) and not record.steps:
        return Refusal(f"line {number}", "a fact without any step")
    if not all(map(is_plain, _values(record))):
        return Refusal(
            f"line {number}", "holds JSON that clients cannot read: infinite numbers, or over 100 levels"
        )
    return record


def _values(record: Record) -> list[Any]:
    """Return the values of a record that may be any JSON."""
    match record:
        case MemoryRecord():
            return [dict(record.metadata), list(record.tags)]
        case FactRecord():
            return [value for step in record.steps for value in (step.value, list(step.tags))]
        case _:
            return []


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[Exported, Field(discriminator="kind")])


FORMAT = Format(OWN, "an export of memory-server", fits, records)
