"""Which shared words count once."""

import pytest

from memory_server.domain.short_term import Keyword, containing


def asked(*words: str | tuple[str, str]) -> list[Keyword]:
    pairs = [(word, word) if isinstance(word, str) else word for word in words]
    return [Keyword(word, 1.0, form) for word, form in pairs]


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (asked("王思琪", "王", "思琪", "火锅"), [[], ["王思琪"], ["王思琪"], []]),
        (asked("数据库", "数据", "据"), [[], ["数据库"], ["数据库", "数据"]]),
        (asked("src/app", "src", "app"), [[], ["src/app"], ["src/app"]]),
        (asked(("config", "configs"), "src/configs"), [["src/configs"], []]),
        (asked(("multiten", "multi-tenant"), "multi-tenant"), [["multi-tenant"], []]),
        (asked(("mous", "mice"), "mice"), [["mice"], []]),
        (asked("v3.12.4", ("3.12.4", "v3.12.4")), [[], ["v3.12.4"]]),
        (asked("2026-03-04", ("03-04", "2026-03-04"), "2026"), [[], ["2026-03-04"], []]),
        (asked("start", "art", "pve-01", "pve", "11-08", "11"), [[]] * 6),
        ([], []),
    ],
)
def test_a_word_inside_another_word_knows_it(keywords: list[Keyword], expected: list[list[str]]) -> None:
    assert containing(keywords) == expected
