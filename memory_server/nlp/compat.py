"""The parts of jieba that its documentation does not promise, all in one place.

Checked with jieba 0.42.1; tests/nlp/test_compat.py names that version.
"""

import logging
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def load_tokenizer(cache: Path) -> Any:
    """A tokenizer with its dictionary loaded, which keeps its cache in the folder `cache`.

    jieba reads the folder from the attribute `tmp_dir`; no parameter sets it.
    """
    with warnings.catch_warnings():
        # jieba has invalid escapes in its regular expressions and may import pkg_resources; both only cause warnings.
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = str(cache)
    tokenizer.initialize()
    return tokenizer


@cache
def idf_table() -> Mapping[str, float]:
    """jieba's inverse document frequencies, read from its data file once a process.

    Importing `jieba.analyse` instead would also load a tagger, which needs 100 MB.
    """
    lines = (files("jieba") / "analyse" / "idf.txt").read_text(encoding="utf-8").splitlines()
    return {word: float(idf) for word, _, idf in (line.partition(" ") for line in lines)}
