"""The measures, the choice of stores and the comparison, on examples that can be checked by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from math import log2
from pathlib import Path

import pytest
from quality import measures, saved, selection, tables
from quality.baselines import Bm25
from quality.data import Memory, Question, Store, moment
from quality.doors import through_services
from quality.evaluate import BASELINES, MODES, evaluated
from quality.measures import Hit, Result
from quality.vectors import RememberedEmbedder

from memory_server.embedding.hashing import HashingEmbedder

TEXTS = (
    "The cellar key hangs behind the clock.",
    "Rent is 900 euros.",
    "Rent is 950 euros now.",
    "茶在柜子里。",
)
STORE = Store(
    "example",
    "home",
    0,
    tuple(
        Memory(str(place), text, "note", datetime(2026, 3, 1, 9, place, tzinfo=UTC), "s1")
        for place, text in enumerate(TEXTS)
    ),
    (
        Question("q1", "Where is the cellar key?", "en", (frozenset("0"),)),
        Question("q2", "rent in euros", "en", (frozenset("2"),), frozenset("1")),
        Question("q3", "茶在哪里", "zh", (frozenset("3"), frozenset("0")), counts=False),
        Question("q4", "Is there a dog?", "en", ()),
    ),
)


def result(ranks: tuple[int | None, ...], stale: tuple[int | None, ...] = ()) -> Result:
    return Result(
        "example", "home", "q", "?", "en", "en", True, "hybrid", ranks, stale, (), True, 1.0, 2.0
    )  # fmt: skip


def test_recall_counts_each_piece_of_evidence() -> None:
    assert measures.rank([["4"], ["1", "2"], ["2"]], {"2"}) == 2
    assert [measures.recall(result((1, 6, None, 3)), first) for first in (1, 5, 10)] == [0.25, 0.5, 0.75]
    assert measures.reciprocal_rank(result((None, 4, 2))) == 0.5
    assert measures.reciprocal_rank(result((None,))) == 0


def test_ndcg_is_1_only_with_all_evidence_at_the_top() -> None:
    assert measures.ndcg(result((2, 1))) == 1
    assert measures.ndcg(result((3, None))) == pytest.approx((1 / log2(4)) / (1 + 1 / log2(3)))
    assert measures.ndcg(result((1, 1))) < 1, "one hit is one gain"


def test_outdated_memories_are_counted() -> None:
    assert measures.stale_share(result((1,), (2, None, 5))) == 0.2
    assert measures.old_first(result((3,), (2,)))
    assert not measures.old_first(result((1,), (2,)))
    assert not measures.old_first(result((None,), (None,)))


def test_scores_that_come_true_as_often_as_they_say_are_calibrated() -> None:
    honest = [Hit((), 0.25, place % 4 == 0) for place in range(40)]
    assert measures.calibration_error(honest) == pytest.approx(0)
    assert measures.calibration_error([replace(hit, score=0.75) for hit in honest]) == pytest.approx(0.5)
    assert measures.brier([Hit((), 1.0, True), Hit((), 0.5, False)]) == pytest.approx(0.125)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("3:47 pm on 17 March, 2022", datetime(2022, 3, 17, 15, 47, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024年04月01日 周一 08:30", datetime(2024, 4, 1, 8, 30, tzinfo=UTC)),
        ("2025-06-01", datetime(2025, 6, 1, tzinfo=UTC)),
        (None, None),
    ],
)
def test_times_are_read_in_the_forms_of_the_sets(text: str | None, read: datetime | None) -> None:
    assert moment(text) == read


def test_stores_are_chosen_by_set_and_number() -> None:
    stores = [STORE, replace(STORE, number=1), replace(STORE, set="other")]
    assert selection.only(stores, []) == stores
    assert selection.only(stores, ["example:1", "other"]) == stores[1:]
    first, second = (selection.half(stores, which) for which in ("first", "second"))
    assert [store.number for store in first if store.set == "example"] == [0]
    assert [store.number for store in second if store.set == "example"] == [1]
    asked = [[question.id for question in half[-1].questions] for half in (first, second)]
    assert asked == [["q1", "q3"], ["q2", "q4"]]


def test_a_cut_holds_all_evidence_of_its_questions() -> None:
    cuts = list(selection.cuts(STORE, 2))
    assert sorted(question.id for cut in cuts for question in cut.questions) == ["q1", "q2"]
    for cut in cuts:
        ids = {memory.id for memory in cut.memories}
        assert len(ids) == 2
        assert all(question.wanted | question.stale <= ids for question in cut.questions)


def test_bm25_prefers_the_rarer_word() -> None:
    found = Bm25(STORE.memories).ask(Question("q", "rent of the cellar", "en", ())).hits
    assert found[0][0] == 0
    assert {id for id, _ in found} == {0, 1, 2}


def test_a_run_is_measured_saved_and_compared(tmp_path: Path) -> None:
    embedder = RememberedEmbedder(HashingEmbedder(), tmp_path / "vectors.npz")
    results = list(evaluated(STORE, [*MODES, *BASELINES], through_services, embedder))
    embedder.save()
    assert RememberedEmbedder(HashingEmbedder(), tmp_path / "vectors.npz").embed_documents(TEXTS[:1])
    assert len(results) == len(STORE.questions) * 5
    first = next(result for result in results if result.key == ("example", "home", "q1", "hybrid"))
    assert (first.ranks, first.hits[0].ids, first.hits[0].right) == ((1,), ("0",), True)
    saved.save(tmp_path / "run.jsonl", results)
    assert saved.load(tmp_path / "run.jsonl") == results
    worse = [replace(each, ranks=tuple(None for _ in each.ranks)) for each in results]
    lines = list(saved.compared(results, worse, verbose=True))
    assert "| example | hybrid | 2 | r@10 | 1.000 | 0.000 | -1.000 | -1.000 to -1.000 | 0 | 2 |" in lines
    assert any("| example | all | cosine | 2 |" in line for line in tables.whole(results))
    assert any("| example | zh | keyword | 1 |" in line for line in tables.by_category(results))
