"""What re-rankers of several makers answer over HTTP, for the local server of `tests/endpoint.py`."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.endpoint import Answer, Asked, Local

WANTED = "gold"
"""The word by which the re-rankers of the tests judge: the more often a text has it, the better."""


def judged(texts: Sequence[str]) -> list[float]:
    return [0.1 + 0.2 * text.lower().count(WANTED) for text in texts]


def _rows(
    texts: Sequence[str], label: str, judge: Callable[[Sequence[str]], list[float]]
) -> list[dict[str, Any]]:
    """One row a text, best first, as all of them answer."""
    rows = [{"index": at, label: score} for at, score in enumerate(judge(texts))]
    return sorted(rows, key=lambda row: -row[label])


def _sent(body: object, code: int = 200) -> tuple[int, dict[str, str], bytes]:
    return code, {}, json.dumps(body).encode()


def jina(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    texts = asked.body["documents"]
    rows = _rows(texts, "relevance_score", judged)
    for row in rows:
        row["document"] = {"text": texts[row["index"]]}
    return _sent(
        {"model": asked.body["model"], "usage": {"total_tokens": 9}, "results": rows[: asked.body["top_n"]]}
    )


def cohere(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    unknown = set(asked.body) - {"model", "query", "documents", "top_n", "max_tokens_per_doc", "priority"}
    if unknown:
        return _sent({"message": f"unknown field: {unknown}"}, 400)
    rows = _rows(asked.body["documents"], "relevance_score", judged)
    return _sent({"id": "1", "results": rows, "meta": {"api_version": {"version": "2"}}})


def llama(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    """The server of llama.cpp: logits, not shares; what has `texts` is answered as text-embeddings-inference does."""
    assert "texts" not in asked.body
    rows = _rows(
        asked.body["documents"], "relevance_score", lambda texts: [9 * score - 8 for score in judged(texts)]
    )
    return _sent({"model": "m", "object": "list", "usage": {"prompt_tokens": 9}, "results": rows})


def tei(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    """text-embeddings-inference, which takes at most 32 texts unless told otherwise."""
    if "texts" not in asked.body:
        return 422, {}, b"Failed to deserialize the JSON body into the target type: missing field `texts`"
    texts = asked.body["texts"]
    if len(texts) > 32:
        error = f"batch size {len(texts)} > maximum allowed batch size 32"
        return _sent({"error": error, "error_type": "Validation"}, 422)
    return _sent(_rows(texts, "score", judged))


DIALECTS: dict[str, Answer] = {"jina": jina, "cohere": cohere, "llama.cpp": llama, "tei": tei}


def rubbish(change: Callable[[list[dict[str, Any]]], object]) -> Answer:
    """An answer whose `results` were changed."""

    def answer(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        rows = [{"index": at, "relevance_score": 0.5} for at in range(len(asked.body["documents"]))]
        return _sent(change(rows))

    return answer


RUBBISH: dict[str, Answer] = {
    "no JSON": lambda local, asked: (200, {}, b"<html>"),
    "another object": rubbish(lambda rows: {"data": rows}),
    "fewer results": rubbish(lambda rows: {"results": rows[1:]}),
    "a text twice": rubbish(lambda rows: {"results": [*rows[:-1], rows[0]]}),
    "one too many": rubbish(lambda rows: {"results": [*rows, rows[0]]}),
    "a text of nobody": rubbish(lambda rows: {"results": [*rows[:-1], {**rows[0], "index": 99}]}),
    "no score": rubbish(lambda rows: {"results": [{"index": row["index"]} for row in rows]}),
    "words": rubbish(lambda rows: {"results": [{**row, "relevance_score": "good"} for row in rows]}),
    "no number": rubbish(
        lambda rows: {"results": [{**row, "relevance_score": float("nan")} for row in rows]}
    ),
    "endless": rubbish(lambda rows: {"results": [{**row, "relevance_score": float("inf")} for row in rows]}),
    "a number": lambda local, asked: (200, {}, b"7"),
    "numbers": rubbish(lambda rows: {"results": [0.5 for _ in rows]}),
}
