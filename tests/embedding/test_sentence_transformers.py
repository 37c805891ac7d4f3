"""The embedder for models that a user names: prompts, its errors, what it measures.

Tests marked `needs_library` run with `scripts/test --all` only: the library brings torch.
"""

import sys
from pathlib import Path

import pytest

from memory_server.cli import hints as cli
from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.embedding.chinese import understands_chinese
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder
from memory_server.errors import Hint, Mend, Unavailable, told
from memory_server.mcp import hints as mcp
from tests.embedding.conftest import minilm_folder

needs_library = pytest.mark.sentence_transformers


@needs_library
def test_an_english_model_does_not_understand_chinese(minilm: Embedder) -> None:
    assert not minilm.space.chinese


def test_a_multilingual_model_understands_chinese(bundled: BundledEmbedder) -> None:
    assert understands_chinese(bundled.embed_documents)


def test_shared_characters_are_not_taken_for_understanding() -> None:
    assert not understands_chinese(HashingEmbedder().embed_documents)


@needs_library
def test_the_space_of_a_folder_does_not_depend_on_its_place(minilm: Embedder, tmp_path: Path) -> None:
    moved = tmp_path / "model"
    moved.symlink_to(minilm_folder(), target_is_directory=True)
    assert SentenceTransformersEmbedder(str(moved)).space == minilm.space


@needs_library
@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("multilingual-e5-small", "query: ", "passage: "),
        ("bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-base-zh-v1.5", "为这个句子生成表示以用于检索相关文章\uff1a", ""),
        ("bge-m3", "", ""),
        ("multilingual-e5-large-instruct", "", ""),
    ],
)
def test_prompts_are_known_by_the_name_of_a_model_that_brings_none(
    tmp_path: Path, name: str, query: str, document: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for part in minilm_folder().iterdir():
        (folder / part.name).symlink_to(part)
    space = SentenceTransformersEmbedder(str(folder), local_files_only=True).space
    assert (space.model, space.query_prompt, space.document_prompt) == (name, query, document)


@needs_library
@pytest.mark.parametrize("name", ["nobody/no-such-model", "no such model"])
def test_a_model_that_is_nowhere_is_unavailable(name: str) -> None:
    with pytest.raises(Unavailable, match=name):
        SentenceTransformersEmbedder(name, local_files_only=True)


@needs_library
def test_a_folder_without_a_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be loaded") as error:
        SentenceTransformersEmbedder(str(tmp_path))
    assert error.value.problem.hints == (Hint(Mend.USE_ANOTHER_EMBEDDER),)


def test_without_the_package_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(Unavailable, match="The embedding model 'any' needs sentence-transformers") as error:
        SentenceTransformersEmbedder("any")
    assert [hint.mend for hint in error.value.problem.hints] == [Mend.INSTALL_EXTRA]
    for words in (cli.WORDS, mcp.WORDS):
        assert "sentence-transformers]" in str(told([error.value.problem], words))


@needs_library
def test_loading_and_embedding_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    SentenceTransformersEmbedder(str(minilm_folder()), local_files_only=True).embed_questions(["hello"])[0]
    assert capfd.readouterr().out == ""
