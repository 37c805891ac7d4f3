"""Each table of both stores offers what its contract says, as mypy sees it."""

import subprocess
import sys
from pathlib import Path

import pytest

from memory_server.storage import tables
from memory_server.storage.tx import TableOf, Tx
from tests.conftest import ROOT

STORES = ("memory_server.sqlite", "memory_server.postgres")
NAMES = [name for name, table in vars(Tx).items() if isinstance(table, TableOf)]

CHECKED = """
from {store}.transaction import Transaction as Tx{number}
from {module} import {kind} as Table{number}
def check{number}(all_tables: WriteTx, tx: Tx{number}) -> None:
    contract = all_tables.{name}
    contract = Table{number}(tx{statements})
"""


def test_each_table_offers_what_its_contract_says(tmp_path: Path) -> None:
    program = "from memory_server.storage.tx import WriteTx\n"
    for number, (store, name) in enumerate((store, name) for store in STORES for name in NAMES):
        kind = tables.find(store, name)
        program += CHECKED.format(
            store=store,
            name=name,
            module=kind.__module__,
            kind=kind.__name__,
            number=number,
            statements=".statements" if tables.is_shared(kind) else "",
        )
    path = tmp_path / "checked.py"
    path.write_text(program)
    mypy = [sys.executable, "-m", "mypy", str(path)]
    done = subprocess.run(mypy, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "Success: no issues found in 1 source file\n"


def test_a_name_that_no_table_has_is_told() -> None:
    with pytest.raises(AttributeError, match=r"memory_server\.sqlite has no table nothing"):
        tables.find("memory_server.sqlite", "nothing")
