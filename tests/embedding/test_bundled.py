"""The model that ships: its files, its windows, its quality, and that it stays off the network."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_server import embedding
from memory_server.embedding import bundled as bundled_module
from memory_server.embedding.bundled import BundledEmbedder

FOLDER = Path(embedding.__file__).with_name("e5_small")
SHA256 = {
    "model.onnx": "805040c4a0a5035941d4b28986d03c2730186f4f4b1697758fac2a4bb951d4df",
    "tokenizer.json": "a96837920b0964eb924c0dbc5fde7802c0bf30a08fcbcae1afd07badcc776348",
}
"""What `scripts/lab/model/build.py` builds; a new build changes the space, and every stored vector with it."""

FINGERPRINT = "80f7e77c02a843b534daeca2f268a98f663205c9106d46824933768d019a6605"
MIXED_STORE = Path(__file__).with_name("mixed_store.json")
ENOUGH = 0.6
TOP = 5

WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, _: opened.append(event) if event.startswith("socket.") else None)
from memory_server.embedding.bundled import BundledEmbedder
embedder = BundledEmbedder()
embedder.embed_questions(["端口是什么"])[0]
embedder.embed_documents(["a", "b" * 3000])
heavy = {"torch", "scipy", "sentence_transformers", "transformers", "tokenizers", "onnx", "wordfreq"} & set(sys.modules)
print(sorted(heavy), opened, file=sys.stderr)
"""


@pytest.mark.parametrize("name", SHA256)
def test_the_files_are_those_that_the_build_makes(name: str) -> None:
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == SHA256[name]


def test_the_fingerprint_changes_only_on_purpose(bundled: BundledEmbedder) -> None:
    assert bundled.space.fingerprint == FINGERPRINT


def test_the_licence_of_the_model_lies_beside_it() -> None:
    notice = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")
    assert "MIT" in notice
    assert "multilingual-e5-small" in notice
    assert "## Modified" in notice


def test_nothing_heavy_is_imported_no_socket_opened_and_nothing_printed() -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "[] []\n")


def test_the_runtime_neither_reports_its_use_nor_keeps_a_device_id(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", WATCHED], env=environment, check=True, capture_output=True)
    assert list(tmp_path.rglob("*")) == []


def test_a_question_and_a_document_are_told_apart(bundled: BundledEmbedder) -> None:
    assert bundled.space.query_prompt != bundled.space.document_prompt
    question, document = bundled.embed_questions(["backup"])[0], bundled.embed_documents(["backup"])[0]
    assert float(question @ document) < 0.9999


def test_the_end_of_a_text_longer_than_the_model_still_counts(bundled: BundledEmbedder) -> None:
    filler = "The weather was fine and nothing else happened on that day. " * 60
    with_end, without = bundled.embed_documents([filler + "The cat is called Mimi." * 20, filler])
    question = bundled.embed_questions(["What is the name of the cat?"])[0]
    assert float(question @ with_end) > float(question @ without) + 0.05


def test_a_text_of_one_window_is_not_changed_by_a_space_at_its_end(bundled: BundledEmbedder) -> None:
    plain, spaced = bundled.embed_documents(["备份在哪里", " 备份在哪里 \n"])
    assert float(plain @ spaced) > 0.99999


@pytest.mark.parametrize(
    "texts",
    [
        ("We use PostgreSQL 15 in production.", "Production runs on PostgreSQL 15."),
        ("备份每天凌晨两点执行。", "每天夜里两点做备份。"),
        ("The database is backed up every night.", "数据库每晚备份。"),
    ],
)
def test_cosines_of_one_meaning_lie_well_above_those_of_unrelated_texts(
    bundled: BundledEmbedder, texts: tuple[str, str]
) -> None:
    one, same, unrelated = bundled.embed_documents([*texts, "The library opens at nine on Sundays."])
    assert float(one @ same) > 0.5
    assert float(one @ unrelated) < 0.35


@pytest.mark.parametrize("asked", ["en", "zh"])
@pytest.mark.parametrize("stored", ["en", "zh"])
def test_questions_find_memories_in_a_store_of_both_languages(
    bundled: BundledEmbedder, asked: str, stored: str
) -> None:
    rows = json.loads(MIXED_STORE.read_text(encoding="utf-8"))
    memories = np.array(bundled.embed_documents([row["memory"] for row in rows]))
    found = [
        place in np.argsort(-(memories @ bundled.embed_questions([row[asked]])[0]))[:TOP]
        for place, row in enumerate(rows)
        if row["language"] == stored
    ]
    assert np.mean(found) >= ENOUGH


def test_a_question_goes_before_what_is_left_of_many_texts(
    bundled: BundledEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that is under way goes on beside it; the next waits until the question is embedded."""
    embed, wait = bundled._run, bundled_module._Turns.wait
    order: list[str] = []
    begun, asked, waiting = threading.Event(), threading.Event(), threading.Event()

    def watched(run: Any) -> Any:
        many = threading.current_thread() is texts
        order.append("run" if many else "question")
        if many and len(order) == 1:
            begun.set()
            assert asked.wait(20)
        elif not many:
            asked.set()
            assert waiting.wait(20)
            order.append("answer")
        return embed(run)

    def waits(turns: Any) -> None:
        if asked.is_set():
            waiting.set()
        wait(turns)

    monkeypatch.setattr(bundled, "_run", watched)
    monkeypatch.setattr(bundled_module._Turns, "wait", waits)
    texts = threading.Thread(target=bundled.embed_documents, args=(["long " * 300] * 3,))
    texts.start()
    assert begun.wait(20)
    bundled.embed_questions(["Where is it?"])
    texts.join()
    assert order == ["run", "question", "answer", "run", "run"]
