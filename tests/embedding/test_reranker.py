"""Re-rankers: what each dialect of an endpoint answers, what is refused, and a cross-encoder."""

import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from memory_server.call import deadline
from memory_server.embedding import endpoint
from memory_server.embedding.cross_encoder import CrossEncoderReranker
from memory_server.embedding.endpoint import RERANKER, Endpoint
from memory_server.embedding.rerank_endpoint import EndpointReranker
from memory_server.errors import Hint, Mend, Unavailable, Unreachable
from tests.embedding.conftest import minilm_folder
from tests.endpoint import Local, broken, local_endpoint, stall, status
from tests.rerankers import DIALECTS, RUBBISH, jina, judged, tei

KEY = "sk-nobody-may-read-this-1234567890"
TEXTS = [f"text {number} {number % 7 * 'gold '}" for number in range(50)]


@pytest.fixture
def local() -> Iterator[Local]:
    with local_endpoint() as server:
        yield server


@pytest.fixture
def reranker(local: Local) -> EndpointReranker:
    return EndpointReranker(Endpoint(local.url, KEY, role=RERANKER), "some-model")


def order(scores: list[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: (-round(scores[place], 6), place))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_is_understood(local: Local, reranker: EndpointReranker, dialect: str) -> None:
    local.answer = DIALECTS[dialect]
    for _ in range(2):
        scores = reranker.scores("Where is the gold?", TEXTS)
        assert order(scores) == order(judged(TEXTS))
    assert {asked.path for asked in local.asked} == {"/v1/rerank"}
    assert {asked.headers["Authorization"] for asked in local.asked} == {f"Bearer {KEY}"}


def test_what_was_understood_last_is_asked_first(local: Local, reranker: EndpointReranker) -> None:
    local.answer = tei
    for _ in range(3):
        reranker.scores("q", TEXTS)
    assert ["texts" in asked.body for asked in local.asked] == [False, *6 * [True]]
    local.answer = jina
    local.asked.clear()
    local.answers.append(status(422, "missing field `documents`"))
    for _ in range(2):
        reranker.scores("q", TEXTS)
    assert ["documents" in asked.body for asked in local.asked] == [False, True, True]


def test_an_endpoint_with_one_model_gets_no_name(local: Local) -> None:
    local.answer = tei
    EndpointReranker(Endpoint(local.url, role=RERANKER), "").scores("q", ["one", "two"])
    assert all("model" not in asked.body for asked in local.asked)
    assert "Authorization" not in local.asked[0].headers


@pytest.mark.parametrize("kind", RUBBISH)
def test_rubbish_is_refused(local: Local, reranker: EndpointReranker, kind: str) -> None:
    local.answer = RUBBISH[kind]
    with pytest.raises(Unreachable, match="no score for each of 3 texts: it is no rerank endpoint") as error:
        reranker.scores("q", TEXTS[:3])
    assert error.value.problem.hints == (Hint(Mend.CHECK_RERANKER),)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (broken, "broke off the connection"),
        (status(500, "out of memory"), "refuses a text \\(HTTP 500\\)"),
        (status(401, "no"), "does not accept the key"),
        (status(404, "what?"), "has no model 'some-model', or is no rerank endpoint"),
        (status(429, "slow down"), "has too much to do"),
        (status(400, "gold is too long"), "refuses a text \\(HTTP 400\\)\\."),
        (status(302, "", Location="http://elsewhere.invalid/"), "no answer of the rerank API"),
    ],
)
def test_a_failure_is_said(local: Local, reranker: EndpointReranker, answer: object, words: str) -> None:
    local.answer = answer  # type: ignore[assignment]
    with deadline.within(5), pytest.raises(Unreachable, match=words) as error:
        reranker.scores("q", TEXTS[:3])
    assert KEY not in str(error.value)
    wait = Hint(Mend.WAIT_FOR_ENDPOINT, {"seconds": 60})
    assert error.value.problem.hints == ((wait,) if "too much" in words else (Hint(Mend.CHECK_RERANKER),))


def test_an_endpoint_that_stalls_costs_the_call_no_more_than_it_has(
    local: Local, reranker: EndpointReranker
) -> None:
    local.answer = stall
    began = time.monotonic()
    with deadline.within(0.2), pytest.raises(Unreachable, match="did not answer within 0 s"):
        reranker.scores("q", TEXTS)
    assert time.monotonic() - began < 10
    local.stop()
    with deadline.within(5), pytest.raises(Unreachable, match="cannot be reached"):
        reranker.scores("q", TEXTS)


def test_the_key_is_kept_from_networks_and_addresses_tell_no_password() -> None:
    with pytest.raises(Unavailable, match="unencrypted") as error:
        Endpoint("http://host.example", KEY, role=RERANKER)
    assert error.value.problem.hints == (Hint(Mend.CHECK_RERANKER),)
    with pytest.raises(Unavailable, match="address of the re-ranker has a user name"):
        Endpoint("https://me:secret@host.example", role=RERANKER)
    with pytest.raises(Unavailable, match="key of the re-ranker has characters"):
        Endpoint("https://host.example", "a b", role=RERANKER)
    assert endpoint.EMBEDDER.path == "embeddings"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of two layers that nobody has trained."""
    return made(tmp_path_factory.mktemp("cross-encoder"), 1)


def made(folder: Path, labels: int) -> Path:
    import_module("torch").manual_seed(7)
    library = import_module("transformers")
    shape: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    tokenizer = library.AutoTokenizer.from_pretrained(str(minilm_folder()))
    config = library.BertConfig(vocab_size=len(tokenizer), num_labels=labels, **shape)
    library.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.sentence_transformers
def test_a_cross_encoder_judges_each_text_with_the_question_as_its_library_does(folder: Path) -> None:
    from sentence_transformers import CrossEncoder

    reranker = CrossEncoderReranker(str(folder))
    texts = [f"{'long ' * (number % 5)}text {number}" for number in range(20)] + ["", "茶", "\ud800"]
    scores = reranker.scores("Where is it?", texts)
    library = CrossEncoder(str(folder), device="cpu").predict(
        [("Where is it?", text.replace("\ud800", "\ufffd")) for text in texts]
    )
    assert scores == pytest.approx(library.tolist(), abs=1e-5)
    assert len(set(scores)) > 10


@pytest.mark.sentence_transformers
def test_a_cross_encoder_without_time_says_so(folder: Path) -> None:
    reranker = CrossEncoderReranker(str(folder))
    with deadline.within(0), pytest.raises(Unreachable, match="has not judged all texts in time"):
        reranker.scores("q", TEXTS)
    reranker._lock.acquire()
    with deadline.within(0.05), pytest.raises(Unreachable, match="in time"):
        reranker.scores("q", TEXTS)


@pytest.mark.sentence_transformers
def test_a_model_that_is_no_re_ranker_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="gives 3 numbers for a text") as error:
        CrossEncoderReranker(str(made(tmp_path, 3)))
    assert error.value.problem.hints == (Hint(Mend.CHECK_RERANKER),)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unavailable, match=r"The re-ranker .* cannot be loaded"):
        CrossEncoderReranker(str(tmp_path / "empty"))
