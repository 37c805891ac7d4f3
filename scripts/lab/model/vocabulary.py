"""The tokenizer of the bundled model: which pieces stay, and the tokenizer.json made of them."""

import json
import unicodedata

import numpy as np
import wordfreq
from source import Source
from tokenizers import Tokenizer

ENGLISH_WORDS = 120_000
CHINESE_WORDS = 200_000
UNKNOWN = 3
SPECIALS = 4
"""`<s>`, `<pad>`, `</s>`, `<unk>` are pieces 0 to 3."""

_NEVER = -1000.0
"""The score of a special token: a text that contains the characters `<s>` means those characters."""

_SHORT = 2
_METASPACE = "▁"
_FULLWIDTH_TILDE = "\uff5e"
_NONCHARACTER = "\ufdd0"
"""Stands for the full-width tilde while NFKC runs, which would change it."""


def kept_pieces(source: Source) -> list[int]:
    """The pieces that English and Chinese need, in their old order."""
    structural = {i for i, piece in enumerate(source.pieces) if i < SPECIALS or _is_structural(piece)}
    return sorted(structural | _pieces_of_common_words(source))


def _is_structural(piece: str) -> bool:
    """True for a single character, a piece with a Han character, symbols, short or numbered ASCII."""
    text = piece.removeprefix(_METASPACE)
    if len(text) <= 1 or any(map(_is_han, text)):
        return True
    if not any(unicodedata.category(character)[0] in "LM" for character in text):
        return True
    return text.isascii() and (len(text) <= _SHORT or any(map(str.isdigit, text)))


def _is_han(character: str) -> bool:
    return (
        "\u3400" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def _pieces_of_common_words(source: Source) -> set[int]:
    english = wordfreq.top_n_list("en", ENGLISH_WORDS)
    chinese = wordfreq.top_n_list("zh", CHINESE_WORDS)
    capitalised = [word[:1].upper() + word[1:] for word in english]
    words = [*english, *capitalised, *map(str.upper, english), *chinese]
    tokenizer = Tokenizer.from_str(tokenizer_json(source, list(range(len(source.pieces)))))
    used: set[int] = set()
    for word in words:
        used.update(tokenizer.encode(word, add_special_tokens=False).ids)
    return used


def tokenizer_json(source: Source, kept: list[int]) -> str:
    """A tokenizer.json written by hand, so that its bytes do not depend on the tokenizers release."""
    scores = [_NEVER] * SPECIALS + source.scores[SPECIALS:]
    vocabulary = ",\n".join(
        f"[{json.dumps(source.pieces[i], ensure_ascii=False)},{_number(scores[i])}]" for i in kept
    )
    tokenizer: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": _normalizer(source),
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": _METASPACE,
            "prepend_scheme": "always",
            "split": True,
        },
        "post_processor": _template(source),
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": UNKNOWN, "vocab": "VOCABULARY", "byte_fallback": False},
    }
    text = json.dumps(tokenizer, ensure_ascii=False, indent=0)
    return text.replace('"VOCABULARY"', f"[\n{vocabulary}\n]") + "\n"


def _number(score: float) -> str:
    """The shortest decimal that is this float32."""
    return str(np.float32(score))


def _normalizer(source: Source) -> dict[str, object]:
    """SentencePiece's nmt_nfkc: what the source maps to nothing or to a space, then NFKC, then single spaces.

    NFKC on whole texts also composes decomposed letters, which the source's map by code point cannot.
    """
    changed = {
        c: text for c, text in source.normaliser.items() if text != unicodedata.normalize("NFKC", chr(c))
    }
    deleted = "".join(["\0", *(chr(c) for c, text in changed.items() if text == "")])
    spaces = "".join(chr(c) for c, text in changed.items() if text == " ")
    return {
        "type": "Sequence",
        "normalizers": [
            _replace(f"[{_escaped(deleted)}]", ""),
            _replace(f"[{_escaped(spaces)}]", " "),
            _replace(_FULLWIDTH_TILDE, _NONCHARACTER),
            {"type": "NFKC"},
            _replace(_NONCHARACTER, _FULLWIDTH_TILDE),
            {"type": "Strip", "strip_left": True, "strip_right": True},
            _replace(" {2,}", " "),
        ],
    }


def _escaped(characters: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in characters)


def _replace(pattern: str, content: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _template(source: Source) -> dict[str, object]:
    bos, eos = source.pieces[0], source.pieces[2]
    single: list[object] = [
        {"SpecialToken": {"id": bos, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": eos, "type_id": 0}},
    ]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            bos: {"id": bos, "ids": [0], "tokens": [bos]},
            eos: {"id": eos, "ids": [2], "tokens": [eos]},
        },
    }
