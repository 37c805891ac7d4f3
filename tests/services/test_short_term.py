"""Short-term memories over time: what comes back, what fades, what is cleaned up; compared with a literal reference."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.domain.moment import read, timestamp
from memory_server.domain.short_term import CleanupRule, Keyword, ShortTermMemory, Tier
from memory_server.errors import Hint, Invalid, Mend, NotFound
from memory_server.language.pattern import parse
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.services.short_term import BATCH, Cleaned, Matching, RecalledMemory, ShortTermService
from memory_server.sqlite.database import Database
from memory_server.storage.short_term import Totals
from memory_server.storage.tables.short_term import WritableShortTerm
from tests.conftest import Clock, Holder, file_of, rounds, two_days_later
from tests.services import short_term_reference as reference
from tests.services.short_term_reference import Remembered

CALLER = Caller("Claude", "s1")
ONE = {"user": 0.2}
"""The role weight that makes a keyword weigh what `Told` says: 5 x 0.2 = 1."""

HERE = "here"
NOW = Clock().now
ENDLESS = itertools.count()
PLAIN = settings(derandomize=True)


class Told:
    """An extractor whose text says the keywords: `deploy=3.5 cache` is deploy with 3.5 and cache with 1."""

    def extract(self, text: str) -> list[Keyword]:
        pairs = [pair.partition("=") for pair in text.split()]
        return [Keyword(word, float(weight or 1), word) for word, _, weight in pairs]


def never() -> float:
    raise AssertionError("nothing was to be drawn")


@pytest.fixture
def service(database: Database) -> ShortTermService:
    return ShortTermService(database, Told(), random.Random(7).random)


@pytest.fixture
def real(database: Database, segmenter: JiebaSegmenter) -> ShortTermService:
    return ShortTermService(database, JiebaKeywords(segmenter), random.Random(7).random)


def told(weights: dict[str, float]) -> list[Message]:
    return [Message("user", " ".join(f"{word}={weight}" for word, weight in weights.items()))]


def fill(database: Database, memories: Sequence[Remembered], conversation: str = HERE) -> None:
    """Put memories into a conversation and give them their ids."""
    with database.write() as tx:
        place = tx.conversations.find_or_insert(conversation)
        for memory in memories:
            keywords = [Keyword(word, weight, word) for word, weight in memory.weights.items()]
            memory.id = tx.short_term.insert(place, "text", timestamp(memory.said), keywords, CALLER)
            if memory.score:
                tx.short_term.raise_score(memory.id, memory.score)


def scores(database: Database) -> dict[int, float]:
    with database.read() as tx:
        return dict(tx.rows("SELECT id, score FROM short_term_memories"))


def ids(found: Sequence[RecalledMemory], *tiers: Tier) -> list[int]:
    return [each.memory.id for each in found if each.tier in (tiers or Tier)]


def add(service: ShortTermService, text: str, said: str | None = None, conversation: str = HERE) -> int:
    return service.add([Message("user", text, timestamp=said)], conversation, ONE, CALLER).id


def texts(found: Matching) -> list[str]:
    return [text for _, text in found.memories]


def delete(service: ShortTermService, pattern: str, conversation: str = HERE) -> list[str]:
    """The texts of what was deleted."""
    found, forgotten = service.delete(parse(pattern), conversation, False, CALLER)
    assert forgotten.number == len(found.memories)
    return texts(found)


def ask(service: ShortTermService, text: str, conversation: str = HERE) -> list[RecalledMemory]:
    return service.search([Message("user", text)], conversation, ONE, caller=Caller()).memories


# As the reference has it


MINUTES = st.one_of(
    st.sampled_from([0, 9, 10, 11, 19, 20, 21, 29, 30, 31, 40, 3384, 9155, 365 * 1440, 365 * 1440 + 1]),
    st.integers(0, 60),
    st.integers(0, 400 * 1440),
)
MOMENTS = st.builds(
    lambda minutes, ms: timedelta(minutes=minutes, milliseconds=ms),
    MINUTES,
    st.sampled_from([0, 0, 0, 1, 1000, 59_999]),
)
WEIGHTS = st.integers(8_000, 90_000).map(lambda weight: weight / 10_000)
WORDS = st.dictionaries(
    st.sampled_from(["cache", "deploy", "数据库", "数据", "据", "猫"]), WEIGHTS, max_size=4
)
SCORES = st.sampled_from([0.0, 0.0, 2.0, 5.0, 12.0, 49.0, 50.0, 51.0, 93.0, 97.0, 98.0, 99.0, 100.0])
HISTORIES = st.lists(st.tuples(MOMENTS, WORDS, SCORES), max_size=12)
SEARCHES = st.lists(st.tuples(WORDS, MOMENTS, st.integers(0, 2**32)), min_size=1, max_size=3)


def compare(
    database: Database,
    clock: Clock,
    memories: list[Remembered],
    searches: list[tuple[Any, timedelta, int]],
    share: float | None = None,
) -> None:
    """The same searches, one after the other, with the same chance; between them time passes."""
    conversation = f"conversation {next(ENDLESS)}"
    fill(database, memories, conversation)
    for asked, later, seed in searches:
        service = ShortTermService(database, Told(), random.Random(seed).random, score_share=share)
        found = service.search(told(asked), conversation, ONE, caller=Caller()).memories
        expected = reference.select(memories, asked, clock.now, random.Random(seed).random, share)
        tiers = {Tier.TOP: expected.top, Tier.NEXT: expected.next, Tier.FLASHBACK: expected.flashback}
        for tier, those in tiers.items():
            assert ids(found, tier) == [memory.id for memory in those], tier
        for each, memory in zip(found, itertools.chain(*tiers.values()), strict=True):
            parts = each.parts
            assert parts.words == pytest.approx(reference.words(memory, asked), abs=1e-9)
            assert parts.penalty == pytest.approx(reference.penalty(memory, clock.now), abs=1e-8)
            assert parts.relevance == pytest.approx(
                reference.relevance(memory, asked, clock.now, share), abs=1e-6
            )
            assert parts.score == pytest.approx(reference.score(memory, asked, share), abs=1e-9)
            assert each.memory.score == memory.score
            assert set(each.words) == reference.counted(memory, asked)
        reference.reward(expected)
        clock.now += later
    now = scores(database)
    assert {memory.id: now[memory.id] for memory in memories} == {m.id: m.score for m in memories}


@settings(PLAIN, max_examples=rounds(100))
@given(HISTORIES, SEARCHES, st.sampled_from([None, 0.0, 0.1, 0.25, 2.0]))
def test_what_comes_back_is_what_the_formulas_say(
    database: Database,
    clock: Clock,
    history: list[tuple[timedelta, dict[str, float], float]],
    searches: list[tuple[dict[str, float], timedelta, int]],
    share: float | None,
) -> None:
    clock.now = NOW
    memories = [Remembered(0, clock.now - age, weights, score) for age, weights, score in history]
    compare(database, clock, memories, searches, share)


def test_so_it_is_in_a_hundred_random_histories(database: Database, clock: Clock) -> None:
    chance = random.Random(20260314)
    vocabulary = [f"word{number:02}" for number in range(12)]

    def weights(most: int) -> dict[str, float]:
        some = chance.sample(vocabulary, chance.randint(0, most))
        return {word: round(chance.uniform(0.8, 12), chance.choice((0, 4))) for word in some}

    for _ in range(rounds(100)):
        clock.now = NOW
        span = chance.choice([1, 3, 24, 24 * 30, 24 * 500])
        memories = [
            Remembered(
                0,
                clock.now - timedelta(milliseconds=int(chance.random() * span * 3_600_000)),
                weights(5),
                chance.choice([0.0, 0.0, round(chance.uniform(0, 100), 1)]),
            )
            for _ in range(chance.randint(0, 25))
        ]
        compare(
            database,
            clock,
            memories,
            [
                (weights(6), timedelta(seconds=chance.randrange(100_000)), chance.randrange(2**32))
                for _ in range(2)
            ],
        )


@settings(PLAIN, max_examples=rounds(80))
@given(HISTORIES, st.sampled_from([0, 1, 3, 512]), MOMENTS)
def test_a_cleanup_leaves_what_the_formulas_say(
    database: Database,
    clock: Clock,
    history: list[tuple[timedelta, dict[str, float], float]],
    always_kept: int,
    later: timedelta,
) -> None:
    clock.now = NOW
    conversation = f"conversation {next(ENDLESS)}"
    memories = [Remembered(0, clock.now - age, weights, score) for age, weights, score in history]
    fill(database, memories, conversation)
    clock.now += later
    service = ShortTermService(database, Told(), never, cleanup=CleanupRule(kept=always_kept))
    cleaned = service.clean_up(conversation)
    stay = {memory.id for memory in reference.cleaned(memories, clock.now, always_kept)}
    assert {memory.id for memory in memories} & scores(database).keys() == stay
    assert cleaned == Cleaned(len(memories) - len(stay), len(stay))


# Chance


def drawn(database: Database, searches: int) -> Counter[tuple[int, ...]]:
    """How often which flashbacks came, in their order."""
    service = ShortTermService(database, Told(), random.Random(11).random, count_access=False)
    return Counter(tuple(ids(ask(service, "key=9"), Tier.FLASHBACK)) for _ in range(searches))


def chi_squared(seen: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> float:
    """Of frequencies against probabilities."""
    number = sum(seen.values())
    assert seen.keys() <= expected.keys()
    return sum((seen[each] - number * p) ** 2 / (number * p) for each, p in expected.items())


def in_order(memories: Sequence[Remembered], clock: Clock) -> dict[tuple[int, ...], float]:
    """The probability of each ordered pair drawn by weight without replacement."""
    weights = {memory.id: reference.flashback_weight(memory, clock.now) for memory in memories}
    total = sum(weights.values())
    return {
        (one, other): weights[one] / total * weights[other] / (total - weights[one])
        for one, other in itertools.permutations(weights, 2)
    }


def test_flashbacks_come_as_often_as_they_weigh_and_none_twice(database: Database, clock: Clock) -> None:
    ages_and_scores = [(1, 0.0), (1.5, 50.0), (30, 100.0), (200, 0.0), (364, 25.0), (900, 0.0)]
    memories = [Remembered(0, clock.now - timedelta(days=age), {}, score) for age, score in ages_and_scores]
    fill(database, memories)
    expected = in_order(memories, clock)
    assert max(expected.values()) / min(expected.values()) > 5
    # What draws is the same on both stores, and a draw on PostgreSQL costs six times as much.
    searches = 3_000 if isinstance(database, Database) else 1_000
    assert searches * min(expected.values()) > 5
    # 30 pairs: above 59.7 in one of 1,000 such tests.
    assert chi_squared(drawn(database, searches), expected) < 59.7


def test_few_that_may_flash_back_among_many_that_may_not_come_as_often_as_they_weigh(
    database: Database, clock: Clock
) -> None:
    """Nearly all were said beside the one on top, so that drawing any at random seldom hits one of the others."""
    crowd = [Remembered(0, clock.now - timedelta(hours=1, seconds=i), {}) for i in range(550)]
    key = Remembered(0, clock.now - timedelta(hours=1, seconds=300), {"key": 9.0})
    able = [
        Remembered(0, clock.now - timedelta(days=age), {}, score)
        for age, score in [(1, 0.0), (300, 0.0), (30, 80.0), (500, 0.0)]
    ]
    fill(database, [*crowd, key, *able])
    # 12 pairs: above 31.3 in one of 1,000 such tests.
    assert chi_squared(drawn(database, 500), in_order(able, clock)) < 31.3


@pytest.mark.parametrize("chance", [0.0, 1 - 2**-53])
def test_chance_at_its_ends_draws_what_there_is(database: Database, clock: Clock, chance: float) -> None:
    service = ShortTermService(database, Told(), lambda: chance)
    assert ask(service, "cache") == []
    memories = [Remembered(0, clock.now - timedelta(hours=hours), {}) for hours in (3, 2, 1)]
    fill(database, memories)
    expected = [memories[0].id, memories[1].id] if chance == 0 else [memories[2].id, memories[1].id]
    assert ids(ask(service, "cache")) == expected


def test_flashbacks_are_neither_fresh_nor_beside_what_came_back(
    service: ShortTermService, clock: Clock
) -> None:
    near, key, other = (clock.now - timedelta(minutes=ago) for ago in (101, 110, 131))
    beside = add(service, "beside", timestamp(near))
    top = add(service, "cache=9", timestamp(key))
    flash = add(service, "other", timestamp(other))
    add(service, "fresh", timestamp(clock.now - timedelta(minutes=19)))
    for _ in range(30):
        found = ask(service, "cache=9")
        assert (ids(found, Tier.TOP), ids(found, Tier.FLASHBACK)) == ([top], [flash])
    assert beside not in ids(found)


# Time


@pytest.mark.parametrize(
    ("ago", "penalty"),
    [
        (timedelta(minutes=20), 15 * (1 - 2.718281828459045 ** (-1_200_000 * 2e-9))),
        (timedelta(days=2.3464), 5.0),
        (timedelta(days=6.3576), 10.0),
        (timedelta(days=365), 15.0),
        (timedelta(days=7000), 15.0),
    ],
)
def test_a_memory_fades(service: ShortTermService, clock: Clock, ago: timedelta, penalty: float) -> None:
    add(service, "cache=50")
    clock.now += ago
    (found,) = ask(service, "cache=30")
    assert found.parts.penalty == pytest.approx(penalty, abs=1e-3)
    assert found.parts.relevance == pytest.approx(80 - found.parts.penalty, abs=1e-6)


@pytest.mark.parametrize(
    ("later", "comes_back"),
    [
        (timedelta(seconds=1), False),
        (timedelta(minutes=19), False),
        (timedelta(minutes=20) - timedelta(milliseconds=1), False),
        (timedelta(minutes=20), True),
        (timedelta(minutes=21), True),
        (timedelta(days=365, minutes=1), True),
    ],
)
def test_what_was_just_said_does_not_come_back(
    service: ShortTermService, clock: Clock, later: timedelta, comes_back: bool
) -> None:
    id = add(service, "cache=20")
    clock.now += later
    assert ids(ask(service, "cache=20")) == [id] * comes_back


@pytest.mark.parametrize(
    ("between", "both"),
    [
        (timedelta(0), False),
        (timedelta(minutes=9), False),
        (timedelta(minutes=10) - timedelta(milliseconds=1), False),
        (timedelta(minutes=10), True),
        (timedelta(minutes=11), True),
    ],
)
def test_of_two_said_together_the_better_comes_back(
    service: ShortTermService, clock: Clock, between: timedelta, both: bool
) -> None:
    better = add(service, "cache=21")
    clock.now += between
    worse = add(service, "cache=20")
    clock.now += timedelta(hours=1)
    found = ask(service, "cache=20")
    assert ids(found) == ([better, worse] if both else [better])
    assert {each.tier for each in found} == {Tier.TOP}


def test_of_two_of_the_same_millisecond_the_later_written_comes_back(
    service: ShortTermService, clock: Clock
) -> None:
    _, second = add(service, "cache=20"), add(service, "cache=20")
    clock.advance(hours=1)
    assert ids(ask(service, "cache=20")) == [second]


def test_two_are_top_one_is_next_and_the_best_is_first(service: ShortTermService, clock: Clock) -> None:
    added = []
    for weight in (5, 20, 40, 30, 10):
        added.append(add(service, f"cache={weight}"))
        clock.advance(minutes=10)
    clock.advance(minutes=10)
    found = ask(service, "cache=1")
    assert ids(found, Tier.TOP) == [added[2], added[3]]
    assert ids(found, Tier.NEXT) == [added[1]]
    assert set(ids(found, Tier.FLASHBACK)) == {added[0], added[4]}


@pytest.mark.parametrize(
    "given", ["2026-03-14T16:26:53.589+08:00", "2026-03-14T08:26:53.589Z", "2026-03-14T08:26:53.589"]
)
def test_a_moment_is_the_same_in_every_zone(service: ShortTermService, clock: Clock, given: str) -> None:
    add(service, "cache=20", read(given))
    (found,) = ask(service, "cache=20")
    assert found.memory.said_at == timestamp(clock.now - timedelta(hours=1)) == "2026-03-14T08:26:53.589Z"


def test_what_counts_no_milliseconds_is_no_moment() -> None:
    for number in (float("nan"), float("inf"), 1e20):
        with pytest.raises(ValueError, match="is not a number of seconds or milliseconds since 1970"):
            read(number)


def test_milliseconds_since_1970_are_a_moment(service: ShortTermService, clock: Clock) -> None:
    since_1970 = round((clock.now - timedelta(hours=1)).timestamp() * 1000)
    add(service, "cache=20", read(since_1970))
    assert [each.memory.said_at for each in ask(service, "cache=20")] == ["2026-03-14T08:26:53.589Z"]


@pytest.mark.parametrize("given", ["2026-03-14T09:26:53.590Z", "2999-01-01", "2026-03-14T09:26:53-01:00"])
def test_a_moment_still_to_come_counts_as_now(service: ShortTermService, clock: Clock, given: str) -> None:
    id = add(service, "cache=20", read(given))
    clock.advance(minutes=20)
    assert ids(ask(service, "cache=20")) == [id]


def test_the_last_message_that_says_something_tells_the_moment(
    service: ShortTermService, clock: Clock
) -> None:
    old, older = read("2026-03-01"), read("2026-02-01")
    service.add(
        [Message("user", "a", timestamp=old), Message("user", "b", timestamp=older)], HERE, {}, CALLER
    )
    service.add([Message("user", "a", timestamp=old), Message("user", "", timestamp=older)], HERE, {}, CALLER)
    service.add([Message("user", "a", timestamp=old), Message("user", "b")], HERE, {}, CALLER)
    with file_of(service.database).read() as tx:
        assert tx.rows("SELECT said_at FROM short_term_memories ORDER BY id") == [
            (older,),
            (old,),
            (timestamp(clock.now),),
        ]


def test_the_first_moment_of_all_does_not_break_a_search(service: ShortTermService) -> None:
    first = add(service, "cache=50", "0001-01-01T00:00:00.000Z")
    assert ids(ask(service, "cache=50")) == [first]


# Words and scores


def test_without_a_shared_word_no_score_is_high_enough(service: ShortTermService, clock: Clock) -> None:
    famous = Remembered(0, clock.now - timedelta(hours=1), {"deploy": 50.0}, 100.0)
    fill(file_of(service.database), [famous])
    for text in ("cache=50", ""):
        found = ask(service, text)
        assert (ids(found, Tier.TOP, Tier.NEXT), ids(found, Tier.FLASHBACK)) == ([], [famous.id])
        (parts,) = [each.parts for each in found]
        assert (parts.words, parts.score) == (0, 100)


@pytest.mark.parametrize(("weight", "comes_back"), [(2.49, False), (2.51, True)])
def test_a_memory_of_little_relevance_does_not_come_back_for_its_words(
    service: ShortTermService, clock: Clock, weight: float, comes_back: bool
) -> None:
    id = add(service, f"cache={weight}")
    clock.advance(minutes=20)  # costs 0.036
    found = ask(service, f"cache={weight + 0.02}")
    assert ids(found, Tier.TOP) == [id] * comes_back


def test_coming_back_raises_the_score_to_a_hundred_at_most(service: ShortTermService, clock: Clock) -> None:
    added = []
    for weight in (30, 20, 10):
        added.append(add(service, f"cache={weight}"))
        clock.advance(minutes=10)
    clock.advance(minutes=20)
    other = add(service, "deploy")
    clock.advance(minutes=20)
    for count in range(1, 60):
        ask(service, "cache=1")
        assert [scores(file_of(service.database))[id] for id in (*added, other)] == [
            min(5 * count, 100),
            min(5 * count, 100),
            min(2 * count, 100),
            0,
        ]


def test_a_read_only_start_counts_nothing(service: ShortTermService, clock: Clock) -> None:
    id = add(service, "cache=20")
    clock.advance(hours=1)
    assert ids(ask(replace(service, count_access=False), "cache=20")) == [id]
    assert scores(file_of(service.database)) == {id: 0}
    ask(service, "cache=20")
    assert scores(file_of(service.database)) == {id: 5}


def test_a_file_locked_by_another_is_searched_all_the_same(
    file_database: Database, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.sqlite.database.COUNTING_PATIENCE", 0.05)
    service = ShortTermService(file_database, Told(), random.Random(7).random)
    id = add(service, "cache=20")
    clock.advance(hours=1)
    assert file_database.path is not None
    with Holder(file_database.path, "UPDATE short_term_memories SET score = 0"):
        assert ids(ask(service, "cache=20")) == [id]
    assert "scores were not raised" in caplog.text
    assert scores(file_database) == {id: 0}


def test_conversations_know_nothing_of_each_other(service: ShortTermService, clock: Clock) -> None:
    mine, theirs = add(service, "cache=20"), add(service, "cache=30", conversation="数据库 ☕")
    clock.advance(hours=1)
    assert ids(ask(service, "cache=20")) == [mine]
    assert ids(ask(service, "cache=20", "数据库 ☕")) == [theirs]
    assert ask(service, "cache=20", "nowhere") == []
    assert delete(service, "cache", "nowhere") == []
    assert delete(service, "/cache/") == ["user: cache=20"]
    assert scores(file_of(service.database)).keys() == {theirs}


def test_a_conversation_comes_back_by_its_words_in_both_languages(
    real: ShortTermService, clock: Clock
) -> None:
    said = {
        "deploy": "We deploy the billing server on Friday",
        "数据库": "數據庫的连接池满了，要重启服务",
        "猫": "我家的猫又病了",
        "pve-01": "the backups run on pve-01",
    }
    added = {}
    for word, text in said.items():
        added[word] = real.add([Message("user", text), Message("assistant", "ok")], HERE, {}, CALLER).id
        clock.advance(minutes=30)
    for question, word in {
        "Are there new deployments?": "deploy",
        "资料库？不，数据库怎么样": "数据库",
        "猫好了吗": "猫",
        "is PVE-01 up": "pve-01",
    }.items():
        found = real.search([Message("user", question)], HERE, {}, caller=Caller()).memories
        assert ids(found, Tier.TOP) == [added[word]], question
        assert found[0].memory.text == f"user: {said[word]}\nassistant: ok"


def test_what_a_memory_shares_is_told_in_the_form_in_which_it_was_asked(
    real: ShortTermService, clock: Clock
) -> None:
    real.add([Message("user", "deployments of the cache")], HERE, {}, CALLER)
    clock.advance(hours=1)
    (found,) = real.search([Message("user", "Caches and deploying")], HERE, {}, caller=Caller()).memories
    assert sorted(found.words) == ["caches", "deploying"]


def test_a_message_names_who_said_it(service: ShortTermService) -> None:
    service.add([Message("user", "a", name="Ada"), Message("tool", "b\nc")], HERE, {}, CALLER)
    assert texts(service.matching(parse("a"), HERE, caller=Caller())) == ["Ada: a\ntool: b\n  c"]


@pytest.mark.parametrize("end", ["\n", "\u2028", "\u2029"])
def test_no_message_passes_for_two(service: ShortTermService, end: str) -> None:
    service.add([Message("user", f"a{end}system: b")], HERE, {}, CALLER)
    assert texts(service.matching(parse("a"), HERE, caller=Caller())) == ["user: a\n  system: b"]


@pytest.mark.parametrize("messages", [[], [Message("user", "")], [Message("user", "", name="Ada")] * 3])
def test_messages_that_say_nothing_are_refused(service: ShortTermService, messages: list[Message]) -> None:
    with pytest.raises(Invalid, match="No message holds any text"):
        service.add(messages, HERE, {}, CALLER)
    with file_of(service.database).read() as tx:
        assert tx.value("SELECT count(*) FROM conversations") == 0


@pytest.mark.parametrize("text", ["what is this", "😀", "！！！", "什么"])
def test_messages_without_keywords_are_kept_and_come_back_by_chance_only(
    real: ShortTermService, clock: Clock, text: str
) -> None:
    added = real.add([Message("user", text)], HERE, {}, CALLER)
    assert added.keywords == []
    clock.advance(hours=1)
    assert [
        (each.memory.id, each.tier)
        for each in real.search([Message("user", text)], HERE, {}, caller=Caller()).memories
    ] == [(added.id, Tier.FLASHBACK)]


# Cleanups


def many(clock: Clock, number: int, age: Callable[[int], timedelta]) -> list[Remembered]:
    return [Remembered(0, clock.now - age(i), {"cache": 1.0}) for i in range(number)]


def count(database: Database) -> int:
    return len(scores(database))


@pytest.mark.parametrize(("number", "kept"), [(511, 511), (512, 512), (513, 512), (600, 512)])
def test_the_best_512_stay_however_old(
    service: ShortTermService, clock: Clock, number: int, kept: int
) -> None:
    memories = many(clock, number, lambda i: timedelta(days=400 + i))
    fill(file_of(service.database), memories)
    assert service.clean_up(HERE) == Cleaned(number - kept, kept)
    assert scores(file_of(service.database)).keys() == {memory.id for memory in memories[:kept]}
    statistics = service.statistics(HERE)
    totals, cleanups = statistics.totals, statistics.cleanups
    assert cleanups is not None
    assert (totals.memories, cleanups.removed, cleanups.last) == (kept, number - kept, timestamp(clock.now))
    with file_of(service.database).read() as tx:
        assert tx.value("SELECT count(*) FROM short_term_keywords") == kept


@pytest.mark.parametrize(
    ("age", "score", "stays"),
    [
        (timedelta(days=2.34), 0.0, True),
        (timedelta(days=2.35), 0.0, False),
        (timedelta(days=2.35), 0.5, True),
        (timedelta(days=6.35), 5.0, True),
        (timedelta(days=6.4), 5.0, False),
        (timedelta(days=365), 100.0, True),
        (timedelta(days=365, milliseconds=1), 100.0, False),
        (timedelta(days=365, minutes=1), 100.0, False),
    ],
)
def test_beyond_the_512_what_is_old_or_has_faded_goes(
    service: ShortTermService, clock: Clock, age: timedelta, score: float, stays: bool
) -> None:
    """512 better ones stand before it."""
    best = [Remembered(0, clock.now - timedelta(seconds=i), {}, 100.0) for i in range(512)]
    candidate = Remembered(0, clock.now - age, {}, score)
    fill(file_of(service.database), [*best, candidate])
    assert service.clean_up(None) == Cleaned(1 - stays, 512 + stays)
    assert (candidate.id in scores(file_of(service.database))) == stays


def test_a_conversation_is_cleaned_up_once_a_day(service: ShortTermService, clock: Clock) -> None:
    two_days_later(service.database, clock)
    fill(file_of(service.database), many(clock, 600, lambda i: timedelta(days=400)))
    for hours, left in ((0, 600), (23, 600), (1, 600), (0.001, 512)):
        clock.advance(hours=hours)
        service.clean_up_due()
        assert count(file_of(service.database)) == left
    fill(file_of(service.database), many(clock, 10, lambda i: timedelta(days=400)))
    for hours, left in ((12, 522), (12, 522), (0.001, 512)):
        clock.advance(hours=hours)
        service.clean_up_due()
        assert count(file_of(service.database)) == left
    cleanups = service.statistics(None).cleanups
    assert cleanups is not None
    assert cleanups.removed == 98


def test_a_clock_that_was_set_back_puts_off_no_cleanup(service: ShortTermService, clock: Clock) -> None:
    add(service, "cache")
    service.clean_up(HERE)
    clock.advance(days=-400)
    two_days_later(service.database, clock)
    service.clean_up_due()
    cleanups = service.statistics(HERE).cleanups
    assert cleanups is not None
    assert cleanups.last == timestamp(clock.now)


def test_a_cleanup_by_hand_puts_off_the_next_by_a_day(service: ShortTermService, clock: Clock) -> None:
    fill(file_of(service.database), many(clock, 513, lambda i: timedelta(days=400)))
    clock.advance(hours=23)
    assert service.clean_up(HERE).removed == 1
    fill(file_of(service.database), many(clock, 1, lambda i: timedelta(days=400)))
    clock.advance(hours=2)
    service.clean_up_due()
    assert count(file_of(service.database)) == 513


def test_a_round_takes_on_more_conversations_than_one_holds_in_the_next(
    service: ShortTermService, clock: Clock
) -> None:
    number = BATCH + 5
    for each in range(number):
        add(service, "cache", conversation=f"c{each}")
    two_days_later(service.database, clock)

    def due() -> int:
        with service.database.read() as tx:
            return len(tx.conversations.due(timestamp(clock.now - timedelta(hours=24)), 1000))

    waiting = [due()]
    for _ in range(3):
        service.clean_up_due()
        waiting.append(due())
    assert waiting == [number, 5, 0, 0]


def test_background_work_without_work_writes_nothing(
    service: ShortTermService, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(service, "cache")
    monkeypatch.setattr(Database, "write", lambda *_: pytest.fail("it wrote"))
    service.find_keywords()
    service.clean_up_due()


def by_hand(service: ShortTermService, clock: Clock, number: int) -> None:
    """Rows that a person wrote, one an hour, the first an hour ago."""
    with file_of(service.database).write() as tx:
        place = tx.conversations.find_or_insert(HERE)
        for each in range(number):
            tx.execute(
                "INSERT INTO short_term_memories (conversation_id, text, said_at) VALUES (?, ?, ?)",
                (place, f"user: about topic{each}", timestamp(clock.now - timedelta(hours=each + 1))),
            )


def test_the_keywords_of_what_was_written_by_hand_are_found(real: ShortTermService, clock: Clock) -> None:
    by_hand(real, clock, BATCH + 1)
    real.find_keywords()
    for number in (0, BATCH):
        (top, *_) = real.search([Message("user", f"topic{number}")], HERE, {}, caller=Caller()).memories
        assert (top.tier, top.memory.text) == (Tier.TOP, f"user: about topic{number}")


def test_a_transaction_takes_on_few_of_many_rows_written_by_hand(
    real: ShortTermService, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand(real, clock, 2 * BATCH + 1)
    taken_on: list[int] = []
    find = ShortTermService._find_keywords

    def counted(service: ShortTermService, unkeyed: Sequence[ShortTermMemory]) -> None:
        taken_on.append(len(unkeyed))
        find(service, unkeyed)

    monkeypatch.setattr(ShortTermService, "_find_keywords", counted)
    real.find_keywords()
    assert taken_on == [BATCH, BATCH, 1]
    with real.database.read() as tx:
        assert tx.short_term.unkeyed(1) == []


# Numbers of them


def test_totals_are_of_one_conversation_or_of_all(service: ShortTermService, clock: Clock) -> None:
    nothing = service.statistics(None)
    assert (nothing.totals.memories, nothing.cleanups, nothing.by_conversation) == (0, None, [])
    fill(
        file_of(service.database),
        [Remembered(0, clock.now - timedelta(days=i), {}, 10.0 * i) for i in (3, 1)],
    )
    add(service, "cache", conversation="other")
    here, everywhere = service.statistics(HERE), service.statistics(None)
    assert here.totals == Totals(
        2, 1, timestamp(clock.now - timedelta(days=3)), timestamp(clock.now - timedelta(days=1)), 20, 10, 30
    )
    totals = everywhere.totals
    assert (totals.memories, totals.conversations, totals.lowest_score) == (3, 2, 0)
    assert (here.by_conversation, everywhere.by_conversation) == ([], [(HERE, 2), ("other", 1)])
    for unknown in (service.statistics, service.clean_up):
        with pytest.raises(NotFound, match=r"^No conversation `nowhere` has short-term memories\.$") as error:
            unknown("nowhere")
        assert error.value.problem.hints == (Hint(Mend.LIST_SHORT_TERM_CONVERSATIONS),)


def test_the_most_frequent_conversation_is_the_latest_of_equals(
    service: ShortTermService, clock: Clock
) -> None:
    assert service.largest() is None
    for conversation, expected in (("a", ("a", 1)), ("b", ("b", 1)), ("a", ("a", 2)), ("b", ("b", 2))):
        clock.advance(seconds=1)
        add(service, "cache", conversation=conversation)
        assert service.largest() == expected


def test_a_write_that_dies_half_way_leaves_no_memory_and_no_keywords(
    service: ShortTermService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(WritableShortTerm, "insert_keywords", broken)
    with pytest.raises(Exception, match="the disk is gone"):
        add(service, "cache")
    with service.database.read() as tx:
        assert tx.conversations.names() == []
        assert tx.short_term.totals(None).memories == 0


def test_deleting_takes_the_keywords_and_leaves_the_rest(service: ShortTermService, clock: Clock) -> None:
    for text in ("art cache", "party cache", "ARTS"):
        add(service, text)
    assert texts(service.matching(parse("art"), HERE, caller=Caller())) == ["user: art cache"]
    assert delete(service, "art") == ["user: art cache"]
    assert delete(service, "art") == []
    with file_of(service.database).read() as tx:
        words = tx.rows("SELECT word FROM short_term_keywords ORDER BY memory_id, word")
        assert words == [("cache",), ("party",), ("ARTS",)]


@dataclass
class Failing:
    """An extractor that must not be asked."""

    def extract(self, text: str) -> list[Keyword]:
        raise AssertionError(text)


def test_a_secret_is_refused_before_anything_is_done(database: Database) -> None:
    token = "ghp_" + "a1B2" * 9
    service = ShortTermService(database, Failing(), never)
    with pytest.raises(Invalid, match="GitHub token") as error:
        service.add([Message("user", "hello"), Message("assistant", f"it is {token}")], HERE, {}, CALLER)
    assert error.value.problem.hints == (Hint(Mend.ALLOW_SECRETS),)
    allowed = replace(service, allow_secrets=True, extractor=Told())
    assert allowed.add([Message("user", token)], HERE, {}, CALLER).id == 1


def test_a_long_text_without_a_secret_is_looked_through_at_once(service: ShortTermService) -> None:
    for text in ("a." * 100_000, "a+" * 100_000, "a-" * 100_000):  # took 19 s each
        add(service, text)


def test_a_read_only_file_gets_no_keywords_and_no_cleanup(tmp_path: Path, clock: Clock) -> None:
    class ReadOnly:
        read_only = True

    stub: Any = ReadOnly()
    service = ShortTermService(stub, Told(), never)
    service.find_keywords()
    service.clean_up_due()
