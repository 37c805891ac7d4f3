"""The formats in which providers hand out credentials: where one begins, of what it consists, how long it is at least.

Prefixes, alphabets and lengths are facts from gitleaks (config/gitleaks.toml of July 2026), detect-secrets 1.5 and the
providers' own pages. What is public by design is not here: Stripe's pk_live_, Slack's channel ids, Twilio's AC…, age1…
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import re2

from memory_server.domain.secret_values import entropy, is_made_up, is_placeholder, is_words

_ALNUM = "[A-Za-z0-9]"
_URL64 = "[A-Za-z0-9_-]"
_BASE64 = "[A-Za-z0-9+/]"
_HEX = "[A-Fa-f0-9]"
_LOW_HEX = "[a-f0-9]"
_CAPITALS = "[A-Z0-9]"

_LONGEST = 300
"""Characters of a credential that are looked at: a longer one is judged by its beginning, and no text costs more."""

_LEAST_ENTROPY = 2.0
"""Shannon bits per character of a tail: one repeated character has 0, four in turn have 2. gitleaks asks for 2 to 4;
of 100,000 random tails of 16 characters the lowest had 2.8."""

_BLOB = 48
_IN_A_BLOB = re.compile(rf"[A-Za-z0-9+/_-]{{{_BLOB}}}")
_BLOB_ENTROPY = 4.2
"""So many characters of base64 at so many bits each are data: of 50,000 random ones the lowest had 4.4."""


class SecretFormat(NamedTuple):
    """`whole` matches a credential: its group `tail` is the random part, its group `password` what a person chose."""

    kind: str
    whole: str


_PREFIXED = (
    # kind, prefixes, alphabet of the tail, its least length
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 30),
    ("a GitHub token", "github_pat_", "[A-Za-z0-9_]", 30),
    (
        "a GitLab token",
        "glpat- gldt- glft- glrt- glptt- glcbt- glimt- glagent- gloas- glsoat- glffct-",
        _URL64,
        20,
    ),
    ("a GitLab token", "GR1348941", _URL64, 20),
    ("a token of memory-server", "msrv_", _URL64, 40),
    ("an npm token", "npm_", _ALNUM, 36),
    ("a PyPI token", "pypi-AgE", _URL64, 50),
    ("a Hugging Face token", "hf_ api_org_", _ALNUM, 34),
    ("a Groq key", "gsk_", _ALNUM, 48),
    ("a Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", _ALNUM, 10),
    ("a webhook secret", "whsec_", _BASE64, 24),
    ("a SendGrid key", "SG.", r"[A-Za-z0-9_.-]", 60),
    (
        "a Slack token",
        "xoxa- xoxb- xoxe- xoxe.xoxb- xoxe.xoxp- xoxo- xoxp- xoxr- xoxs- xapp-",
        "[A-Za-z0-9-]",
        14,
    ),
    ("a Google API key", "AIza", _URL64, 35),
    ("a Google OAuth secret", "GOCSPX-", _URL64, 24),
    ("a Google OAuth token", "ya29.", "[A-Za-z0-9_.-]", 30),
    ("a Google OAuth token", "1//0", _URL64, 40),
    ("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 64),
    ("a Vault token", "hvs. hvb. hvr.", _URL64, 24),
    ("a Grafana token", "glsa_", "[A-Za-z0-9_]", 40),
    ("a Grafana token", "glc_ eyJrIjoi", _BASE64, 32),
    ("a Databricks token", "dapi", _HEX, 32),
    ("a Shopify token", "shpat_ shpca_ shppa_ shpss_", _HEX, 32),
    ("a Linear key", "lin_api_ lin_oauth_", _ALNUM, 40),
    ("a Notion token", "ntn_ secret_", _ALNUM, 40),
    ("an AWS access key", "AKIA ASIA ABIA ACCA", _CAPITALS, 16),
    ("an AWS Bedrock key", "ABSK", _BASE64, 100),
    ("an API key (sk-…)", "sk-", _URL64, 20),
    ("an AI provider's key", "pplx- xai- tvly- nvapi- csk-", _URL64, 20),
    ("an AI provider's key", "r8_ fw_ jina_ lsv2_pt_ lsv2_sk_", "[A-Za-z0-9_]", 24),
    ("a Supabase key", "sbp_ sb_secret_", "[A-Za-z0-9_]", 20),
    ("a Twilio key", "SK", _LOW_HEX, 32),
    ("a Mailgun key", "key-", _LOW_HEX, 32),
    ("a Brevo key", "xkeysib-", "[a-z0-9-]", 64),
    ("a Square token", "sq0atp- sq0csp- EAAAE", _URL64, 22),
    ("a Facebook token", "EAAM EAAC", _ALNUM, 100),
    ("a Plaid token", "access-production- access-development-", "[a-f0-9-]", 36),
    ("a Postman key", "PMAK-", "[a-f0-9-]", 59),
    ("a Docker Hub token", "dckr_pat_ dckr_oat_", _URL64, 27),
    ("a Figma token", "figd_", _URL64, 40),
    ("a Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9_+/=]", 60),
    ("a New Relic key", "NRAK-", _CAPITALS, 27),
    ("a Dynatrace token", "dt0c01.", "[A-Z0-9.]", 80),
    ("an Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]", 150),
    ("a Bitbucket password", "ATBB", _ALNUM, 32),
    ("a RubyGems key", "rubygems_", _HEX, 48),
    ("a crates.io token", "cio", _ALNUM, 32),
    ("a NuGet key", "oy2", "[a-z0-9]", 43),
    ("a Clojars token", "CLOJARS_", "[a-z0-9]", 60),
    ("a Tailscale key", "tskey-", "[A-Za-z0-9-]", 30),
    ("a PlanetScale password", "pscale_pw_ pscale_tkn_ pscale_oauth_", "[A-Za-z0-9_.=-]", 32),
    ("a Pulumi token", "pul-", _LOW_HEX, 40),
    ("a Netlify token", "nfp_", _ALNUM, 36),
    ("a Fly.io token", "fo1_ fm1a_ fm1r_ fm2_", "[A-Za-z0-9_+/-]", 43),
    ("a Heroku key", "HRKU-", _URL64, 50),
    ("an Alibaba Cloud key", "LTAI", _ALNUM, 12),
    ("a Tencent Cloud key", "AKID", _ALNUM, 32),
    ("a Doppler token", "dp.pt. dp.st. dp.sa. dp.ct.", "[A-Za-z0-9_.-]", 40),
    ("a Buildkite token", "bkua_", _LOW_HEX, 40),
    ("a CircleCI token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]", 40),
    ("a Sourcegraph token", "sgp_", "[A-Za-z0-9_]", 40),
    ("an Artifactory key", "AKCp", _ALNUM, 69),
    ("a 1Password token", "ops_eyJ", _BASE64, 250),
    ("a Prefect key", "pnu_", _ALNUM, 36),
    ("a Contentful token", "CFPAT-", _URL64, 40),
    ("a Shippo token", "shippo_live_ shippo_test_", _HEX, 40),
    ("an EasyPost key", "EZAK EZTK", _ALNUM, 54),
    ("a Typeform token", "tfp_", "[A-Za-z0-9_.=-]", 44),
    ("a ReadMe key", "rdme_", "[a-z0-9]", 70),
    ("an Adobe secret", "p8e-", _ALNUM, 32),
    ("a Cloudflare key", "v1.0-", "[a-f0-9-]", 150),
    ("an age key", "AGE-SECRET-KEY-1", _CAPITALS, 58),
    ("a LaunchDarkly key", "sdk-", "[a-f0-9]{8}-[a-f0-9-]", 27),
)

_AT = "(?<![A-Za-z0-9_-])"
_DISCORD = "|".join(rf"(?<=[MNO]{_URL64}{{{length}}})" for length in (23, 24, 25))

_SHAPED = (
    # kind, anchor (for RE2), the whole from the anchor on
    ("a private key", "-----BEGIN ", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    ("a private key", "---- BEGIN SSH2 ", r"---- BEGIN SSH2 [A-Z ]{0,20}PRIVATE KEY ----"),
    ("a private key", "Private-Lines: ", r"Private-Lines: \d"),
    ("a JSON web token", "eyJ",
     rf"{_AT}eyJ{_URL64}{{8,2000}}\.ey{_URL64}{{8,4000}}\.(?P<tail>{_URL64}{{8,{_LONGEST}}})"),
    ("a password in an address", "://", r"(?<=[A-Za-z0-9])://[^\s:/@]{0,80}:(?P<password>[^\s:/@*<{$]{3,200})@"),
    ("a Slack webhook", r"hooks\.slack\.com/",
     r".{15}/(?:services|workflows|triggers)/(?P<tail>[A-Za-z0-9+/]{40,100})"),
    ("a Discord webhook", "/api/webhooks/", rf"/api/webhooks/\d{{15,22}}/(?P<tail>{_URL64}{{60,80}})"),
    ("a Teams webhook", r"\.webhook\.office\.com/", r"\.webhook\.office\.com/webhookb2/(?P<tail>[a-z0-9@/-]{60,300})"),
    ("a WeCom webhook", "/cgi-bin/webhook/send", rf"/cgi-bin/webhook/send\?key=(?P<tail>{_URL64}{{30,60}})"),
    ("a DingTalk webhook", "/robot/send", rf"/robot/send\?access_token=(?P<tail>{_HEX}{{40,80}})"),
    ("a Feishu webhook", "/open-apis/bot/", rf"/open-apis/bot/v\d/hook/(?P<tail>{_URL64}{{30,60}})"),
    ("a Discord token", rf"\.{_URL64}{{6}}\.", rf"(?:{_DISCORD})(?P<tail>\.{_URL64}{{6}}\.{_URL64}{{27,45}})"),
    ("a Telegram token", r"\d{8,10}:AA", rf"(?<!\d)\d{{8,10}}:AA(?P<tail>{_URL64}{{33}})(?!{_URL64})"),
    ("an Azure key", "(?:Account|SharedAccess)Key=", rf"(?:Account|SharedAccess)Key=(?P<tail>{_BASE64}{{40,90}})="),
    ("an Azure client secret", r"[A-Za-z0-9_~.]{3}\dQ~", r"(?<![A-Za-z0-9_~.]).{6}(?P<tail>[A-Za-z0-9_~.-]{31,34})"),
    ("a Mailchimp key", r"[a-f0-9]{32}-us\d", r"(?<![A-Za-z0-9])(?P<tail>[a-f0-9]{32})-us\d{1,2}"),
    ("a Terraform token", rf"{_ALNUM}{{14}}\.atlasv1\.", r"(?<![A-Za-z0-9]).{23}(?P<tail>[A-Za-z0-9_=-]{60,70})"),
    ("an Airtable token", rf"pat{_ALNUM}{{14}}\.", rf"{_AT}pat(?P<tail>{_ALNUM}{{14}}\.[a-f0-9]{{64}})"),
    ("a MaxMind key", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", "(?<![A-Za-z0-9])(?P<tail>.{36})_mmk"),
)  # fmt: skip


def places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each credential whose format is in a text: its kind, where it begins and where it ends.

    Linear time: RE2 finds the anchors in one pass.
    """
    anchors, formats = _compiled()
    over = 0
    for match in anchors.finditer(text):
        start, end = match.span(match.lastindex)
        if start < over:
            continue
        format = formats[text[start:end] if match.lastindex == 1 else match.lastindex]
        credential = _whole(format.whole).match(text, start)
        if credential is None or _is_in_a_blob(text, credential.start()):
            continue
        if _is_real(credential):
            yield format.kind, credential.start(), credential.end()
        over = credential.end()


def _is_real(credential: re.Match[str]) -> bool:
    """True if a text with the format of a credential is no placeholder, no sample and no name."""
    parts = credential.groupdict()
    if (written := parts.get("password")) is not None:
        return not is_placeholder(written)
    tail = parts.get("tail")
    if tail is None:
        return True
    named = is_words(tail) and not tail.isupper()  # an AWS key may have no digit
    return entropy(tail) >= _LEAST_ENTROPY and not is_made_up(credential[0]) and not named


def _is_in_a_blob(text: str, start: int) -> bool:
    """True inside the data of an image, a certificate or the like, in which any prefix turns up by chance."""
    before = text[max(0, start - _BLOB) : start]
    return _IN_A_BLOB.fullmatch(before) is not None and entropy(before) >= _BLOB_ENTROPY


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    """Compiled when its anchor turns up: all of them would take 20 ms of the first write."""
    return re.compile(pattern)


@cache
def _compiled() -> tuple[Any, dict[str | int, SecretFormat]]:
    """The anchors, and each format under its prefix or under the number of its anchor's group."""
    formats: dict[str | int, SecretFormat] = {}
    for kind, prefixes, alphabet, least in _PREFIXED:
        ends = "(?![A-Za-z0-9])" if alphabet in (_HEX, _LOW_HEX, _CAPITALS) else ""
        for prefix in prefixes.split():
            tail = f"(?P<tail>{alphabet}{{{least},{_LONGEST}}}){ends}"
            formats[prefix] = SecretFormat(kind, re.escape(prefix) + tail)
    # Not a word boundary: Chinese letters and `_` may stand right before a credential.
    anchors = ["(?:^|[^A-Za-z0-9])(" + "|".join(re.escape(str(prefix)) for prefix in formats) + ")"]
    for number, (kind, anchor, whole) in enumerate(_SHAPED, start=2):
        formats[number] = SecretFormat(kind, whole)
        anchors.append(f"({anchor})")
    return re2.compile("|".join(anchors)), formats
