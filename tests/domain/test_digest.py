"""Which notes are digested together, and what their digest says."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from memory_server.domain.digest import LEAST, Note, NoteKind, groups, is_telling
from memory_server.domain.digest import digest as digest_or_none
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.domain.moment import timestamp

NOW = "2026-06-14T09:00:00.000Z"


def note(
    text: str,
    days: float = 60,
    session: str | None = "s1",
    kind: NoteKind = NoteKind.MEMORY,
    id: int = 1,
    project: str = "shop",
    importance: int = 5,
    accesses: int = 0,
    tags: tuple[str, ...] = (),
) -> Note:
    at = timestamp(datetime.fromisoformat(NOW) - timedelta(days=days))
    return Note(kind, id, text, at, project, session, tags, importance, accesses)


def digest(group: Sequence[Note]) -> MemoryDraft:
    draft = digest_or_none(group)
    assert draft is not None
    return draft


def several(count: int, **fields: object) -> list[Note]:
    return [note(f"Note {n}", days=90 - n, id=n, **fields) for n in range(count)]  # type: ignore[arg-type]


def test_five_notes_of_a_session_belong_together_the_oldest_first() -> None:
    notes = several(LEAST)
    assert groups(notes[::-1], NOW) == [notes]
    assert groups(notes[1:], NOW) == []


def test_turns_and_observations_of_a_session_belong_together() -> None:
    notes = [*several(3), *several(3, kind=NoteKind.TURN)]
    assert len(groups(notes, NOW)[0]) == 6


def test_what_is_young_important_or_often_found_is_not_digested() -> None:
    for kept in ({"days": 29}, {"importance": 8}, {"days": 31, "importance": 7}, {"accesses": 1000}):
        notes = [note(f"Note {n}", id=n, **kept) for n in range(9)]  # type: ignore[arg-type]
        assert groups(notes, NOW) == [], kept


def test_notes_of_different_sessions_projects_or_none_belong_together_by_their_words() -> None:
    apart = [note(f"word{n} other{n}", session=f"s{n}", id=n) for n in range(9)]
    assert groups(apart, NOW) == []
    alike = [note(f"Reran the tests of part{n}: {n} passed", session=None, id=n) for n in range(9)]
    assert [len(group) for group in groups([*apart, *alike], NOW)] == [9]
    elsewhere = [note(each.text, session=None, id=each.id, project=f"p{each.id}") for each in alike]
    assert groups(elsewhere, NOW) == []


def test_a_digest_says_the_most_telling_sentences_in_their_order_and_names_the_rest() -> None:
    texts = [
        "The import of old orders stops at the first bad row.",
        "Oksana looked at import.log.",
        "Fixed the import: a bad row of old orders is skipped and counted.",
        "Lunch was late.",
        "The import of all old orders takes 12 minutes now.",
        "Called Pia about the printer on 2026-04-02.",
    ]
    group = [
        note(text, days=60 - n, id=n, tags=("import", f"t{n}"), importance=3 + n % 3)
        for n, text in enumerate(texts)
    ]
    draft = digest(group)
    assert draft.content == (
        "Fixed the import: a bad row of old orders is skipped and counted. "
        "The import of all old orders takes 12 minutes now. "
        "Called Pia about the printer on 2026-04-02. "
        "(Digest of 6 observations, 2026-04-15 to 2026-04-20; also: import.log.)"
    )
    assert (draft.type, draft.project, draft.tags) == (MemoryType.LEARNING, "shop", ("digest", "import"))
    assert (draft.importance, draft.occurred_at, draft.session) == (5, group[-1].at, None)


def test_a_chinese_digest_counts_turns_too() -> None:
    group = [
        *(note(f"缓存{n}分钟后过期，要刷新", id=n) for n in range(4)),
        *(note(f"订单导入失败{n}次", id=n, kind=NoteKind.TURN) for n in range(2)),
    ]
    draft = digest(group)
    assert draft.content.endswith("(Digest of 4 observations and 2 turns, 2026-04-15.)")
    assert draft.project == "shop"


def test_a_digest_repeats_no_sentence_and_is_the_same_each_time() -> None:
    group = [note("The cache is warm after 40 s.", id=n) for n in range(30)]
    assert digest(group).content.count("The cache") == 1
    assert digest(group) == digest(group)


GREETINGS = (
    *("Tim: Hey John!", "John: Hey Tim, great to hear from you! How are you?", "Tim: Woohoo!"),
    *("John: That's awesome, Tim!", "Tim: Thanks, John!", "John: See you soon. Take care!"),
)


def test_greetings_make_no_digest() -> None:
    assert digest_or_none([note(text, id=n) for n, text in enumerate(GREETINGS)]) is None
    assert digest_or_none([note("…", id=n) for n in range(5)]) is None


def test_a_digest_of_a_dialogue_says_what_it_was_about_and_who_said_it() -> None:
    texts = [
        *GREETINGS,
        "Tim: Cool! My sister Ana adopted a greyhound from the shelter in Leeds.",
        *GREETINGS,
    ]
    group = [note(text, id=n) for n, text in enumerate(texts)]
    said = "Tim: My sister Ana adopted a greyhound from the shelter in Leeds."
    assert digest(group).content == f"{said} (Digest of 13 observations, 2026-04-15.)"


def test_what_searches_have_found_is_told_before_what_they_have_not() -> None:
    texts = [
        f"The {part} of the bakery has a cracked {part} hinge."
        for part in ("oven", "cellar", "pantry", "porch")
    ]
    group = [note(text, id=n, accesses=9 if "porch" in text else 0) for n, text in enumerate(texts)]
    assert digest(group).content.startswith("The porch of the bakery")


def test_a_digest_of_an_older_version_that_repeats_greetings_tells_nothing() -> None:
    assert not is_telling(f"{' '.join(GREETINGS)} (Digest of 20 observations, 2026-04-15; also: Leeds, Ana.)")
    assert is_telling("Rewritten: hey, well done!")
    assert is_telling(
        "The import of old orders stops at the first bad row. (Digest of 6 observations, 2026-04-15.)"
    )
