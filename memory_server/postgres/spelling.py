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

_DIFFERENT: Final = re.compile(
    r"""
    json_set\( (?P<changed> [\w.]+ ) , \s '\$\. (?P<place> [^']+ ) ' , \s : (?P<new> \w+ ) \)
    | json_extract\( (?P<json> [\w.]+ ) , \s '\$\. (?P<path> [^']+ ) ' \)
    | (?P<of> [\w.]+ ) \s (?P<arrow> ->>? ) \s '\$\. (?P<way> [^']+ ) '
    | strftime\( '%Y-%m-%dT%H:%M:%fZ', \s (?P<stamped> [\w.]+ ) \)
    | (?P<parsed> \b parts \s AS \s parts \b )
    | CROSS \s JOIN \s json_each\( (?P<elements> \w+ ) \) \s AS \s c \b
    | \( SELECT \s key \s FROM \s json_each\( : (?P<places> \w+ ) \) \s WHERE \s value \s = \s (?P<id> \w+ ) \)
    | (?P<text> '[^']*' )
    | (?P<without> NOT \s )? IN \s \( SELECT \s value \s FROM \s json_each\( : (?P<array> \w+ ) \) \)
    | FROM \s json_each\( (?: : (?P<list> \w+ ) | (?P<texts> [\w.]+ ) ) \)
    | CAST\( (?P<bytes> [\w.]+ ) \s AS \s BLOB \)
    | \b total\( (?P<summed> [^()]+ ) \)
    | (?P<flag> \b keyed ) \s = \s 0
    | (?P<days> \b julianday\( (?= [:\w.]+ \) \s - ) | (?<= \) \s - \s ) julianday\( )
    | (?<! [:\w] ) : (?P<name> [a-z]\w* )
    | (?P<word>
        \b main\. | \b COLLATE \s BINARY \b
        | \b ON \s CONFLICT \s \( | \b julianday\( | \b ifnull\( | \b char\( (?=31) | %
        | \b (?: max | min ) \( (?= -?\d )
    )
    """,
    re.VERBOSE,
)

_WORDS: Final = {
    "main.": "",  # rights are rules of its tables, not views before them
    "COLLATE BINARY": 'COLLATE "C"',
    "ON CONFLICT (": "ON CONFLICT (tenant_id, ",
    "julianday(": "as_moment(",
    "ifnull(": "coalesce(",  # an index of SQLite knows its expression by this word
    "char(": "chr(",
    "%": "%%",
    "max(": "greatest(",  # of a number and another value
    "min(": "least(",
}


@lru_cache(maxsize=1_000)
def spelled(sql: str) -> str:
    """Return a statement of a shared table as PostgreSQL and its driver read it."""
    return _DIFFERENT.sub(_spelled, sql.replace(LASTING, "lasts(metadata, :now)"))


def _spelled(match: re.Match[str]) -> str:
    parts = match.groupdict()
    if parts["changed"]:
        path = _path(parts["place"])
        return f"jsonb_set({parts['changed']}::jsonb, {path}, to_jsonb(%({parts['new']})s::text))::text"
    if parts["json"]:
        return f"(readable_json({parts['json']}) #>> {_path(parts['path'])})"
    if parts["of"]:
        return f"({parts['of']} {'#>>' if parts['arrow'] == '->>' else '#>'} {_path(parts['way'])})"
    if parts["stamped"]:
        return f"as_moment({parts['stamped']})"
    if parts["parsed"]:
        return "readable_json(parts) AS parts"
    if parts["elements"]:
        return f"CROSS JOIN LATERAL jsonb_array_elements({parts['elements']}) AS c (value)"
    if parts["places"]:
        return f"array_position(%({parts['places']})s::bigint[], {parts['id']})"
    if parts["text"]:
        return str(parts["text"]).replace("%", "%%")
    if parts["array"]:
        return f"{'<> ALL' if parts['without'] else '= ANY'} (%({parts['array']})s)"
    if parts["list"]:
        return f"FROM json_array_elements(%({parts['list']})s::json)"
    if parts["texts"]:
        return f"FROM json_array_elements_text({parts['texts']}::json)"
    if parts["bytes"]:
        return f"convert_to({parts['bytes']}, 'UTF8')"
    if parts["summed"]:
        return _sum(f"({parts['summed']})")
    if parts["flag"]:
        return f"NOT {parts['flag']}"
    if parts["days"]:
        return "julian_day("
    if parts["name"]:
        return f"%({parts['name']})s"
    return _WORDS[parts["word"]]


def _sum(number: str) -> str:
    """Return a sum in two parts, of which the first loses nothing: it is SQLite's, in whichever order it is made."""
    upper = f"(floor({number} * 1048576::double precision) / 1048576::double precision)"
    return f"coalesce(sum({upper}) + sum({number} - {upper}), 0)"


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
