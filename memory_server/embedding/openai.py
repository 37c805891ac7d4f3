"""The embedder for a model behind an endpoint that speaks OpenAI's embeddings API, here or elsewhere."""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from memory_server.call import deadline
from memory_server.domain.embedding import Space, Vector
from memory_server.embedding.chinese import understands_chinese
from memory_server.embedding.endpoint import Endpoint, RefusedTexts, in_time
from memory_server.embedding.fingerprint import fingerprinted
from memory_server.embedding.prompts import by_name
from memory_server.embedding.unicode import well_formed
from memory_server.errors import Mend, Unreachable

PROVIDER = "openai"

PROBE = "The deploy key lives in the vault; 部署密钥存放在保险库里。 def find(id: int) -> Memory | None: ..."
"""A text whose vector tells models apart. Another one would open a new space for every file."""

SKETCH = 32
"""Numbers in the sketch of the probe's vector that a space keeps, a byte each."""

ALIKE = 0.99
"""The least cosine of two sketches of one model. Endpoints do not repeat themselves exactly: OpenAI's vectors differ in
the fourth decimal from call to call. Two models are far below."""

CHECK = 60.0
"""Seconds after which a question takes the probe along once more: another model under the same name is noticed. What is
kept is always checked, so that no vector of another model is written."""

BATCH = 16
"""Texts in one request, the probe not counted: half of what text-embeddings-inference takes unless told otherwise."""

BATCH_CHARACTERS = 8_000
"""Characters in one request: on a slow CPU some 10 s of work. A question may have to wait behind it."""

SHORTEST = 200
"""Characters of a text that is refused and not shortened any further."""

STAND_IN = "(empty)"
"""What is sent for an empty text, which endpoints refuse, and for one that is refused in any length."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Request:
    """The end of a call, and whether its vectors are stored."""

    ends: float
    stored: bool


class OpenAIEmbedder:
    """Embeds over HTTP. A text that the endpoint refuses is shortened: its beginning counts.

    Where `call.deadline` says that somebody waits, a call ends in time, whatever the endpoint does.
    """

    def __init__(self, endpoint: Endpoint, space: Space) -> None:
        """An embedder of a space that is known. Asks nothing; the first request checks that the model is the same."""
        self._endpoint = endpoint
        self._space = space
        self._checked = -inf

    @property
    def space(self) -> Space:
        return self._space

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(self._space.query_prompt, texts, stored=False)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(self._space.document_prompt, texts, stored=True)

    def _embed(self, prompt: str, texts: Sequence[str], *, stored: bool) -> list[Vector]:
        sent = [prompt + (well_formed(text).strip() or STAND_IN) for text in texts]

        def embed(ends: float) -> list[Vector]:
            call = _Request(ends, stored)
            return [vector for batch in _batches(sent) for vector in self._batch(batch, call)]

        return in_time(embed, self._endpoint) if deadline.is_set() else embed(inf)

    def _batch(self, texts: list[str], call: _Request) -> list[Vector]:
        try:
            return self._ask(texts, call)
        except RefusedTexts:
            # Either the endpoint refuses these texts, or it refuses everything: then this raises, and says why.
            self._ask([STAND_IN], call, ours=True)
            return self._in_parts(texts, call)

    def _in_parts(self, texts: list[str], call: _Request) -> list[Vector]:
        """Return the vectors of texts that are refused, one or all together: tries each half, then shortens
        each text.
        """
        if len(texts) == 1:
            return [self._shortened(texts[0], call)]
        middle = len(texts) // 2
        vectors: list[Vector] = []
        for half in (texts[:middle], texts[middle:]):
            try:
                vectors += self._ask(half, call)
            except RefusedTexts:
                vectors += self._in_parts(half, call)
        return vectors

    def _shortened(self, text: str, call: _Request) -> Vector:
        """Return the vector of as much of a text as the endpoint takes; of the stand-in where it takes nothing
        of it.
        """
        characters = len(text)
        while len(text) > SHORTEST:
            text = text[: len(text) // 2]
            try:
                return self._ask([text], call)[0]
            except RefusedTexts:
                continue
        logger.warning(
            "%s refuses a text of %d characters in any length: only its words find it",
            self._endpoint.url,
            characters,
        )
        return self._ask([STAND_IN], call, ours=True)[0]

    def _ask(self, texts: list[str], call: _Request, *, ours: bool = False) -> list[Vector]:
        """Return the vectors of texts, after a check that the model is still the same.

        Raises:
            RefusedTexts: the endpoint does not take these texts.
            Unreachable: it does not answer, or with another model.
        """
        now = time.monotonic()
        due = call.stored or now > self._checked + CHECK
        sent = [PROBE, *texts] if due else texts
        vectors = _vectors_of(self._endpoint, self._space.model, sent, call.ends - now, ours=ours)
        for vector in vectors:
            if len(vector) != self._space.dimensions:
                self._another(f"its vectors have {len(vector)} numbers, not {self._space.dimensions}")
        if due:
            if not _alike(_sketch(vectors[0]), self._space.revision):
                self._another("it gives another vector for the same text")
            self._checked = now
        return vectors[1:] if due else vectors

    def _another(self, how: str) -> None:
        raise Unreachable(
            f"{self._endpoint.url} serves another model under the name {self._space.model!r} than the one that made "
            f"the embeddings: {how}.",
            Mend.CHECK_ENDPOINT,
        )


def connected(endpoint: Endpoint, model: str, spaces: Sequence[Space]) -> OpenAIEmbedder:
    """Ask the endpoint for a vector, which tells whether its model is the one of a space that the file knows.

    Raises:
        Unreachable: it does not answer.
    """
    (vector,) = _vectors_of(endpoint, model, [PROBE], ours=True)
    prompts, sketch = by_name(model), _sketch(vector)
    new = Space(
        provider=PROVIDER,
        model=model,
        revision=sketch,
        dimensions=len(vector),
        query_prompt=prompts.query,
        document_prompt=prompts.document,
        transform="as much as the endpoint takes",
        chinese=False,
        lexical=False,
        fingerprint="",
    )
    for space in spaces:
        if replace(space, revision=sketch, chinese=False, fingerprint="") == new and _alike(
            sketch, space.revision
        ):
            return OpenAIEmbedder(endpoint, space)
    if any(space.provider == PROVIDER and space.model == model for space in spaces):
        logger.warning(
            "%s serves another model under the name %r: all is embedded again", endpoint.url, model
        )
    understands = understands_chinese(OpenAIEmbedder(endpoint, new).embed_documents)
    return OpenAIEmbedder(endpoint, fingerprinted(replace(new, chinese=understands), ""))


def _vectors_of(
    endpoint: Endpoint, model: str, texts: Sequence[str], seconds: float = inf, *, ours: bool = False
) -> list[Vector]:
    """Return the vectors of texts, in order, each of length 1. `seconds` and `ours` as for `Endpoint.post`.

    Raises:
        RefusedTexts: it does not take these texts.
        Unreachable: it does not answer, or not as it should.
    """
    request = {"model": model, "input": list(texts), "encoding_format": "float"}
    rows = _rows(endpoint.post(request, seconds, ours=ours), len(texts))
    if rows is None:
        endpoint.garbage(f"no list of {len(texts)} embeddings")
    return [_unit(row, endpoint.url) for row in rows]


def _unit(row: object, url: str) -> Vector:
    """Return an embedding as a vector of length 1."""
    try:
        vector = np.asarray(row, dtype=np.float64)
        length = float(np.linalg.norm(vector))
    except (TypeError, ValueError, OverflowError):
        raise RefusedTexts(f"{url} answers a text with no list of numbers.") from None
    if vector.ndim != 1 or not 0.0 < length < inf:
        raise RefusedTexts(f"{url} answers a text with numbers that are no vector.")
    return (vector / length).astype(np.float32)


def _rows(body: bytes, count: int) -> list[object] | None:
    """The embeddings of an answer, in the order of the texts; None where it is not what was asked for."""
    try:
        data = json.loads(body)["data"]
        rows = [(entry.get("index", place), entry["embedding"]) for place, entry in enumerate(data)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    by_index = dict(rows) if all(isinstance(index, int) for index, _ in rows) else {}
    if len(rows) != count or set(by_index) != set(range(count)):
        return None
    return [by_index[index] for index in range(count)]


def _sketch(vector: Vector) -> str:
    """A vector in short: its numbers summed into SKETCH places, as hexadecimal bytes."""
    sums = np.bincount(np.arange(len(vector)) % SKETCH, weights=vector, minlength=SKETCH)
    most = float(np.abs(sums).max()) or 1.0
    return np.rint(127 * sums / most).astype(np.int8).tobytes().hex()


def _alike(left: str, right: str) -> bool:
    """True if two sketches are of the same model."""
    try:
        a, b = (
            np.frombuffer(bytes.fromhex(sketch), np.int8, SKETCH).astype(np.float64)
            for sketch in (left, right)
        )
    except ValueError:
        return False
    return left == right or bool(a @ b >= ALIKE * np.linalg.norm(a) * np.linalg.norm(b) > 0)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, as many together as one request takes."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == BATCH or sum(map(len, batch)) + len(text) > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch
