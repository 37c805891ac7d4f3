"""What a text may replace: a memory, a part of it, or nothing because it speaks of something else."""

import pytest

from memory_server.domain.consolidation import Text
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.similar import Compared, Peer, compared
from memory_server.nlp.jieba import JiebaSegmenter

AT = "2026-11-24T01:00:00.000Z"
RYE = "Rye loaf costs 4.20, a spelt loaf 4.80"


def _compared(segmenter: JiebaSegmenter, old: str, new: str) -> Compared:
    memory = Memory(MemoryId(1), old, MemoryType.OBSERVATION, "p", (), 5, {}, 0, AT, AT, None, "test", AT)
    peer = Peer(memory, Text(old, segmenter.segment), 0.8)
    return compared(Text(new, segmenter.segment), MemoryType.OBSERVATION, [peer])


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (RYE, "The rye loaf costs 4.60 now", "Rye loaf costs 4.20"),
        (RYE, "Rye loaf 4.60", "Rye loaf costs 4.20"),
        (RYE, "A spelt loaf costs 5.10 now", "a spelt loaf 4.80"),
        ("Roggenbrot kostet 4,20, Dinkelbrot 4,80", "Roggenbrot kostet 4,60", "Roggenbrot kostet 4,20"),
        ("黑麦面包4.2元，斯佩尔特面包4.8元", "黑麦面包4.6元", "黑麦面包4.2元"),
        (
            "Mira takes the 8 am bus to school. Leo takes the 9 am bus to school.",
            "Leo takes the 9:40 bus to school now",
            "Leo takes the 9 am bus to school",
        ),
    ],
)
def test_where_another_value_of_one_clause_is_told_that_clause_is_named_and_no_memory_is_replaced(
    segmenter: JiebaSegmenter, old: str, new: str, part: str
) -> None:
    comparison = _compared(segmenter, old, new)
    assert [similar.part for similar in comparison.similar] == [part]
    assert comparison.maybe_replaced == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RYE, "Rye loaf costs 4.60, a spelt loaf 5.10"),
        ("Rye loaf costs 4.20, baked by Jo", "Rye loaf costs 4.60 now"),
        ("Anna's passport expires in 2026", "Anna's passport expires in 2036"),
        ("The wedding of Anna is in June 2026", "The wedding of Anna is in June 2027"),
    ],
)
def test_where_all_that_has_a_value_is_told_anew_the_memory_is_replaced(
    segmenter: JiebaSegmenter, old: str, new: str
) -> None:
    comparison = _compared(segmenter, old, new)
    assert [similar.part for similar in comparison.similar] == [""]
    assert comparison.maybe_replaced == (1,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Node 3 has 64 GB of memory", "Node 5 has 128 GB of memory"),
        ("In 2022 the village fair made 3,400 euros", "In 2023 the village fair made 3,400 euros"),
        ("The turnover in 2023 was 118,000", "The turnover in 2024 was 131,000"),
        ("Turnover 2023: 118,000", "Turnover 2024: 131,000"),
        ("2023年双十一店里卖了12万", "2024年双十一店里卖了12万"),
        ("面包店2023年的营业额是118万", "面包店2024年的营业额是131万"),
        ("Mira plays the cello on Mondays", "Jonas plays the flute on Mondays"),
        ("Rome has 40 desks on two floors", "Oslo has 25 desks on two floors"),
    ],
)
def test_what_is_said_of_another_node_year_person_or_place_replaces_nothing(
    segmenter: JiebaSegmenter, old: str, new: str
) -> None:
    comparison = _compared(segmenter, old, new)
    assert [(similar.memory.id, similar.part) for similar in comparison.similar] == [(1, "")]
    assert comparison.maybe_replaced == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lukas darf nicht allein zur Schule laufen.", "Lukas darf allein zur Schule laufen."),
        ("Emil mag keinen Brokkoli.", "Emil mag Brokkoli."),
        ("Take the pills before breakfast.", "Take the pills after breakfast."),
        ("Don't water the cactus in winter.", "Water the cactus in winter."),
        ("奶奶不能喝牛奶。", "奶奶能喝牛奶。"),
    ],
)
def test_what_a_text_denies_it_may_replace(segmenter: JiebaSegmenter, old: str, new: str) -> None:
    assert _compared(segmenter, old, new).maybe_replaced == (1,)
    assert _compared(segmenter, new, old).maybe_replaced == (1,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Handys sind beim Essen verboten.", "Bücher sind beim Essen in Ordnung."),
        ("The garage is never locked.", "The shed is always locked."),
        ("弟弟喜欢吃胡萝卜。", "妹妹不喜欢吃胡萝卜。"),
    ],
)
def test_what_is_denied_of_another_thing_replaces_nothing(
    segmenter: JiebaSegmenter, old: str, new: str
) -> None:
    assert _compared(segmenter, old, new).maybe_replaced == ()
