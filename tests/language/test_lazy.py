"""A lazy pattern is a pattern."""

import re
import subprocess
import sys

import pytest

from memory_server.language.lazy import lazy


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize("text", ["Abc abd", "", "xyz"])
def test_a_lazy_pattern_finds_what_the_compiled_one_finds(flags: int, text: str) -> None:
    slow, quick = lazy("ab(?P<last>.)", flags), re.compile("ab(?P<last>.)", flags)
    for _ in range(2):
        assert slow.findall(text) == quick.findall(text)
        assert [each.groupdict() for each in slow.finditer(text)] == [
            each.groupdict() for each in quick.finditer(text)
        ]
        assert slow.sub("x", text) == quick.sub("x", text)
        assert (slow.match(text) is None, slow.fullmatch(text) is None) == (
            quick.match(text) is None,
            quick.fullmatch(text) is None,
        )
    assert (slow.pattern, slow.flags) == (quick.pattern, quick.flags)


def test_a_wrong_pattern_fails_when_it_is_used() -> None:
    wrong = lazy("(")
    with pytest.raises(re.error):
        wrong.match("x")


def test_the_import_compiles_none() -> None:
    code = "import re; re.compile = None; from memory_server.language.lazy import lazy; lazy('(')"
    subprocess.run([sys.executable, "-c", code], check=True)
