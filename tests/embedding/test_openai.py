"""The embedder behind an endpoint: over real HTTP, against a server that also fails, stalls and changes its model."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest

from memory_server.call import deadline
from memory_server.embedding import openai
from memory_server.embedding.endpoint import MOST_PAUSE, TRIES, Endpoint, RefusedTexts
from memory_server.embedding.openai import (
    BATCH,
    BATCH_CHARACTERS,
    PROBE,
    SHORTEST,
    STAND_IN,
    OpenAIEmbedder,
    connected,
)
from memory_server.embedding.prompts import ModelPrompts, by_name
from memory_server.errors import Hint, Mend, Unavailable, Unreachable
from tests.endpoint import Asked, Local, broken, embedded, local_endpoint, refusing, says, stall, status

KEY = "sk-local-1234567890"
SECRET = "the fox sleeps in the pantry"
"""What a user stores: no error repeats it."""

Make = Callable[..., OpenAIEmbedder]


@pytest.fixture
def local() -> Iterator[Local]:
    with local_endpoint() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    """The pauses before further requests, which no test waits for."""
    return []


@pytest.fixture
def make(local: Local, pauses: list[float]) -> Make:
    """A connected embedder; what it was asked while it connected is forgotten."""

    def make(model: str = "some-model", key: str | None = None, known: Any = ()) -> OpenAIEmbedder:
        embedder = connected(Endpoint(local.url, key, pauses.append), model, known)
        embedder.embed_questions(["the first request takes the probe along"])[0]
        local.asked.clear()
        return embedder

    return make


def data(*rows: object) -> bytes:
    return json.dumps({"data": rows}).encode()


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), atol=1e-6)


def of(local: Local, *texts: str) -> list[Any]:
    """The unit vectors of texts."""
    vectors = [np.asarray(local.vector(text)) for text in texts]
    return [vector / np.linalg.norm(vector) for vector in vectors]


# The request


def test_a_request_has_the_form_of_openais_api(local: Local, make: Make) -> None:
    make("some-model", KEY).embed_documents(["one", "two"])
    (asked,) = local.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "some-model", "input": [PROBE, "one", "two"], "encoding_format": "float"}


def test_without_a_key_no_header_tells_one(local: Local, make: Make) -> None:
    make().embed_questions(["one"])[0]
    assert "Authorization" not in local.asked[0].headers


def test_the_prompts_of_a_known_model_stand_before_its_texts(local: Local, make: Make) -> None:
    embedder = make("nomic-embed-text:v1.5")
    embedder.embed_questions(["when"])[0]
    embedder.embed_documents(["then"])
    assert local.texts == [["search_query: when"], [PROBE, "search_document: then"]]
    assert (embedder.space.query_prompt, embedder.space.document_prompt) == (
        "search_query: ",
        "search_document: ",
    )


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("text-embedding-3-small", ""),
        ("bge-m3", ""),
        ("text-embedding-nomic-embed-text-v1.5@q8_0", "search_query: "),
        ("hf.co/CompendiumLabs/bge-small-en-v1.5-gguf:Q8_0", "Represent this sentence"),
        ("intfloat/multilingual-e5-large", "query: "),
        ("snowflake-arctic-embed:33m", "Represent this sentence"),
        ("snowflake-arctic-embed2", "query: "),
        ("embeddinggemma", "task: search result"),
    ],
)
def test_prompts_are_known_by_the_names_that_endpoints_use(name: str, query: str) -> None:
    assert by_name(name).query.startswith(query)
    assert (by_name(name) == ModelPrompts("", "")) == (query == "")


def test_texts_go_in_batches_of_few_texts_and_few_characters(local: Local, make: Make) -> None:
    texts = [f"text {n}" for n in range(2 * BATCH + 1)] + ["x" * BATCH_CHARACTERS, "y", "z"]
    vectors = make().embed_documents(texts)
    assert [len(batch) - 1 for batch in local.texts] == [BATCH, BATCH, 1, 1, 2]
    assert {batch[0] for batch in local.texts} == {PROBE}
    assert_same(vectors, of(local, *texts))


def test_an_empty_text_is_sent_as_a_stand_in_because_endpoints_refuse_it(local: Local, make: Make) -> None:
    local.answer = refusing(lambda texts: not all(text.strip() for text in texts))
    assert_same(make().embed_documents(["", " \n", "x"]), of(local, STAND_IN, STAND_IN, "x"))
    assert len(local.asked) == 1


# The answer


def test_the_index_of_an_answer_says_which_text_a_vector_belongs_to(local: Local, make: Make) -> None:
    def backwards(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        code, headers, body = embedded(local, asked)
        return code, headers, data(*reversed(json.loads(body)["data"]))

    embedder = make()
    local.answer = backwards
    assert_same(embedder.embed_documents(["one", "two", "three"]), of(local, "one", "two", "three"))


def test_without_an_index_the_order_of_the_answer_counts(local: Local, make: Make) -> None:
    embedder = make()
    local.answers.append(says(data(*({"embedding": local.vector(text)} for text in (PROBE, "one", "two")))))
    assert_same(embedder.embed_documents(["one", "two"]), of(local, "one", "two"))


ONE = {"index": 0, "embedding": [1.0] * 512}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b"[1, 2]",
        b'{"data": null}',
        b'{"data": "no"}',
        b'{"error": "model is loading"}',
        b"[" * 100_000,
        b"\xff\xfe",
        data(),
        data(ONE),
        data(ONE, ONE),
        data(ONE, {"index": 2, "embedding": [1.0] * 512}),
        data(ONE, {"index": "1", "embedding": [1.0] * 512}),
        data(ONE, {"index": 1}),
        data(ONE, {"index": 1, "embedding": [1.0] * 512}, {"index": 2, "embedding": [1.0] * 512}),
    ],
)
def test_an_answer_that_is_none_is_an_error_and_no_vector(local: Local, make: Make, body: bytes) -> None:
    embedder = make()
    local.answers.append(says(body))
    with pytest.raises(Unreachable, match="no list of 2 embeddings") as error:
        embedder.embed_documents([SECRET])  # and the probe
    assert SECRET not in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "row",
    [[nan] + [1.0] * 511, [None] * 512, "AAAA", [[1.0] * 512], [0.0] * 512, [], [10**400] * 512, {"a": 1}],
)
def test_what_is_no_vector_is_never_taken_for_one(local: Local, make: Make, row: object) -> None:
    embedder = make()
    local.answer = says(data({"index": 0, "embedding": row}))
    with pytest.raises(RefusedTexts, match=r"no vector|no list of numbers"):
        embedder.embed_questions([SECRET])[0]


def test_another_number_of_dimensions_is_an_error(local: Local, make: Make) -> None:
    embedder = make()
    local.dimensions = 256
    with pytest.raises(Unreachable, match=r"another model .* 256 numbers, not 512"):
        embedder.embed_documents(["one"])
    with pytest.raises(Unreachable, match="another model"):
        embedder.embed_questions(["one"])[0]


def test_another_model_with_the_same_dimensions_is_noticed_before_a_vector_is_kept(
    local: Local, make: Make
) -> None:
    embedder = make()
    local.model = 1
    with pytest.raises(Unreachable, match="another vector for the same text"):
        embedder.embed_documents(["one"])


def test_questions_look_for_another_model_once_a_minute(
    local: Local, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = make()
    local.model = 1
    embedder.embed_questions(["one"])[0]
    monkeypatch.setattr(openai, "CHECK", -1.0)
    with pytest.raises(Unreachable, match="another vector for the same text"):
        embedder.embed_questions(["two"])[0]
    assert local.texts == [["one"], [PROBE, "two"]]


# The space


def test_the_space_outlives_a_restart_though_endpoints_never_repeat_themselves_exactly(
    local: Local, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = make().space
    exact = local.vector
    noise = np.random.default_rng(1).normal(0, 0.002, 512)
    monkeypatch.setattr(Local, "vector", lambda self, text: list(np.asarray(exact(text)) + noise))
    assert make(known=[before]).space == before
    assert make().space.fingerprint != before.fingerprint


def test_the_same_model_at_another_address_is_the_same_space(local: Local, make: Make) -> None:
    before = make().space
    with local_endpoint() as other:
        assert connected(Endpoint(other.url), "some-model", [before]).space == before


@pytest.mark.parametrize("change", ["model", "dimensions", "name"])
def test_another_model_is_another_space(
    local: Local, make: Make, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = make().space
    local.model, local.dimensions = int(change == "model"), 256 if change == "dimensions" else 512
    after = make("other" if change == "name" else "some-model", known=[before]).space
    assert after.fingerprint != before.fingerprint
    assert ("serves another model under the name" in caplog.text) == (change != "name")


def test_an_embedder_of_a_known_space_asks_nothing_before_it_embeds_and_then_checks_the_model(
    local: Local, make: Make
) -> None:
    space = make().space
    embedder = OpenAIEmbedder(Endpoint(local.url), space)
    assert local.asked == []
    assert_same(embedder.embed_questions(["one"])[0], of(local, "one")[0])
    assert local.texts == [[PROBE, "one"]]
    with pytest.raises(Unreachable, match="another vector"):
        OpenAIEmbedder(Endpoint(local.url), replace(space, revision="01" * 32)).embed_questions(["one"])[0]


# Failures


@pytest.mark.parametrize(
    ("answers", "waited"),
    [
        ([status(500), status(503)], [0.5, 1.0]),
        ([status(429, "slow down", Retry_After="7")], [7.0]),
        ([status(429, Retry_After="0"), broken], [0.0, 0.0]),
        ([status(500), status(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT")], [0.5, 1.0]),
    ],
)
def test_a_failure_that_may_pass_is_tried_again(
    local: Local, make: Make, pauses: list[float], answers: list[Any], waited: list[float]
) -> None:
    embedder = make()
    local.answers.extend(answers)
    assert_same(embedder.embed_documents(["one"]), of(local, "one"))
    assert pauses == waited


def test_tries_have_an_end(local: Local, make: Make, pauses: list[float]) -> None:
    embedder = make()
    local.answer = status(429, "quota")
    with pytest.raises(Unreachable, match="HTTP 429") as error:
        embedder.embed_documents([SECRET])
    assert error.value.problem.hints == (Hint(Mend.WAIT_FOR_ENDPOINT, {"seconds": 60}),)
    assert (len(local.asked), pauses) == (TRIES, [0.5, 1.0])


def test_a_long_pause_is_not_waited_for(local: Local, make: Make, pauses: list[float]) -> None:
    embedder = make()
    local.answer = status(429, Retry_After=str(MOST_PAUSE + 1.5))
    with pytest.raises(Unreachable) as error:
        embedder.embed_documents(["one"])
    assert error.value.problem.hints == (Hint(Mend.WAIT_FOR_ENDPOINT, {"seconds": MOST_PAUSE + 2}),)
    assert (len(local.asked), pauses) == (1, [])


def test_nobody_waits_for_a_second_try(local: Local, make: Make, pauses: list[float]) -> None:
    embedder = make()
    local.answer = status(429)
    with deadline.within(5), pytest.raises(Unreachable):
        embedder.embed_questions(["one"])[0]
    assert (len(local.asked), pauses) == (1, [])


def test_a_connection_that_was_closed_meanwhile_is_opened_again_at_once(local: Local, make: Make) -> None:
    embedder = make()
    local.answers.append(broken)
    with deadline.within(5):
        assert_same(embedder.embed_questions(["one"])[0], of(local, "one")[0])


@pytest.mark.parametrize(
    ("answer", "key", "text", "mend"),
    [
        (
            status(401, f"Incorrect API key provided: {KEY}"),
            KEY,
            "does not accept the key (HTTP 401)",
            Mend.SET_ENDPOINT_KEY,
        ),
        (status(401), None, "wants a key, and none is set (HTTP 401)", Mend.SET_ENDPOINT_KEY),
        (status(403), KEY, "does not accept the key (HTTP 403)", Mend.SET_ENDPOINT_KEY),
        (
            status(404, f'model "m" not found, try pulling it first. {KEY} ' + "x" * 500),
            KEY,
            '(HTTP 404): model "m" not found, try pulling it first. … x',
            Mend.CHECK_ENDPOINT,
        ),
        (status(404, b"404 page not found"), None, "(HTTP 404): 404 page not found.", Mend.CHECK_ENDPOINT),
        (
            status(400, "this model does not support embeddings"),
            None,
            "this model does not support",
            Mend.CHECK_ENDPOINT,
        ),
        (status(301, Location="http://127.0.0.1:1/"), KEY, "answers HTTP 301", Mend.CHECK_ENDPOINT),
        (status(500, b"\x1b[31mred\nalert"), None, "(HTTP 500): ", Mend.CHECK_ENDPOINT),
        (says(b"{}"), None, "no list of 1 embeddings", Mend.CHECK_ENDPOINT),
    ],
)
def test_an_error_says_in_one_line_what_is_wrong_and_what_mends_it(
    local: Local, answer: Any, key: str | None, text: str, mend: Mend
) -> None:
    local.answer = answer
    with pytest.raises(Unreachable) as error:
        connected(Endpoint(local.url, key), "m", [])
    said = str(error.value)
    assert said.startswith(f"{local.url} ")
    assert text in said
    assert error.value.problem.hints == (Hint(mend),)
    assert len(said) < 400
    assert len(said.splitlines()) == 1
    assert "\x1b" not in said
    assert KEY not in said


def test_where_nothing_listens_the_error_says_so(local: Local) -> None:
    local.stop()
    with pytest.raises(Unreachable, match=r"cannot be reached \(.*refused.*\)") as error:
        connected(Endpoint(local.url, KEY), "m", [])
    assert error.value.problem.hints == (Hint(Mend.CHECK_ENDPOINT),)


def test_what_an_endpoint_says_about_a_text_is_not_repeated_because_it_may_quote_the_text(
    local: Local, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = make(key=KEY)
    local.answer = lambda local, asked: status(400, f"cannot embed {asked.texts}")(local, asked)
    with pytest.raises(RefusedTexts) as error:
        embedder.embed_documents([SECRET])
    assert "cannot embed" in str(error.value)
    assert STAND_IN in str(error.value)
    assert SECRET not in str(error.value) + caplog.text
    assert KEY not in str(error.value) + caplog.text


# Texts that are refused


@pytest.mark.parametrize("code", [400, 413, 422, 500])
def test_a_text_that_is_too_long_is_shortened_and_its_batch_mates_are_whole(
    local: Local, make: Make, code: int
) -> None:
    embedder = make()
    local.answer = refusing(lambda texts: max(map(len, texts)) > 1000, code)
    long = "word " * 700
    vectors = embedder.embed_documents(["one", long, "two", "three"])
    assert_same(vectors, of(local, "one", long.strip()[: len(long.strip()) // 4], "two", "three"))


def test_a_question_that_is_too_long_is_shortened_too(local: Local, make: Make) -> None:
    embedder = make()
    local.answer = refusing(lambda texts: max(map(len, texts)) > 1000)
    with deadline.within(5):
        assert_same(embedder.embed_questions(["x" * 1600])[0], of(local, "x" * 800)[0])


def test_too_many_texts_at_once_are_asked_in_halves(local: Local, make: Make) -> None:
    embedder = make()
    local.answer = refusing(lambda texts: len(texts) > 8, 422)
    texts = [f"text {n}" for n in range(BATCH)]
    assert_same(embedder.embed_documents(texts), of(local, *texts))


def test_a_text_that_is_refused_in_any_length_blocks_nothing(
    local: Local, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = make()
    local.answer = refusing(lambda texts: any("poison" in text for text in texts), 500)
    vectors = embedder.embed_documents(["one", "poison " * 100, "two"])
    assert_same(vectors, of(local, "one", STAND_IN, "two"))
    assert f"refuses a text of {len('poison ' * 100) - 1} characters in any length" in caplog.text
    assert "poison" not in caplog.text
    assert min(len(text) for texts in local.texts for text in texts if "poison" in text) >= SHORTEST // 2


def test_an_endpoint_that_refuses_everything_is_asked_twice_and_not_for_every_length(
    local: Local, make: Make
) -> None:
    embedder = make()
    local.answer = status(400, "no embeddings today")
    with pytest.raises(RefusedTexts, match="no embeddings today"):
        embedder.embed_documents(["word " * 1000, "two"])
    assert len(local.asked) == 2


# Time


def took(act: Callable[[], object], seconds: float) -> float:
    """How long a call takes that has so many seconds and fails."""
    began = time.monotonic()
    with deadline.within(seconds), pytest.raises(Unreachable, match="did not answer within"):
        act()
    return time.monotonic() - began


def test_a_call_for_which_somebody_waits_ends_in_time_though_the_endpoint_stalls(
    local: Local, make: Make
) -> None:
    embedder = make()
    local.answer = stall
    assert 0.3 <= took(lambda: embedder.embed_questions(["one"])[0], 0.3) < 10
    assert took(lambda: embedder.embed_documents(["one"]), 0.0) < 10


def test_a_call_ends_in_time_though_the_answer_comes_byte_by_byte(local: Local, make: Make) -> None:
    embedder = make()
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        end = threading.Event()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not end.wait(0.05):
                    try:
                        connection.sendall(b"X: y\r\n")
                    except OSError:
                        break

        dripping = threading.Thread(target=drip)
        dripping.start()
        slow = OpenAIEmbedder(Endpoint(url), embedder.space)
        assert took(lambda: slow.embed_questions(["one"])[0], 0.3) < 10
        end.set()
        dripping.join()


def test_a_call_ends_in_time_though_a_name_cannot_be_looked_up(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = make()
    end = threading.Event()

    def look_up(*_: object, **__: object) -> Any:
        end.wait(30)
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    far = OpenAIEmbedder(Endpoint("https://embeddings.invalid/v1"), embedder.space)
    try:
        assert took(lambda: far.embed_questions(["one"])[0], 0.3) < 10
    finally:
        end.set()


# Where the key and the texts go


@pytest.mark.parametrize(
    "url", ["http://192.0.2.7:8000/v1", "http://gpu.example/v1", "http://localhost.example/v1"]
)
def test_a_key_never_goes_unencrypted_over_the_network(url: str) -> None:
    with pytest.raises(Unavailable, match="unencrypted") as error:
        Endpoint(url, KEY)
    assert error.value.problem.hints == (Hint(Mend.ENCRYPT_ENDPOINT),)
    assert KEY not in str(error.value)
    Endpoint(url)


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"])
def test_on_this_machine_a_key_needs_no_encryption(url: str) -> None:
    Endpoint(url, KEY)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@host.example/v1",
        "https://host.example/v1?key=hunter2",
        "https://h.example/v1#hunter2",
    ],
)
def test_an_address_that_may_hold_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(Unavailable, match="user name") as error:
        Endpoint(url)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("key", ["with space", "käse", "new\nline"])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(Unavailable, match="characters that no key has") as error:
        Endpoint("https://host.example/v1", key)
    assert key not in str(error.value)


def test_a_redirection_gets_neither_the_key_nor_the_texts(local: Local, make: Make) -> None:
    with local_endpoint() as other:
        local.answer = status(307, Location=f"{other.url}/embeddings")
        with pytest.raises(Unreachable, match="HTTP 307"):
            connected(Endpoint(local.url, KEY), "m", [])
        assert other.asked == []


def test_what_goes_to_this_machine_goes_through_no_proxy(
    local: Local, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_endpoint() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        make().embed_questions(["one"])[0]
        assert proxy.asked == []


def test_nothing_is_asked_before_the_embedder_is_used(local: Local) -> None:
    Endpoint(local.url, KEY)
    assert local.asked == []
