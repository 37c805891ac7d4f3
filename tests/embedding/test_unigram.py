"""The tokenizer of the bundled model gives the same ids as the library `tokenizers`, for which its file is written."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memory_server import embedding
from memory_server.embedding.unigram import Unigram
from tests.conftest import ROOT, rounds

FILE = Path(embedding.__file__).with_name("e5_small") / "tokenizer.json"
OURS = Unigram(FILE)
THEIRS = Tokenizer.from_file(str(FILE))


def theirs(text: str) -> list[int]:
    found: list[int] = THEIRS.encode(text, add_special_tokens=False).ids
    return found


def is_old(character: str) -> bool:
    """Whether Unicode has had it for long: Python takes ㋿ and 33 more apart, which the library does not know."""
    return unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Co", "Cs")


PIECES = (" ", "  ", "▁", "～", "\ufdd0", "\n", "<s>", "</s>", "query: ", "Ａ①㎏", "e\u0301", "'s", "😀")

texts = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]).filter(is_old)),
        st.text(st.characters(max_codepoint=0x17F)),
        st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5)),
        st.sampled_from(PIECES),
    )
).map("".join)


@settings(max_examples=rounds(400))
@given(texts)
def test_random_texts(text: str) -> None:
    assert OURS.ids(text) == theirs(text)


def test_every_character() -> None:
    characters = [character for character in map(chr, range(0x110000)) if is_old(character)]
    for start in range(0, len(characters), 1000):
        text = " ".join(f"a{character}b" for character in characters[start : start + 1000])
        assert OURS.ids(text) == theirs(text)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md", "docs/search.md", "docs/short-term.md"])
def test_real_texts(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for each in (text, *text.splitlines()):
        assert OURS.ids(each) == theirs(each)


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\u200b", "x" * 5000, "\u0378\u0379 \u0378", "没有空格的长句" * 300]
)
def test_odd_texts(text: str) -> None:
    assert OURS.ids(text) == theirs(text)


def test_a_file_with_an_unknown_step_is_refused(tmp_path: Path) -> None:
    told = json.loads(FILE.read_bytes())
    told["normalizer"]["normalizers"].append({"type": "Lowercase"})
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ValueError, match="Lowercase"):
        Unigram(path)
