"""Two versions of one item become the same one, whichever comes first, and once more changes nothing."""

from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.effect import Effect
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import (
    Earlier,
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    MemoryRecord,
    Origin,
    RuleRecord,
    ShortTermRecord,
    WakeRecord,
)

moments = st.sampled_from(["2026-01-01", "2026-01-02", "2026-01-03"])
words = st.sampled_from(["a", "b", "ab", "生产"])
earlier = st.builds(Earlier, words, st.sampled_from(["merged", "rewritten"]), moments)
origin = st.builds(Origin, words, words, words, moments)
origins = st.lists(origin, max_size=2, unique_by=lambda each: (each.source, each.id))
ids = st.sampled_from(["1@2026-01-01", "2@2026-01-01", "10@2026-01-01"])


def told(step: FactStep) -> tuple[str, object, str]:
    return step.action, step.value, step.changed_at


def sorted_origins(found: list[Origin]) -> tuple[Origin, ...]:
    return tuple(sorted(found, key=lambda each: (each.source, each.id)))


memories = st.builds(
    MemoryRecord,
    id=ids,
    content=words,
    tags=st.lists(words, max_size=2, unique=True).map(tuple),
    importance=st.integers(1, 10),
    metadata=st.dictionaries(words, st.integers(0, 3), max_size=2),
    access_count=st.integers(0, 9),
    created_at=moments,
    updated_at=moments,
    accessed_at=st.none() | moments,
    created_by=st.none() | words,
    history=st.lists(earlier, max_size=3, unique=True).map(
        lambda found: tuple(sorted(found, key=lambda each: (each.replaced_at, each.content, each.reason)))
    ),
    origins=origins.map(sorted_origins),
)
steps = st.builds(
    FactStep, st.integers(1, 3), st.sampled_from(["written", "deleted"]), words, changed_at=moments
)
facts = st.builds(
    FactRecord,
    scope=st.just("global"),
    owner=st.just(""),
    key=st.just("k"),
    steps=st.lists(steps, min_size=1, max_size=4, unique_by=told).map(
        lambda found: tuple(
            FactStep(number, each.action, each.value, changed_at=each.changed_at)
            for number, each in enumerate(sorted(found, key=lambda each: each.changed_at), 1)
        )
    ),
    created_at=moments,
    created_by=st.none() | words,
)


@given(memories, memories)
def test_two_versions_of_a_memory(one: MemoryRecord, other: MemoryRecord) -> None:
    result = reconcile.memories(one, other)
    assert result == reconcile.memories(other, one)
    assert reconcile.memories(result, other) == result
    assert {one.content, other.content} <= {result.content, *(each.content for each in result.history)}


@given(memories, memories)
def test_two_memories_that_say_the_same(one: MemoryRecord, other: MemoryRecord) -> None:
    result = reconcile.memories(one, other, joined=True)
    assert {*one.tags, *other.tags} == {*result.tags}
    assert result.created_at == min(one.created_at, other.created_at)
    assert result.content == reconcile.memories(other, one, joined=True).content


@given(facts, facts)
def test_two_histories_of_a_fact(one: FactRecord, other: FactRecord) -> None:
    result, parted = reconcile.facts(one, other)
    again, parted_again = reconcile.facts(other, one)
    assert set(map(told, result.steps)) == set(map(told, (*one.steps, *other.steps)))
    versions = [each.version for each in result.steps]
    assert sorted(set(versions)) == versions
    assert parted == parted_again
    if parted:
        assert again.steps == result.steps
    assert reconcile.facts(result, other)[0].steps == result.steps


edges = st.builds(
    EdgeRecord,
    st.just("1"),
    st.just("2"),
    strength=st.floats(0, 1),
    valid_from=moments,
    valid_to=st.none() | moments,
)


@given(edges, edges)
def test_two_versions_of_an_edge(one: EdgeRecord, other: EdgeRecord) -> None:
    result = reconcile.edges(one, other)
    assert result == reconcile.edges(other, one)
    assert reconcile.edges(result, other) == result


said = st.builds(
    ShortTermRecord,
    ids,
    st.just("c"),
    words,
    st.floats(0, 100),
    moments,
    moments,
    keywords=st.none() | st.just((("a", 1.0),)),
)


@given(said, said)
def test_two_versions_of_a_short_term_memory(one: ShortTermRecord, other: ShortTermRecord) -> None:
    result = reconcile.short_term(one, other)
    assert result == reconcile.short_term(other, one)
    assert reconcile.short_term(result, other) == result
    if one.text == other.text:  # one server may have taken the keywords already
        assert result.keywords == (one.keywords or other.keywords)


rules = st.builds(
    RuleRecord,
    effect=st.sampled_from(list(Effect)),
    holds=st.lists(words, max_size=1).map(tuple),
    confirmed_at=st.none() | moments,
    off=st.booleans(),
)
prompts = st.builds(
    LongTermRecord,
    conversation=st.just("c"),
    name=st.just("n"),
    prompt=words,
    trigger=words,
    created_at=moments,
    updated_at=st.none() | moments,
    fired_count=st.integers(0, 3),
    wakes=st.lists(st.builds(WakeRecord, moments, words), max_size=2, unique=True).map(
        lambda found: tuple(sorted(found, key=lambda each: (each.at, each.why)))
    ),
    rule=st.none() | rules,
)


@given(prompts, prompts)
def test_two_versions_of_a_long_term_memory(one: LongTermRecord, other: LongTermRecord) -> None:
    result = reconcile.long_term(one, other)
    assert result == reconcile.long_term(other, one)
    assert reconcile.long_term(result, other) == result
    if (one.prompt, one.trigger) == (other.prompt, other.trigger):
        sides = (one, other)
        assert (result.rule is None) is (one.rule is None and other.rule is None)
        assert result.is_confirmed is any(side.is_confirmed for side in sides)
        assert result.rule is None or result.rule.off is all(side.rule.off for side in sides if side.rule)
