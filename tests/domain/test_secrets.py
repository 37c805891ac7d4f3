"""What is taken for a secret and what is not, by lists that were written before the rules; and what it costs."""

import random
import time
import unicodedata

import pytest

from memory_server.domain.secrets import find_secret, refuse_secrets
from memory_server.errors import Hint, Invalid, Mend
from tests.domain.secret_lists import (
    BASE64,
    GITHUB,
    HEX,
    LOOKALIKES,
    PASS,
    PW,
    SECRETS,
    URL64,
    Sample,
    made,
)

KNOWN_MISSES = {"Markdown table", "Sentence: quoted words", "Sentence: user and password"}


def names(samples: list[Sample]) -> list[str]:
    return [sample.name for sample in samples]


def test_the_lists_are_long_and_a_third_of_each_is_held_out() -> None:
    for samples in (SECRETS, LOOKALIKES):
        assert len(samples) >= 90
        assert len(set(names(samples))) == len(samples)
        assert sum(sample.held_out for sample in samples) == len(samples) // 3


@pytest.mark.parametrize("sample", SECRETS, ids=names(SECRETS))
def test_a_secret_is_seen(sample: Sample) -> None:
    kind = find_secret(*sample.values)
    assert (kind is None) == (sample.name in KNOWN_MISSES)


@pytest.mark.parametrize("sample", LOOKALIKES, ids=names(LOOKALIKES))
def test_what_only_looks_like_a_secret_is_let_in(sample: Sample) -> None:
    assert find_secret(*sample.values) is None


@pytest.mark.parametrize("sample", SECRETS, ids=names(SECRETS))
def test_a_secret_is_seen_inside_a_long_text_and_beside_chinese(sample: Sample) -> None:
    if sample.name in KNOWN_MISSES or len(sample.values) > 1 or not isinstance(sample.values[0], str):
        return
    around = "服务器今天重启了。The build takes four minutes.\n" * 20
    assert find_secret(f"{around}{sample.values[0]}\n{around}") is not None


def test_the_kind_is_told_and_never_the_secret() -> None:
    for sample in SECRETS:
        kind = find_secret(*sample.values)
        if kind is not None:
            assert kind.startswith(("a ", "an "))
            assert len(kind) < 40
            with pytest.raises(Invalid) as refused:
                refuse_secrets(*sample.values)
            assert str(refused.value) == (
                f"This seems to contain {kind}, and every assistant can read a memory. Nothing was stored. "
                "Leave the secret out and say where it is kept."
            )
            assert refused.value.problem.hints == (Hint(Mend.ALLOW_SECRETS),)


def test_full_width_letters_hide_nothing() -> None:
    wide = "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in GITHUB)
    assert unicodedata.normalize("NFKC", wide) == GITHUB
    assert find_secret(f"令牌{wide}") == "a GitHub token"


def test_a_secret_is_seen_in_every_corner_of_a_json_value() -> None:
    for value in (
        {"a": [{"b": GITHUB}]},
        {GITHUB: 1},
        {GITHUB: "x"},
        [[GITHUB]],
        {PASS: [[PW]]},
        {PASS: 48291736},
    ):
        assert find_secret(value) is not None, value
    assert find_secret({"a": None, "b": True, "c": 1.5, "d": []}) is None


def test_random_data_is_no_secret() -> None:
    """An image of 100,000 characters of base64 holds each short prefix by chance."""
    for seed in range(10):
        for alphabet in (BASE64, URL64, HEX):
            assert find_secret("data:image/png;base64," + made(alphabet, 100_000, str(seed))) is None


HOSTILE = [
    "a", "x", "=", "-", "eyJ", "/eyJ", "eyJa.", "glpat-", "sk-", "hf_", ":AA", "1:AA", "://",
    "a://b:", "-us1", ".aaaaaa.", "-----BEGIN ", "8Q~", "a_mmk", "pataaaaaaaaaaaaaa.",
    "password", "password for ", "password is ", "password (", "密码", "密码是", "密码a", "token: ",
    "token=%", "secret=a", "curl ", "curl -u ", "Authorization: Basic ", "passwd? ", "pwd\n", "\u0301",
    '\\"password\\"', "gh" + "p_" + "x" * 36 + " ",
]  # fmt: skip
"""Beginnings of secrets that come to nothing, to be repeated."""


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_costs_more_than_its_length(unit: str) -> None:
    """Eight times the text takes about eight times the work; quadratic work would be 64 times."""
    short, long = (unit * (size // len(unit)) for size in (4_000, 32_000))
    assert find_secret(long) is None
    assert cost(long) < 24 * cost(short) + 0.002


@pytest.mark.parametrize("unit", ["ab-", "Ab.", "a1_", "AB/", "ab", "Ab", "1-", "aB", "-", "=", "$a"])
@pytest.mark.parametrize("start", ["s" + "k-", "gl" + "pat-", "password=", "token: ", "secret: '", "密码是"])
def test_a_value_that_is_almost_words_is_judged_at_once(start: str, unit: str) -> None:
    """A backtracking expression would try 2^100 ways to read it."""
    before = time.thread_time()
    for end in ("", "!", "%", "é"):
        find_secret(start + unit * 100 + end)
    assert time.thread_time() - before < 2


def cost(text: str) -> float:
    """Seconds of processor time; the least of several, since other threads and the collector take some."""
    found = []
    for _ in range(4):
        before = time.thread_time()
        find_secret(text)
        found.append(time.thread_time() - before)
    return min(found)


def test_what_is_cut_is_put_together_wherever_it_is_cut() -> None:
    chance = random.Random(5)
    for _ in range(50):
        ends = sorted(chance.sample(range(1, len(GITHUB)), 3))
        pieces = [GITHUB[a:b] for a, b in zip([0, *ends], [*ends, len(GITHUB)], strict=True)]
        assert find_secret(*pieces) == "a GitHub token"
        assert find_secret({"messages": pieces}) == "a GitHub token"
