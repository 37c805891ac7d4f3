"""The prompts that models saw in training before a question and before a stored text, by the names of the models."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelPrompts:
    """The texts that are put before a question and before a stored text."""

    query: str
    document: str


_ENGLISH = "Represent this sentence for searching relevant passages: "

_BY_NAME = (
    (re.compile(r"\be5-(?!.*instruct)"), ModelPrompts("query: ", "passage: ")),
    (re.compile(r"\bbge-(small|base|large)-en"), ModelPrompts(_ENGLISH, "")),
    (
        re.compile(r"\bbge-(small|base|large)-zh"),
        ModelPrompts("为这个句子生成表示以用于检索相关文章\uff1a", ""),
    ),
    (re.compile(r"\bnomic-embed-text"), ModelPrompts("search_query: ", "search_document: ")),
    (re.compile(r"\bmxbai-embed"), ModelPrompts(_ENGLISH, "")),
    (re.compile(r"\barctic-embed(2|.*-v2)"), ModelPrompts("query: ", "")),
    (re.compile(r"\barctic-embed"), ModelPrompts(_ENGLISH, "")),
    (
        re.compile(r"\bembedding-?gemma"),
        ModelPrompts("task: search result | query: ", "title: none | text: "),
    ),
)
"""Prompts of models that were trained with them but do not name them in their settings (from their model
cards).
"""


def by_name(name_or_path: str) -> ModelPrompts:
    """The prompts that are known for a model of this name; the last part of a path or of `owner/name` counts."""
    name = re.split(r"[/\\]", name_or_path.rstrip("/\\"))[-1].lower()
    return next((prompts for pattern, prompts in _BY_NAME if pattern.search(name)), ModelPrompts("", ""))
