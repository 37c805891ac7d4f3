"""Sentences that state rules: what they are read as, and those that state none."""

import json

import pytest

from memory_server.domain import plain_rules
from tests.conftest import ROOT

ROWS = map(json.loads, (ROOT / "scripts/lab/quality/rules.jsonl").read_text("utf-8").splitlines())
SENTENCES = [(row["sentence"], row["effect"]) for row in ROWS if "sentence" in row and "set" not in row]

MAIN = "runs(act, 'git push main', 'git push master')"
FORCE = "runs(act, 'git push --force', 'git push --force-with-lease')"


@pytest.mark.parametrize(
    ("sentence", "trigger"),
    [
        ("never push to main", MAIN),
        ("ask me before you run terraform apply", "runs(act, 'terraform apply')"),
        ("don't touch migrations/", "touches(act, 'migrations/**')"),
        ("never read `.env`", "reads(act, '.env')"),
        ("never print the contents of `.env`", "reads(act, '.env')"),
        ("never run `scripts/deploy.sh`", "runs(act, 'deploy.sh')"),
        ("avoid editing `migrations/`", "touches(act, 'migrations/**')"),
        ("never force-push", FORCE),
        ("nie auf main pushen", MAIN),
        ("不要读取 `.env`", "reads(act, '.env')"),
        ("禁止 push 到 main", MAIN),
        ("main 分支禁止推送", MAIN),
        ("往 main 推代码之前先问我", MAIN),
        ("禁止强推", FORCE),
        ("不要强制推送到 dev 分支", FORCE.replace("force'", "force dev'").replace("lease'", "lease dev'")),
        ("测试用 `make test`，不要直接跑 `pytest`", "runs(act, 'pytest')"),
        ("不要运行 scripts/deploy.sh", "runs(act, 'deploy.sh')"),
        ("不要执行 `./bin/db drop`", "runs(act, 'db drop')"),
        ("不要推送", "runs(act, 'git push')"),
        ("不要用 npm，改用 `pnpm`", "runs(act, 'npm')"),
        ("不要对 migrations 目录做任何修改", "touches(act, 'migrations/**')"),
        ("不要改动 a.py、b.py", "touches(act, 'a.py') || touches(act, 'b.py')"),
        ("不要读 .env，也不要改 package.json", "reads(act, '.env') || touches(act, 'package.json')"),
        ("特别重要：执行 rm -rf 前必须先问我。", "runs(act, 'rm -rf')"),
    ],
)
def test_a_sentence_is_read_as_a_condition(sentence: str, trigger: str) -> None:
    plain = plain_rules.read(sentence)
    assert plain is not None
    assert plain.trigger == trigger


@pytest.mark.parametrize(("sentence", "effect"), SENTENCES)
def test_chinese_sentences_have_their_effect_or_are_refused(sentence: str, effect: str) -> None:
    plain = plain_rules.read(sentence)
    assert (plain.draft.effect if plain else "") == effect


@pytest.mark.parametrize(
    "sentence",
    [
        "never commit `.env`",
        "never run `scripts/`",
        "不要使用 `.env`",
        "不要把 `.env` 提交到 git",
        "不要读 .env；secrets/ 同理",
        "不要读 .env，除非我要求",
        "不要读 .env，运行 npm test 之前先问我",
        "不要用 npm 安装依赖",
        "不要推送到生产环境",
        "不要推送通知",
        "他不用有广告的软件，别推。",
        "不要访问 example.com",
        "不要只读 .env",
        "不得不运行 npm publish",
        "运行 npm test 不需要经我同意",
        "运行 npm test 前不用问我",
        "在生产环境，不要运行 npm publish",
        "不要读 .env 吗？",
        "不要读 \ue000",
    ],
)
def test_what_is_not_understood_whole_states_no_rule(sentence: str) -> None:
    assert plain_rules.read(sentence) is None


def test_the_first_rule_of_a_text_is_read_in_any_language() -> None:
    for text in ("Fine. Never push to main. Go on.", "好的。不要推送到 main！然后继续。"):
        plain = plain_rules.of_words(text)
        assert plain is not None
        assert plain.trigger == MAIN


def test_a_long_sentence_is_refused_at_once() -> None:
    for part in ("需要", "改动", "不要", "先问我", "都要", "或读取"):
        assert plain_rules.read(f"不要{part * 140}"[:300]) is None


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("不要推送到 main，除非是标签", "除非是标签"),
        ("除了周五，不要推送到 main", "除了周五"),
        ("在生产环境不要运行 terraform apply", "在生产环境"),
        ("推送前先问我，发布 npm 包之前也先问我", "发布 npm 包之前也先问我"),
        ("不要太晚睡", ""),
    ],
)
def test_the_part_of_a_chinese_sentence_that_is_left_over_is_named(sentence: str, words: str) -> None:
    assert plain_rules.read(sentence) is None
    assert plain_rules.not_understood(sentence) == words
