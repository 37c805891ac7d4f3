"""Verdicts on random files, compared with what the lines of the file say."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.ground import State, look, observe
from memory_server.ground.lines import digest, exact
from tests.ground.conftest import AMPLE

LINES = st.lists(
    st.sampled_from(
        [
            "shop_name = 1",
            "shop_name = 2",
            "call(shop_name)",
            "shop_names = 3",
            "x = 4",
            "",
            "  shop_name  =  1,",
        ]
    ),
    max_size=8,
)


def holding(lines: list[str]) -> set[str]:
    """Return the lines that hold the name, without white space and a comma at the end."""
    return {re.sub(r"\s|,$", "", line) for line in lines if re.search(r"\bshop_name\b", line)}


@given(old=LINES, new=LINES)
@settings(max_examples=150)
def test_a_verdict_says_what_the_lines_say(old: list[str], new: list[str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / "a.py").write_text("\n".join(old))
        anchors = observe("`shop_name` in a.py", root, seconds=AMPLE)
        assert [anchor.name for anchor in anchors] == (["shop_name"] if holding(old) else [""])
        (root / "a.py").write_text("\n".join(new))
        (verdict,) = look(anchors, root, seconds=AMPLE)
    stands = {State.SAME, State.MOVED}
    if not holding(old) or holding(old) <= holding(new):
        assert verdict.state in stands
    else:
        assert verdict.state is (State.CHANGED if holding(new) else State.GONE)
    if verdict.state is State.SAME and holding(old):
        assert new[verdict.line - 1].split() != []
        assert exact(new[verdict.line - 1]) == verdict.anchor.digests[0][:10]
    if verdict.text:
        assert verdict.text in (" ".join(line.split()) for line in new)
        assert not holding([verdict.text]) <= holding(old)


@given(st.text(max_size=80).filter(lambda line: "\n" not in line))
def test_formatting_leaves_a_digest_as_it_is(line: str) -> None:
    assert exact(f"\t {line},  ") == exact(line) == exact(line.replace("'", '"'))
    assert len(digest(line)) == 16
