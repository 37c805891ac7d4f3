"""The statements of the tables that both stores share, as PostgreSQL spells them.

They are written for SQLite: see `storage/statements.py`. Here stands all that differs.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from memory_server.postgres import word_rows
from memory_server.postgres.tx import Tx
from memory_server.storage.columns import listed
from memory_server.storage.memory_rows import LASTING
from memory_server.storage.statements import Row, Values

_LOST_NOTHING: Final = "(floor(({summed}) * 1048576::double precision) / 1048576::double precision)"
"""The part of a number of which a sum loses nothing, so that it is SQLite's, in whichever order it is made."""

_RULES: Final = {
    r"json_set\( (?P<set> [\w.]+ ) , \s '\$\. (?P<set_path> [^']+ ) ' , \s : (?P<new> \w+ ) \)": (
        "jsonb_set({set}::jsonb, {set_path}, to_jsonb(%({new})s::text))::text"
    ),
    r"json_extract\( (?P<json> [\w.]+ ) , \s '\$\. (?P<json_path> [^']+ ) ' \)": (
        "(readable_json({json}) #>> {json_path})"
    ),
    r"(?P<text_of> [\w.]+ ) \s ->> \s '\$\. (?P<text_path> [^']+ ) '": "({text_of} #>> {text_path})",
    r"(?P<part_of> [\w.]+ ) \s -> \s '\$\. (?P<part_path> [^']+ ) '": "({part_of} #> {part_path})",
    r"strftime\( '%Y-%m-%dT%H:%M:%fZ', \s (?P<stamped> [\w.]+ ) \)": "as_moment({stamped})",
    r"\b parts \s AS \s parts \b": "readable_json(parts) AS parts",
    r"CROSS \s JOIN \s json_each\( (?P<elements> \w+ ) \) \s AS \s c \b": (
        "CROSS JOIN LATERAL jsonb_array_elements({elements}) AS c (value)"
    ),
    r"\( SELECT \s key \s FROM \s json_each\( : (?P<places> \w+ ) \) \s WHERE \s value \s = \s (?P<id> \w+ ) \)": (
        "array_position(%({places})s::bigint[], {id})"
    ),
    r"(?P<text> '[^']*' )": "{text}",
    r"NOT \s IN \s \( SELECT \s value \s FROM \s json_each\( : (?P<none_of> \w+ ) \) \)": "<> ALL (%({none_of})s)",
    r"IN \s \( SELECT \s value \s FROM \s json_each\( : (?P<any_of> \w+ ) \) \)": "= ANY (%({any_of})s)",
    r"FROM \s json_each\( : (?P<list> \w+ ) \)": "FROM json_array_elements(%({list})s::json)",
    r"FROM \s json_each\( (?P<texts> [\w.]+ ) \)": "FROM json_array_elements_text({texts}::json)",
    r"CAST\( (?P<bytes> [\w.]+ ) \s AS \s BLOB \)": "convert_to({bytes}, 'UTF8')",
    r"\b total\( (?P<summed> [^()]+ ) \)": (
        f"coalesce(sum({_LOST_NOTHING}) + sum(({{summed}}) - {_LOST_NOTHING}), 0)"
    ),
    r"\b keyed \s = \s 0": "NOT keyed",
    r"\b julianday\( (?= [:\w.]+ \) \s - ) | (?<= \) \s - \s ) julianday\(": "julian_day(",
    r"(?<! [:\w] ) : (?P<name> [a-z]\w* )": "%({name})s",
    r"\b main\.": "",  # rights are rules of its tables, not views before them
    r"\b COLLATE \s BINARY \b": 'COLLATE "C"',
    r"\b ON \s CONFLICT \s \(": "ON CONFLICT (tenant_id, ",
    r"\b julianday\(": "as_moment(",
    r"\b ifnull\(": "coalesce(",  # an index of SQLite knows its expression by this word
    r"\b char\( (?= 31 )": "chr(",
    r"%": "%%",
    r"\b max\( (?= -?\d )": "greatest(",  # of a number and another value
    r"\b min\( (?= -?\d )": "least(",
}
"""What PostgreSQL writes in another way, and how. Of two that fit, the first counts."""

_DIFFERENT: Final = re.compile(
    " | ".join(f"(?P<rule{number}> {pattern} )" for number, pattern in enumerate(_RULES)), re.VERBOSE
)

_SPELLINGS: Final = {f"rule{number}": spelling for number, spelling in enumerate(_RULES.values())}


@lru_cache(maxsize=1_000)
def spelled(sql: str) -> str:
    """Return a statement of a shared table as PostgreSQL and its driver read it."""
    return _DIFFERENT.sub(_spelled, sql.replace(LASTING, "lasts(metadata, :now)"))


def _spelled(match: re.Match[str]) -> str:
    values = {name: value for name, value in match.groupdict().items() if value is not None}
    for name, value in values.items():
        if name.endswith("_path"):
            values[name] = _path(value)
        elif name == "text":
            values[name] = value.replace("%", "%%")
    return _SPELLINGS[str(match.lastgroup)].format(**values)


def _path(path: str) -> str:
    """Return `memories[0].project` as PostgreSQL writes a path."""
    steps = path.replace("[", ".").replace("]", "").split(".")
    return f"'{{{','.join(steps)}}}'"


@dataclass(frozen=True, slots=True)
class Spelled:
    """A transaction as the tables take it that both stores share."""

    tx: Tx

    @property
    def page(self) -> int:
        return 1_000

    @property
    def now(self) -> str:
        return self.tx.now

    @property
    def owner(self) -> str | None:
        return self.tx.owner

    def key(self, name: str) -> str:
        return self.tx.key(name)

    def name(self, key: str) -> str:
        return self.tx.name(key)

    def array(self, values: Iterable[Any]) -> list[Any]:
        return list(values)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        return self.tx.rows(spelled(sql), values)

    def row(self, sql: str, values: Values = ()) -> Row | None:
        return self.tx.row(spelled(sql), values)

    def one(self, sql: str, values: Values = ()) -> Row:
        return self.tx.one(spelled(sql), values)

    def value(self, sql: str, values: Values = ()) -> Any:
        return self.tx.value(spelled(sql), values)

    def send(self, sql: str, values: Values = ()) -> None:
        self.tx.send(spelled(sql), values)

    def send_each(self, sql: str, values: Iterable[Values]) -> None:
        for value in values:
            self.tx.send(spelled(sql), value)

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None) -> int:
        id = int(self.tx.value(f"SELECT greatest(next_id('{table}'), %s::bigint)", (id,)))
        marks = ", ".join(f"%({column})s" for column in row)
        self.tx.send(
            f"INSERT INTO {table} (id, {listed(tuple(row))}) VALUES (%(id)s, {marks})", {"id": id, **row}
        )
        word_rows.write(self.tx, table, id, row, is_new=True)
        return id

    def insert_each(self, table: str, rows: Sequence[Mapping[str, Any]], or_else: str = "") -> None:
        if not rows:
            return
        table, names = spelled(table), ", ".join(rows[0])
        self.tx.send(
            f"""
            INSERT INTO {table} (id, {names})
            SELECT (SELECT next_id('{table}')) - 1 + place, {names}
            FROM (
                SELECT {names}, ordinality AS place
                FROM json_populate_recordset(NULL::{table}, %(rows)s::json) WITH ORDINALITY
            ) AS given
            {spelled(or_else)}
            """,
            {"rows": json.dumps(rows, ensure_ascii=False)},
        )

    def change(self, sql: str, values: Values = ()) -> int:
        return self.tx.execute(spelled(sql), values)

    def write_words(self, table: str, id: int, row: Mapping[str, Any]) -> None:
        word_rows.write(self.tx, table, id, row)
