"""Prepared texts are kept, as many as fit."""

import pytest

from memory_server.nlp import Segmenter
from memory_server.services import prepared
from memory_server.services.prepared import PreparedTexts


def test_a_text_is_prepared_once_until_others_push_it_out(
    segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "CHARACTERS", 10)
    texts = PreparedTexts(segmenter)
    first = texts.of("12345")
    assert first.content == "12345"
    texts.of("abcde")
    assert texts.of("12345") is first
    texts.of("x")  # pushes out what was asked for longest ago, which is abcde
    assert texts.of("12345") is first
    texts.of("longer than all that fits")
    assert texts.of("12345") is not first
