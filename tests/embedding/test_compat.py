"""The parts of transformers that its documentation does not promise are as they were when they were checked."""

from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memory_server.embedding.compat import hub_commit

CHECKED = "5.23.0"


def test_transformers_is_the_version_that_was_checked() -> None:
    pytest.importorskip("transformers")
    assert version("transformers") == CHECKED


def test_transformers_records_the_commit_of_a_model_in_its_configuration() -> None:
    pytest.importorskip("transformers")
    config: Any = import_module("transformers").PretrainedConfig()
    config._commit_hash = "0123abc"
    assert "_commit_hash" not in config.to_dict()
    model = SimpleNamespace(transformers_model=SimpleNamespace(config=config))
    assert hub_commit(cast(Any, model)) == "0123abc"


def test_sentence_transformers_has_the_model_of_transformers() -> None:
    library = pytest.importorskip("sentence_transformers")
    assert isinstance(library.SentenceTransformer.transformers_model, property)


def test_a_model_without_transformers_has_no_commit() -> None:
    assert hub_commit(cast(Any, SimpleNamespace(transformers_model=None))) is None
