"""Texts that hold a secret, and texts that only look so. Written before any rule was.

Every value is made up: random characters of the right alphabet and length, drawn from a fixed seed, or pieces that are
put together here. No file holds a whole one, so no scanner takes this repository for a leak.

Every third sample of each list is `held_out`: the rules were written and tuned without a look at its results.
"""

# ruff: noqa: E501 - an entry is a line

import random
import string
from dataclasses import dataclass
from typing import Any

HEX = string.digits + "abcdef"
LOWER = string.ascii_lowercase
LETTERS = string.ascii_letters
UPPER_DIGITS = string.ascii_uppercase + string.digits
ALNUM = LETTERS + string.digits
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True, slots=True)
class Sample:
    """`values` are what one call brings: texts, or JSON."""

    name: str
    values: tuple[Any, ...]
    held_out: bool


def made(alphabet: str, length: int, seed: str) -> str:
    chance = random.Random(f"{seed} {alphabet} {length}")
    return "".join(chance.choice(alphabet) for _ in range(length))


def _uuid(seed: str) -> str:
    digits = made(HEX, 32, seed)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _jwt(seed: str) -> str:
    return f"ey{'JhbGciOiJIUzI1NiJ9'}.ey{made(ALNUM, 60, seed)}.{made(URL64, 43, seed)}"


PASS = "pass" + "word"
WORD = "PASS" + "WORD"
PW = "Xk9#" + "mQ2vL"
PW2 = "b7T!" + "wz48Qd"
HUNTER = "hunt" + "er2"
MIMA = "密" + "码"
SECRET = "sec" + "ret"
TOKEN = "to" + "ken"
KEY = "k" + "ey"
BEGIN = "-----BE" + "GIN "
PRIVATE = "PRI" + "VATE KEY"
GITHUB = "gh" + "p_" + made(ALNUM, 36, "github")
OPENAI = "s" + "k-" + "proj-" + made(URL64, 74, "o1") + "T3Blbk" + "FJ" + made(URL64, 74, "o2")
AWS_SECRET = made(ALNUM, 19, "aws1") + "/" + made(ALNUM, 20, "aws2")

_SECRETS: list[tuple[str, Any]] = [
    # Prefixes of providers
    ("GitHub personal token", f"the bot uses {GITHUB} for releases"),
    ("GitHub OAuth token", "gh" + "o_" + made(ALNUM, 36, "gho")),
    ("GitHub server token", "gh" + "s_" + made(ALNUM, 36, "ghs")),
    ("GitHub fine-grained", "github" + "_pat_" + made(ALNUM, 22, "fg1") + "_" + made(ALNUM, 59, "fg2")),
    ("GitLab personal token", "gl" + "pat-" + made(URL64, 20, "glpat")),
    ("GitLab deploy token", "gl" + "dt-" + made(URL64, 20, "gldt")),
    ("GitLab runner token", "gl" + "rt-" + made(URL64, 20, "glrt")),
    ("GitLab routable token", "gl" + "pat-" + made(URL64, 40, "glpat2") + ".01." + made(HEX, 9, "glpat3")),
    ("npm token", "//registry.npmjs.org/:_authToken=np" + "m_" + made(ALNUM, 36, "npm")),
    ("PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + made(URL64, 120, "pypi")),
    ("Hugging Face token", "h" + "f_" + made(LETTERS, 34, "hf")),
    ("Hugging Face in Chinese", "模型用这个令牌下载：h" + "f_" + made(LETTERS, 34, "hf2") + "，别外传"),
    ("Groq key", "gs" + "k_" + made(ALNUM, 20, "groq") + "WGdyb3FY" + made(ALNUM, 24, "groq2")),
    ("Stripe live key", "s" + "k_live_" + made(ALNUM, 99, "stripe")),
    ("Stripe live key, old", "s" + "k_live_" + made(ALNUM, 24, "stripe2")),
    ("Stripe restricted key", "r" + "k_live_" + made(ALNUM, 24, "stripe3")),
    ("Stripe webhook secret", "wh" + "sec_" + made(ALNUM, 32, "stripe4")),
    ("Stripe test key", "s" + "k_test_" + made(ALNUM, 24, "stripe5")),
    ("SendGrid key", "S" + "G." + made(URL64, 22, "sg1") + "." + made(URL64, 43, "sg2")),
    ("Slack bot token", "xo" + "xb-" + made(string.digits, 12, "s1") + "-" + made(string.digits, 13, "s2") + "-" + made(ALNUM, 24, "s3")),
    ("Slack user token", "xo" + "xp-" + "-".join(made(string.digits, 12, f"s{n}") for n in "456") + "-" + made(HEX, 32, "s7")),
    ("Slack app token", "xa" + "pp-1-A" + made(UPPER_DIGITS, 10, "s8") + "-" + made(string.digits, 13, "s9") + "-" + made(HEX, 64, "s10")),
    ("Slack refresh token", "xo" + "xe-1-" + made(UPPER_DIGITS, 146, "s11")),
    ("Slack webhook", "https://hooks.sl" + "ack.com/services/T" + made(UPPER_DIGITS, 10, "s12") + "/B" + made(UPPER_DIGITS, 10, "s13") + "/" + made(ALNUM, 24, "s14")),
    ("Discord bot token", "M" + made(ALNUM, 23, "d1") + "." + made(URL64, 6, "d2") + "." + made(URL64, 38, "d3")),
    ("Discord webhook", "https://disc" + "ord.com/api/webhooks/" + made(string.digits, 19, "d4") + "/" + made(URL64, 68, "d5")),
    ("Telegram bot token", "8" + made(string.digits, 9, "t1") + ":A" + "A" + made(URL64, 33, "t2")),
    ("Telegram in an address", "https://api.telegram.org/bot6" + made(string.digits, 8, "t3") + ":A" + "A" + made(URL64, 33, "t4") + "/getMe"),
    ("Google API key", "AI" + "za" + made(URL64, 35, "g1")),
    ("Google OAuth client secret", "GO" + "CSPX-" + made(URL64, 28, "g2")),
    ("Google OAuth access token", "ya" + "29.a0" + made(URL64, 120, "g3")),
    ("Google OAuth refresh token", "1/" + "/0g" + made(URL64, 60, "g4")),
    ("DigitalOcean token", "do" + "p_v1_" + made(HEX, 64, "do")),
    ("DigitalOcean OAuth token", "do" + "o_v1_" + made(HEX, 64, "do2")),
    ("Vault token", "hv" + "s." + made(URL64, 92, "v1")),
    ("Vault batch token", "hv" + "b." + made(URL64, 140, "v2")),
    ("Grafana service account", "gl" + "sa_" + made(ALNUM, 32, "gr1") + "_" + made(HEX, 8, "gr2")),
    ("Grafana cloud token", "gl" + "c_" + made(BASE64, 60, "gr3")),
    ("Databricks token", "da" + "pi" + made(HEX, 32, "db") + "-2"),
    ("Shopify access token", "sh" + "pat_" + made(HEX, 32, "sh1")),
    ("Shopify shared secret", "sh" + "pss_" + made(HEX, 32, "sh2")),
    ("Linear key", "li" + "n_api_" + made(ALNUM, 40, "l1")),
    ("Linear OAuth token", "li" + "n_oauth_" + made(HEX, 64, "l2")),
    ("Notion token", "nt" + "n_" + made(string.digits, 11, "n1") + made(ALNUM, 35, "n2")),
    ("Notion token, old", SECRET + "_" + made(ALNUM, 43, "n3")),
    ("Azure storage account", f"DefaultEndpointsProtocol=https;AccountName=logs;Account{'Key'}=" + made(BASE64, 86, "az1") + "=="),
    ("Azure service bus", f"SharedAccessKeyName=Root;SharedAccess{'Key'}=" + made(BASE64, 43, "az2") + "="),
    ("Azure client secret", made(ALNUM, 3, "az3") + "8Q~" + made(URL64, 34, "az4")),
    ("AWS access key", "AK" + "IA" + made(UPPER_DIGITS[:26] + "234567", 16, "aws")),
    ("AWS secret assignment", f"aws_{SECRET}_access_{KEY} = " + AWS_SECRET),
    ("AWS secret in JSON", {f"Secret{'Access'}Key": AWS_SECRET}),
    ("OpenAI key", OPENAI),
    ("OpenAI key, old", "s" + "k-" + made(ALNUM, 20, "o3") + "T3Blbk" + "FJ" + made(ALNUM, 20, "o4")),
    ("Anthropic key", "s" + "k-ant-" + "api03-" + made(URL64, 93, "a1") + "AA"),
    ("OpenRouter key", "s" + "k-or-v1-" + made(HEX, 64, "or")),
    ("DeepSeek key", "s" + "k-" + made(HEX, 32, "ds")),
    ("Perplexity key", "pp" + "lx-" + made(ALNUM, 48, "pp")),
    ("xAI key", "xa" + "i-" + made(ALNUM, 80, "xai")),
    ("Replicate token", "r" + "8_" + made(ALNUM, 37, "r8")),
    ("Supabase token", "sb" + "p_" + made(HEX, 40, "sb")),
    ("Twilio API key", "S" + "K" + made(HEX, 32, "tw")),
    ("Mailgun key", "k" + "ey-" + made(HEX, 32, "mg")),
    ("Mailchimp key", made(HEX, 32, "mc") + "-us" + "12"),
    ("Square token", "sq" + "0atp-" + made(URL64, 22, "sq")),
    ("Postman key", "PM" + "AK-" + made(HEX, 24, "pm") + "-" + made(HEX, 34, "pm2")),
    ("Terraform Cloud token", made(ALNUM, 14, "tf") + ".atl" + "asv1." + made(URL64, 67, "tf2")),
    ("Docker Hub token", "dc" + "kr_pat_" + made(URL64, 27, "dk")),
    ("Figma token", "fi" + "gd_" + made(URL64, 40, "fg")),
    ("Sentry token", "sn" + "tryu_" + made(HEX, 64, "se")),
    ("New Relic key", "NR" + "AK-" + made(UPPER_DIGITS, 27, "nr")),
    ("Atlassian token", "AT" + "ATT3xFfGF0" + made(URL64, 170, "at") + "=" + made(HEX, 8, "at2").upper()),
    ("Airtable token", "pa" + "t" + made(ALNUM, 14, "ai") + "." + made(HEX, 64, "ai2")),
    ("RubyGems key", "ruby" + "gems_" + made(HEX, 48, "rg")),
    ("crates.io token", "ci" + "o" + made(ALNUM, 32, "cr")),
    ("Tailscale key", "ts" + "key-auth-" + made(ALNUM, 17, "ts") + "-" + made(ALNUM, 32, "ts2")),
    ("PlanetScale password", "psc" + "ale_pw_" + made(URL64, 43, "ps")),
    ("Pulumi token", "pu" + "l-" + made(HEX, 40, "pu")),
    ("Alibaba access key", "LT" + "AI5t" + made(ALNUM, 18, "al")),
    ("Tencent secret id", "AK" + "ID" + made(ALNUM, 32, "te")),
    ("Doppler token", "dp" + ".pt." + made(ALNUM, 43, "dp")),
    ("Postmark-like bearer", "curl -H 'Authoriza" + "tion: Bearer " + made(URL64, 40, "b1") + "' https://api.acme.dev"),
    ("Basic header", "Authoriza" + "tion: Basic " + made(BASE64, 27, "b2") + "="),
    ("Bearer alone", "it answers when called with Bearer " + made(ALNUM, 44, "b3")),
    ("JSON web token", f"cookie session={_jwt('j1')}"),
    ("WeCom webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?" + "key=" + _uuid("wc")),
    ("DingTalk webhook", "https://oapi.dingtalk.com/robot/send?access_" + f"{TOKEN}=" + made(HEX, 64, "dt")),
    ("Feishu webhook", "https://open.feishu.cn/open-apis/bot/v2/" + "hook/" + _uuid("fs")),
    # Keys in armour
    ("RSA private key", BEGIN + "RSA " + PRIVATE + "-----\nMII" + made(BASE64, 60, "rsa")),
    ("OpenSSH private key", BEGIN + "OPENSSH " + PRIVATE + "-----\nb3BlbnNzaC1rZXktdjEAAAAA"),
    ("PKCS8 key in JSON", {"type": "service_account", "private_key": BEGIN + PRIVATE + "-----\\nMIIE" + made(BASE64, 40, "p8")}),
    ("PGP private key block", BEGIN + "PGP " + PRIVATE + " BLOCK-----\n\nlQOYBF" + made(BASE64, 40, "pgp")),
    ("age key", "AGE-SEC" + "RET-KEY-1" + made(BECH32, 58, "age")),
    ("PuTTY key", "PuTTY-User-" + "Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-" + "Lines: 1\n" + made(BASE64, 44, "ppk")),
    ("SSH2 private key", "---- BE" + "GIN SSH2 ENCRYPTED " + PRIVATE + " ----\nComment: x"),
    # Addresses
    ("Postgres address", f"postgres://app:{PW2}@db.internal:5432/app"),
    ("Redis without a user", "redis://:" + made(ALNUM, 16, "redis") + "@cache:6379/0"),
    ("MongoDB address", "mongodb+srv://root:" + made(ALNUM, 14, "mongo") + "@cluster0.abcde.mongodb.net"),
    ("Basic auth in an address", "git clone https://deploy:" + made(ALNUM, 20, "git") + "@git.acme.dev/app.git"),
    ("JDBC address", f"jdbc:mysql://db:3306/app?user=app&{PASS}=" + made(ALNUM, 12, "jdbc")),
    # Assignments
    ("dotenv", f"DB_{WORD}={PW}"),
    ("dotenv, one of many", f"DB_HOST=localhost\nDB_USER=app\nDB_{WORD}={HUNTER}\nDB_NAME=app"),
    ("export", f"export MYSQL_ROOT_{WORD}='{PW2}'"),
    ("YAML", f"db:\n  user: app\n  {PASS}: {PW}\n"),
    ("YAML, Kubernetes env", f"- name: DB_{WORD}\n  value: {PW2}"),
    ("JSON text", '{"user": "app", "' + PASS + '": "' + PW + '"}'),
    ("JSON value", {"db": {"user": "app", PASS: PW}}),
    ("JSON camel case", {"clientSec" + "ret": made(ALNUM, 32, "cs")}),
    ("JSON list under the name", {PASS + "s": [PW, PW2]}),
    ("Markdown", f"* **Root {PASS.title()}:** `{PW}`"),
    ("Markdown table", f"| user | {PASS} |\n|---|---|\n| root | {PW} |"),
    ("Sentence: is", f"The root {PASS} is {PW}."),
    ("Sentence: for the box", f"the {PASS} for the staging box is {PW2}, don't lose it"),
    ("Sentence: set to", f"I set the admin {PASS} to {PW} yesterday"),
    ("Sentence: a weak one", f"my wifi {PASS} is {HUNTER}"),
    ("Sentence: quoted words", f'the {PASS} is "correct horse battery staple"'),
    ("Sentence: passphrase", f"passphrase: {PW2}"),
    ("Sentence: in brackets", f"log in as admin ({PASS} {PW})"),
    ("Sentence: user and password", f"Login: admin / {PW}, {PASS} as above"),
    ("API key assignment", "weather_api_" + f"{KEY} = '" + made(HEX, 32, "wk") + "'"),
    ("API key sentence", f"the API {KEY} is " + made(ALNUM, 30, "wk2")),
    ("Header X-API-Key", f"X-Api-{'Key'}: " + made(HEX, 40, "wk3")),
    ("Client secret", f"client_{SECRET}=" + made(URL64, 32, "cs2")),
    ("Django secret key", f"SECRET_{'KEY'} = 'django-insecure-" + made(ALNUM + "#$%^&*", 50, "dj") + "'"),
    ("Encryption key", f"ENCRYPTION_{'KEY'}: " + made(HEX, 64, "ek")),
    ("Heroku key", f"HEROKU_API_{'KEY'}=" + _uuid("hk")),
    ("Connection string", f"Server=db;User Id=sa;Pwd={PW2};TrustServerCertificate=True"),
    ("sshpass", f"sshpass -p '{PW}' ssh root@10.0.0.5"),
    ("curl with user", f"curl -u admin:{PW2} https://nexus.acme.dev"),
    ("SQL", f"CREATE USER app IDENTIFIED BY '{PW}'"),
    ("netrc", f"machine api.acme.dev login bot {PASS} {PW2}"),
    ("Command line option", f"mysqldump --user=root --{PASS}={HUNTER} app"),
    ("TOML", f"[auth]\n{TOKEN} = \"" + made(URL64, 40, "toml") + '"'),
    ("Python", f'{PASS} = "{PW2}"'),
    ("Fact key and value", {"db.root_" + PASS: PW}),
    # Chinese
    ("是", f"数据库{MIMA}是{PW}"),
    ("是, weak", f"路由器的{MIMA}是{HUNTER}，别忘了"),
    ("冒号", f"管理员{MIMA}：{PW2}。"),
    ("为", f"root 的登录{MIMA}为 {PW}"),
    ("改成", f"我把测试环境的{MIMA}改成了{PW2}"),
    ("数字", f"门禁{MIMA}是" + "4829" + "1736"),
    ("引号", f"{MIMA}是「{PW}」"),
    ("繁体", f"資料庫密{'碼'}是{PW}"),
    ("口令", f"服务器口令：{PW2}"),
    ("密钥", "接口密钥是" + made(ALNUM, 32, "zh1")),
    ("令牌", "访问令牌为" + made(HEX, 40, "zh2") + "有效期一年"),
    ("全角", "ＤＢ＿ＰＡＳＳＷＯＲＤ＝" + PW),
    ("账号密码", f"账号admin{MIMA}{PW}"),
    ("账号/密码", f"账号/{MIMA}：admin/{PW2}"),
    ("现在是", f"生产库的{MIMA}现在是{PW}了"),
    ("token 贴着中文", f"请用{GITHUB}推送代码"),
    ("JSON 中文键", {"数据库": {MIMA: PW2}}),
    # Split over the texts of one call
    ("split token", ("here is the first half: gh" + "p_" + made(ALNUM, 15, "x1"), made(ALNUM, 21, "x2") + " and the second")),
    ("split key, three parts", ("s" + "k-ant-" + "api03-" + made(URL64, 30, "x3"), made(URL64, 33, "x4"), made(URL64, 30, "x5") + "AA")),
    ("split assignment", (f"the root {PASS} is", PW)),
    ("split assignment, Chinese", (f"数据库的{MIMA}是", PW2)),
    ("question and answer", (f"What is the {PASS} of the router?", f"It is {PW}")),
    ("split armour", (BEGIN + "EC PRI", "VATE KEY-----\nMHcCAQEEI" + made(BASE64, 30, "x6"))),
    ("split AWS key", ("AK" + "IA" + made(UPPER_DIGITS[:26], 8, "x7"), made(UPPER_DIGITS[:26], 8, "x8"))),
]  # fmt: skip

_LOOKALIKES: list[tuple[str, Any]] = [
    # Hashes, ids, public things
    ("git SHA", "fixed in " + made(HEX, 40, "c1")),
    ("short SHA", "see commit 5d7812f"),
    ("SHA-256", "sha256:" + made(HEX, 64, "c2")),
    ("MD5", "the md5 of the file is " + made(HEX, 32, "c3")),
    ("UUID", "request id " + _uuid("c4")),
    ("UUID as a key", {"id": _uuid("c5"), "trace_id": _uuid("c6")}),
    ("SSH public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made(BASE64, 43, "c7") + " ada@laptop"),
    ("SSH RSA public key", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + made(BASE64, 300, "c8") + " ci"),
    ("public key", BEGIN + "PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI" + made(BASE64, 60, "c9")),
    ("PGP public key", BEGIN + "PGP PUBLIC KEY BLOCK-----\n\nmQENBF" + made(BASE64, 60, "c10")),
    ("certificate", BEGIN + "CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE" + made(BASE64, 300, "c11")),
    ("PNG in base64", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg" + made(BASE64, 2000, "c12")),
    ("base64 alone", made(BASE64, 500, "c13") + "=="),
    ("base64url alone", made(URL64, 500, "c14")),
    ("npm integrity", '"integrity": "sha512-' + made(BASE64, 86, "c15") + '=="'),
    ("go.sum", "golang.org/x/text v0.14.0 h1:" + made(BASE64, 43, "c16") + "="),
    ("Cargo.lock", 'checksum = "' + made(HEX, 64, "c17") + '"'),
    ("poetry.lock", '{file = "idna-3.6.tar.gz", hash = "sha256:' + made(HEX, 64, "c18") + '"}'),
    ("Docker digest", "python:3.12-slim@sha256:" + made(HEX, 64, "c19")),
    ("subresource", "sha384-" + made(BASE64, 64, "c20")),
    ("bcrypt hash", f"the stored {PASS} hash is $2b$12$" + made(ALNUM, 53, "c21")),
    ("crypt hash as value", f"{PASS}: $6$" + made(ALNUM, 8, "c22") + "$" + made(ALNUM, 86, "c23")),
    ("Stripe publishable key", "p" + "k_live_" + made(ALNUM, 24, "c24")),
    ("Stripe object id", "cus_" + made(ALNUM, 14, "c25") + " paid with pi_" + made(ALNUM, 24, "c26")),
    ("Slack channel", "post it to C0" + made(UPPER_DIGITS, 9, "c27")),
    ("AWS ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3"),
    ("AWS account", "the account is 123456789012 in eu-central-1"),
    ("age recipient", "age1" + made(BECH32.lower(), 58, "c28")),
    ("Twilio account SID", "A" + "C" + made(HEX, 32, "c29")),
    ("Sentry DSN, public key only", "https://" + made(HEX, 32, "c30") + "@o12345.ingest.sentry.io/67890"),
    ("Ethereum address", "0x" + made(HEX, 40, "c31")),
    ("Bitcoin address", "bc1q" + made(BECH32.lower(), 38, "c32")),
    ("YouTube and Drive ids", "https://drive.google.com/file/d/1" + made(URL64, 32, "c33") + "/view"),
    ("Google client id", "123456789012-" + made(LOWER + string.digits, 32, "c34") + ".apps.googleusercontent.com"),
    ("Discord snowflake", "channel 1098765432109876543"),
    ("Telegram chat", "chat -1001234567890, message 4321"),
    ("host and port", "10.0.0.5:8080 and [::1]:5432"),
    ("time stamps", "2026-03-14T09:26:53.589Z 1710408413:1710408999"),
    ("ISBN and phone", "ISBN 978-3-16-148410-0, phone +49 170 1234567"),
    ("licence of a font", "SIL-OFL-1.1, SPDX-License-Identifier: Apache-2.0"),
    # Placeholders
    ("xxxx", "gh" + "p_" + "x" * 36),
    ("dotenv xxxx", f"DB_{WORD}=xxxxxxxx"),
    ("stars", f"{PASS}: ********"),
    ("angle brackets", "Authoriza" + "tion: Bearer <token>"),
    ("variable", f"DB_{WORD}=${{DB_{WORD}}}"),
    ("shell variable", f"mysql --{PASS}=$MYSQL_ROOT_{WORD}"),
    ("template", f"{PASS}: {{{{ vault_db_{PASS}2 }}}}"),
    ("your key here", "OPENAI_API_" + "KEY=your-api-key-here-1234"),
    ("sk-your", "set it to s" + "k-your-openai-key-here-1234567890"),
    ("AWS sample", "AKIAIOSFODNN7" + "EXAMPLE"),
    ("AWS sample secret", f"aws_{SECRET}_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"),
    ("Stripe sample", "s" + "k_test_4eC39HqLyjWDarjtT1" + "zdp7dc"),
    ("Telegram sample", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5" + "PALDsaw"),
    ("JWT sample", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2" + "MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"),
    ("changeme", f"POSTGRES_{WORD}=changeme123"),
    ("counted up", "s" + "k-1234567890abcdef1234567890abcdef"),
    ("repeated", "AI" + "za" + "b" * 35),
    ("dots", "the token begins with gh" + "p_... and ends in 4f"),
    ("address template", "postgres://user:<password>@host:5432/db and redis://:${REDIS_PASS}@cache"),
    ("address sample", "postgres://user:password@localhost/db"),
    ("redacted", f"{PASS}=[REDACTED], token=***"),
    ("sops", f"{PASS}: ENC[AES256_GCM,data:" + made(BASE64, 20, "c35") + ",iv:" + made(BASE64, 20, "c36") + "]"),
    ("1Password reference", f"DB_{WORD}=op://prod/db-main2/password"),
    ("key and star", "Rotate the key AKIA… in the vault, the gh" + "p_ token too"),
    ("环境变量占位", f"{MIMA}：<在这里填写>，或者 ${{DB_PASS}}"),
    ("示例", f"{MIMA}是 your-password-123 这样的格式"),
    # Sentences about passwords
    ("policy", f"the {PASS} policy requires 12 characters"),
    ("stored", f"the {PASS} is stored in 1Password under db-main-2"),
    ("required", f"{PASS}: required, at least 8 characters"),
    ("expired", f"the {TOKEN} is expired, log in again"),
    ("case", f"the {PASS} is case-sensitive and the {TOKEN} is opaque-by-design"),
    ("hashed", f"the {PASS} is SHA256 hashed, then bcrypt with cost 12"),
    ("algorithm", f"{TOKEN}: RS256, {SECRET}: base64-encoded"),
    ("length", f"{PASS} length is 16-24 and the {PASS} for admins is longer"),
    ("rotation", f"API {KEY} rotation is due 2026-05-01; the API {KEY} was revoked 2026-04-12"),
    ("who knows", f"ask Ada: the root {PASS} is known to her only"),
    ("where", f"the API {KEY} is in /etc/app/keys/api_key_v2.txt"),
    ("env name", f"the {SECRET} is read from GITHUB_TOKEN_V2"),
    ("ticket", f"{PASS} reset: see OPS-48213"),
    ("version", f"the {TOKEN} service is v2.14.3"),
    ("tokens of a model", f"max_{TOKEN}s: 128000, {TOKEN}_count=4096, the prompt is 512 {TOKEN}s"),
    ("tokenizer", f"eos_{TOKEN}: <|endoftext|>, pad_{TOKEN}: [PAD2], {TOKEN}: cl100k_base"),
    ("page token", f"next_page_{TOKEN}: CAUQAA" + made(ALNUM, 24, "c37")),
    ("primary key", "the primary key is user_id_2024, foreign key: order_line_item_7"),
    ("key binding", "the key is Ctrl+Shift+P; hot key: F12; key: value2"),
    ("public key sentence", "the public key is ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made(BASE64, 43, "c38")),
    ("secret of success", f"the {SECRET} of success is 90% sweat"),
    ("a date", f"{PASS} last changed: 2026-03-14T09:26:53Z"),
    ("url", f"{PASS} reset: https://id.acme.dev/reset/v2?lang=en1"),
    ("issue", f"wrong {PASS}: error 0x80070056, code=E1234"),
    ("boolean", f"require_{PASS}: true, save_{PASS}=false, {PASS}: null"),
    ("package", f"{PASS}: argon2-cffi==23.1.0, {TOKEN}: pyjwt2"),
    ("path", f"{PASS}=/run/secrets/db_password_v2 and {TOKEN}: ~/.config/gh/hosts2.yml"),
    # Code
    ("environ", f'{PASS} = os.environ["DB_{WORD}1"]'),
    ("getenv", f"{TOKEN} = process.env.GITHUB_TOKEN2 || config.auth.token2"),
    ("annotation", f"def login(user: str, {PASS}: str, {TOKEN}: Token2 | None = None) -> str:"),
    ("call", f"{SECRET} = secrets.token_hex(32); {PASS} = getpass('Password 1: ')"),
    ("same name", f"connect(user=user, {PASS}={PASS}, {TOKEN}=self._token2)"),
    ("index", f"{PASS} = row['pw1']; {TOKEN} = parts[1]; api_{KEY} = keys[0]"),
    ("f-string", f"{PASS}=f\"{{user}}-{{pin2}}\", {TOKEN}='%s' % token1"),
    ("SQL column", f"{PASS} VARCHAR(255) NOT NULL, {TOKEN} CHAR(64), {PASS}: varchar(255)"),
    ("HTML", f'<input type="{PASS}" name="{PASS}" placeholder="Password 1" autocomplete="new-{PASS}">'),
    ("CSS and JS", f"const isPassword2 = type === '{PASS}'; .token2 {{ color: #a1b2c3d4 }}"),
    ("GitHub Actions", f"{TOKEN}: ${{{{ secrets.GITHUB_TOKEN }}}}"),
    ("Terraform", f"{PASS} = var.db_{PASS}_v2\n{SECRET} = data.aws_secret.db1.arn"),
    ("Helm", f"existingSecret: app-db-2024, {PASS}Key: postgres-{PASS}-1"),
    ("Bearer code", "headers['Authoriza" + "tion'] = `Bearer ${token2}`; Bearer authentication2 is used"),
    ("Basic code", "WWW-Authenticate: Basic realm=\"Staging2\", Authorization: Basic base64(user:pw1)"),
    ("JWT shape", "a JWT is eyJ… with two dots: header.payload.signature, e.g. eyJhbGci.eyJzdWIi.sig"),
    ("regex", r"gh[pousr]_[A-Za-z0-9]{36} and sk-[a-z]{20,} and xox[baprs]-\d+"),
    ("long identifier", "test_secret_tokens_are_refused_when_the_key_file_is_2048_bits_and_id_is_hf_model_name_v2"),
    ("Kubernetes names", "pod api-gateway-7d9f8b6c5d-x2x4z, secret/db-credentials-9f8b6c5d"),
    ("npm package", "@aws-sdk/client-secrets-manager@3.540.0, keytar@7.9.0, sk-learn-utils-for-python-3-12"),
    ("branch", "branch sk-1234-fix-the-login-redirect-on-safari, ask-9-users"),
    ("URL with a colon path", "http://localhost:8080/a:b@c and https://medium.com/@ada/post-1a2b3c4d5e6f"),
    ("mail in an address", "https://acme.dev/unsubscribe?to=ada:team@acme.dev"),
    ("CLI help", f"--{PASS} PASSWORD1   the {PASS} to use (default: prompt), -p PORT"),
    ("curl without secret", "curl -u \"$USER:$PASS\" https://nexus.acme.dev; sshpass -e ssh root@h"),
    # Chinese
    ("轮换", f"{MIMA}是每季度更换一次"),
    ("策略", f"{MIMA}策略要求至少12位，{MIMA}长度为8-20位"),
    ("加密", f"{MIMA}是SHA256加密存储的，令牌为JWT格式"),
    ("位置", f"数据库{MIMA}存放在1Password里，{MIMA}为空时报错"),
    ("错误码", f"{MIMA}错误：返回40101，{MIMA}：必填项"),
    ("字段", f"字段{MIMA}为password_hash2，密钥长度是2048位"),
    ("变量", f"{MIMA}是环境变量DB_PASS_V2里的值"),
    ("密码学", f"{MIMA}学是一门学科，密钥交换用ECDH2"),
    ("人", f"{MIMA}只有小王知道，口令是每周一换"),
    ("版本", "令牌服务是v2.3.1版本，密钥管理用KMS2"),
    # Several texts of one call that make nothing together
    ("two texts", (f"What is the {PASS} policy?", "It is documented in wiki/SEC-12, see section4")),
    ("two texts, key and use", {"api.key.owner": "team-platform2", "token.ttl": 3600, "password.min": 12}),
    ("tags", (["npm", "token", "password"], "sha-7f9c", ["k8s", "v1.29.3"])),
    ("list of words", ("reset the password", "v2.4.1-beta3", "done by ada")),
    ("metadata", {"sha": made(HEX, 40, "c39"), "branch": "sk-9", "source": "https://git.acme.dev/app/-/blob/main/auth/token.py#L10-L22"}),
]  # fmt: skip


def _samples(entries: list[tuple[str, Any]]) -> list[Sample]:
    return [
        Sample(name, values if isinstance(values, tuple) else (values,), number % 3 == 2)
        for number, (name, values) in enumerate(entries)
    ]


SECRETS = _samples(_SECRETS)
LOOKALIKES = _samples(_LOOKALIKES)
