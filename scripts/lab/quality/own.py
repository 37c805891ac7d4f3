"""Reads the set of this repository, `own.jsonl`: a line is a store, a memory or a question."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from quality import data
from quality.data import JSON, Store

FILE = Path(__file__).with_name("own.jsonl")


def stores(*, held: bool) -> Iterator[Store]:
    """The stores with the questions that were put aside, or with the others; a store without any is left out."""
    for store, corpus in zip(data.stores(read()), read()["corpora"], strict=True):
        chosen = {question["id"] for question in corpus["questions"] if (question["split"] == "held") == held}
        questions = tuple(question for question in store.questions if question.id in chosen)
        if questions:
            yield replace(store, questions=questions)


def read() -> JSON:
    """The file in the form of all sets. A long text is a list of lines there; a question is numbered in its store."""
    first, *lines = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    corpora: list[JSON] = []
    for line in lines:
        if "store" in line:
            corpora.append({"id": line["store"], "split": line.get("split"), "memories": [], "questions": []})
        elif "ask" in line:
            corpora[-1]["questions"].append(_question(line, corpora[-1]))
        else:
            text = line["text"] if isinstance(line["text"], str) else "\n".join(line["text"])
            corpora[-1]["memories"].append({**line, "text": text})
    return {"name": "own", **first, "corpora": corpora}


def _question(line: JSON, corpus: JSON) -> JSON:
    """`gold` may be a list of ids where each is a piece of its own."""
    gold = [[piece] if isinstance(piece, str) else piece for piece in line["gold"]]
    id = f"{corpus['id']}-{len(corpus['questions']) + 1}"
    return {**line, "id": id, "text": line["ask"], "gold": gold, "split": line.get("split", corpus["split"])}
