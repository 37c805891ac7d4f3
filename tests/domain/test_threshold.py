"""The threshold that is proposed for `similar`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.threshold import proposed, wrong

SCORES = st.lists(st.integers(0, 100).map(lambda number: number / 100), max_size=6)


@pytest.mark.parametrize(
    ("wanted", "unwanted", "threshold"),
    [
        ([], [], None),
        ([0.6, 0.5], [0.2, 0.3], 0.4),
        ([0.6, 0.5], [], 0.47),
        ([], [0.2, 0.3], 0.33),
        ([0.7, 0.3], [0.1, 0.35], 0.52),  # one of four is on the wrong side, in the widest gap
        ([0.4], [0.4], 0.37),
        ([0.48], [0.47, 0.47], 0.475),  # 0.47 would wake the unwanted ones
    ],
)
def test_it_stands_in_the_widest_gap_with_the_fewest_on_the_wrong_side(
    wanted: list[float], unwanted: list[float], threshold: float | None
) -> None:
    assert proposed(wanted, unwanted) == threshold


@given(wanted=SCORES, unwanted=SCORES)
def test_no_other_threshold_has_fewer_on_the_wrong_side(wanted: list[float], unwanted: list[float]) -> None:
    found = proposed(wanted, unwanted)
    if found is not None and wanted and unwanted:
        fewest = min(wrong(number / 200, wanted, unwanted) for number in range(-10, 220))
        assert wrong(found, wanted, unwanted) <= fewest
