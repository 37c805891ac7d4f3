"""Rules in English are read whole or refused: no word that carries meaning is left over."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain import plain_rules
from tests.conftest import ROOT

ROWS = map(json.loads, (ROOT / "scripts/lab/quality/rules.jsonl").read_text("utf-8").splitlines())
LABELLED = [(row["sentence"], row["effect"]) for row in ROWS if row.get("set") == "english"]

MAIN = "runs(act, 'git push main', 'git push master')"
FORCED = "'git push --force x/y', 'git push --force-with-lease x/y'"

ACTS = {
    "read .env": "reads(act, '.env')",
    "open the file notes.txt": "reads(act, 'notes.txt')",
    "look into letters/": "reads(act, 'letters/**')",
    "touch migrations/": "touches(act, 'migrations/**')",
    "delete anything in the folder `old`": "touches(act, 'old/**')",
    "edit *.lock files": "touches(act, '*.lock')",
    "push to dev": "'git push dev'",
    "push code to the `next` branch": "'git push next'",
    "run terraform apply": "'terraform apply'",
    "use sudo": "'sudo'",
    "run `pytest`": "'pytest'",
    "git reset --hard": "'git reset --hard'",
}
"""Each act with the part of the trigger that holds it."""

DENIES = ("never {}", "do not {}", "please don't ever {}", "you must not {}")
ASKS = (
    "ask me before you {}",
    "always ask before {}",
    "don't {} without asking me",
    "never {} unless I say so",
)
JOINERS = (" or ", " and ", ", ", "; ", ". ", ", and ", " nor ")
MEANINGFUL = (
    "tonight", "unless it rains", "except x/", "except `x`", "only", "but", "customers", "outside", "if", "when", "too",
    "other", "not", "forget", "sometimes", "on Fridays", "in production", "than", "old", "says", "secrets", "also keys",
)  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "trigger"),
    [
        ("never read .env and don't touch x/", "reads(act, '.env') || touches(act, 'x/**')"),
        ("don't open or print a.txt", "reads(act, 'a.txt')"),
        ("never read, print or edit a.txt", "reads(act, 'a.txt') || touches(act, 'a.txt')"),
        ("never touch a.csv or the folder bank/", "touches(act, 'a.csv') || touches(act, 'bank/**')"),
        ("no git rebase, no git reset --hard", "runs(act, 'git rebase', 'git reset --hard')"),
        ("always ask before git push and before npm publish", "runs(act, 'git push', 'npm publish')"),
        ("before you push to main or run npm publish, ask me first", f"{MAIN[:-1]}, 'npm publish')"),
        ("ask before you change a.py or push to main", f"touches(act, 'a.py') || {MAIN}"),
        ("never push to main, dev or release/1.2", f"{MAIN[:-1]}, 'git push dev', 'git push release/1.2')"),
        ("never run git push to main", MAIN),
        ("never edit .db files", " || ".join(f"touches(act, '{name}')" for name in (".db", "*.db", ".db.*"))),
        ("never push or force push to x/y", f"runs(act, 'git push x/y', {FORCED})"),
        ("never run rm, use sudo, or call docker", "runs(act, 'rm', 'sudo', 'docker')"),
        ("never read .env, it holds secrets", "reads(act, '.env')"),
        ("never use npm, use pnpm instead", "runs(act, 'npm')"),
        ("Never push to main. Open a pull request instead.", MAIN),
        ("stop touching the Makefile", "touches(act, 'Makefile')"),
        ("never write to /etc or /usr", "touches(act, '/etc') || touches(act, '/usr')"),
    ],
)  # fmt: skip
def test_a_sentence_with_several_acts_becomes_all_of_them(sentence: str, trigger: str) -> None:
    plain = plain_rules.read(sentence)
    assert plain is not None
    assert plain.trigger == trigger


@pytest.mark.parametrize(
    ("sentence", "effect"),
    [
        ("don't run npm publish unless I say so", "ask"),
        ("never read a.txt or touch b/ without asking me first", "ask"),
        ("never push to main; ask me first", "ask"),
        ("never read a.txt", "deny"),
    ],
)
def test_the_effect_is_that_of_all_acts(sentence: str, effect: str) -> None:
    plain = plain_rules.read(sentence)
    assert plain is not None
    assert plain.draft.effect == effect


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("never run kubectl delete in production", "in production"),
        ("never push to main unless it is a tag", "unless it is a tag"),
        ("never edit legacy/ except legacy/a.md", "except legacy/a.md"),
        ("never read .env and ask before touching x/", "ask before touching x/"),
        ("never read a.txt without asking and never touch b/", "never touch b/"),
        ("never read .env because it has keys and don't touch x/", "because it has keys and don't touch x/"),
        ("never read .env; the same goes for secrets/", "the same goes for secrets/"),
        ("never edit the lock file", "the lock file"),
        ("never run terraform destroy tonight", "tonight"),
        ("never edit a.txt, read b.txt", "read b.txt"),
        ("never use npm and use pnpm", "use pnpm"),
        ("never read a.txt or edit it", "it"),
        ("never move files from a/ to b/", "to b/"),
        ("don't ask before pushing to main", "don't ask before pushing to main"),
        ("you need not ask; don't always push", "need not ask"),
        ("don't overwrite a.csv, but you may read it", "but you may read it"),
        ("never push to customers", "to customers"),
        ("never run psql -c 'drop table users'", "'drop table users'"),
        ("never read a.txt/b.txt", "a.txt/b.txt"),
        ("never push to main/dev", "to main/dev"),
        ("never read .env, our keys and tokens are secret", "our keys and tokens are secret"),
        ("they never push to main", "they never push to main"),
        ("never read a.txt and", "never read a.txt and"),
        ("be polite to customers", ""),
        ("do we ever push to main?", ""),
    ],
)
def test_what_is_not_understood_is_named(sentence: str, words: str) -> None:
    assert plain_rules.read(sentence) is None
    assert plain_rules.not_understood(sentence) == words


acts = st.sampled_from(sorted(ACTS))
marks = st.sampled_from(DENIES + ASKS)


@given(
    marks, st.lists(acts, min_size=1, max_size=4), st.lists(st.sampled_from(JOINERS), min_size=3, max_size=3)
)
def test_of_one_mark_all_acts_are_held_or_none(mark: str, stated: list[str], joiners: list[str]) -> None:
    listed = stated[0] + "".join(joiner + act for joiner, act in zip(joiners, stated[1:], strict=False))
    plain = plain_rules.read(mark.format(listed))
    assert plain is None or all(ACTS[act] in plain.trigger for act in stated)
    if plain is None:
        assert plain_rules.not_understood(mark.format(listed))


@given(st.lists(st.tuples(marks, acts), min_size=2, max_size=3), st.sampled_from(JOINERS))
def test_of_several_marks_all_acts_are_held_or_none(stated: list[tuple[str, str]], joiner: str) -> None:
    plain = plain_rules.read(joiner.join(mark.format(act) for mark, act in stated))
    effects = {mark in ASKS for mark, _ in stated}
    if len(effects) > 1:
        assert plain is None
    elif plain is not None:
        assert all(ACTS[act] in plain.trigger for _, act in stated)


@pytest.mark.parametrize("act", sorted(ACTS))
@pytest.mark.parametrize("mark", DENIES + ASKS)
def test_a_rule_of_one_act_is_read(mark: str, act: str) -> None:
    plain = plain_rules.read(mark.format(act))
    assert plain is not None
    assert ACTS[act] in plain.trigger
    assert plain.draft.effect == ("ask" if mark in ASKS else "deny")


@pytest.mark.parametrize("act", sorted(ACTS))
@pytest.mark.parametrize("mark", DENIES + ASKS)
def test_another_word_that_carries_meaning_is_never_left_over(mark: str, act: str) -> None:
    words = mark.format(act).split()
    sentences = (
        " ".join([*words[:place], word, *words[place:]])
        for place in range(len(words) + 1)
        for word in MEANINGFUL
    )
    assert [sentence for sentence in sentences if plain_rules.read(sentence)] == []


@pytest.mark.parametrize(("sentence", "effect"), LABELLED)
def test_labelled_sentences_have_their_effect_or_are_refused(sentence: str, effect: str) -> None:
    plain = plain_rules.read(sentence)
    assert plain is None or plain.draft.effect == effect
