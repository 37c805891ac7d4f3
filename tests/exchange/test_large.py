"""A large file is read piece by piece, and one that cannot be is refused with its size."""

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from memory_server.errors import Invalid
from memory_server.importing import json_list, opened
from memory_server.importing.formats import recognised
from tests.exchange import sources
from tests.exchange.conftest import Run

VALUES: list[Any] = [
    {"text": "渡轮九点出发", "more": {"deep": [1, 2.5, None, True]}},
    12345678901234567890,
    -0.25e-3,
    'a \\ "quoted" \u2028 text',
    [],
    {},
    None,
    "x" * 5_000,
]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_value_by_value(
    chunk: int, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_list, "CHUNK", chunk)
    for values in (VALUES, [], VALUES[1:2]):
        data = b"\xef\xbb\xbf \n" + json.dumps(values, ensure_ascii=False, indent=indent).encode() + b"\n"
        assert list(json_list.values(io.BytesIO(data), "notes.json")) == values


DAMAGED = {
    "cut": (b'[{"text": "a"}, {"text": "b', "no whole value is there"),
    "no end": (b'[{"text": "a"}, {"text": "b"}', "the end is missing"),
    "no comma": (b'[{"text": "a"} {"text": "b"}]', "a comma is missing"),
    "no value": (b'[{"text": "a"}, ]', "no whole value is there"),
    "deep": (b'[{"text": "a"}, ' + b"[" * 200_000, "nested too deeply"),
    "bytes": (b'[{"text": "a"}, ' + b" " * 100 + b"\xff\xfe]", "is not UTF-8"),
    "long": (b'[{"text": "a"}, "' + b"x" * 3_000 + b'"]', "more than 1,000 characters"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_list_is_told_with_its_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "CHUNK", 100)
    monkeypatch.setattr(json_list, "LARGEST", 1_000)
    data, words = DAMAGED[name]
    values = json_list.values(io.BytesIO(data), "notes.json")
    assert next(values) == {"text": "a"}
    with pytest.raises(Invalid, match=words):
        list(values)


@pytest.mark.parametrize("data", [b"", b"{}", b"[", b"[link](notes.md)", b"[" * 200_000, b"[\0\0\0"])
def test_what_is_no_list_has_no_values(data: bytes) -> None:
    assert list(json_list.values(io.BytesIO(data), "notes.json")) == []


@pytest.mark.parametrize(
    "name", ["claude", "chatgpt", "jsonl", "tax-memories", "memory-mcp-server", "server-memory"]
)
def test_a_source_that_is_read_piece_by_piece_gives_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").mkdir()
    path = sources.SOURCES[name](tmp_path / "source")

    def records() -> list[Any]:
        format_, file = recognised(path)
        assert format_.name == name
        return list(format_.records(file))

    whole = records()
    monkeypatch.setattr(opened, "SMALL", 10)
    monkeypatch.setattr(json_list, "CHUNK", 50)
    assert records() == whole
    assert len(whole) > 0


def test_a_list_takes_less_memory_than_it_has_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    text = "The harbour opens at nine. " * 40
    with path.open("w") as file:
        file.write(
            "[" + ",".join(json.dumps({"id": f"a-long-id-{n}", "text": f"{n} {text}"}) for n in range(9_000))
        )
        file.write("]")
    tracemalloc.start()
    try:
        format_, opened_file = recognised(path)
        count = sum(1 for _ in format_.records(opened_file))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (format_.name, count) == ("jsonl", 9_000)
    assert peak < path.stat().st_size


def test_an_object_that_is_too_large_is_refused_with_its_size(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "notes.json"
    with path.open("wb") as file:
        file.write(b'{\n"results": [')
        file.truncate(opened.LARGEST + 1)
    done = run(tmp_path / "memory.db", "import", path)
    assert (done.code, done.out) == (1, "")
    assert "67,108,865 bytes, and 67,108,864 of one JSON object are read at most. Split it." in done.err
