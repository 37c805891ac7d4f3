"""The tokenizer of GPT-4o, offline: what a text costs a model."""

import importlib
import warnings
from functools import cache
from typing import Any


def tokens_of(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


@cache
def _encoding() -> Any:
    """Made once: that takes longer than to count the tokens of a book."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        bpe: Any = importlib.import_module("bpe_openai")
        return bpe.get_encoding("o200k_base")
