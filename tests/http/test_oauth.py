"""Tokens of an issuer, which is a server on a port of this machine with a key of its own."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from memory_server.domain.caller import Person
from memory_server.errors import Invalid
from memory_server.mcp.http.oauth import AGAIN, Issuer, OAuth
from tests.conftest import ERAS, call
from tests.http.conftest import Http, Start, token
from tests.http.test_door import post

pytestmark = pytest.mark.anyio

AUDIENCE = "https://memory.example.com/mcp"


def made_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class StandIn:
    """An authorization server: it tells its keys, and signs what a test says."""

    url: str = ""
    keys: dict[str, rsa.RSAPrivateKey] = field(default_factory=lambda: {"one": made_key()})
    asked: int = 0
    answers: bool = True

    def token(self, kid: str = "one", key: Any = None, alg: str = "RS256", **claims: Any) -> str:
        known = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "exp": time.time() + 600}
        left = {name: value for name, value in {**known, **claims}.items() if value is not None}
        return jwt.encode(left, key or self.keys[kid], alg, headers={"kid": kid})

    def told(self, path: str) -> dict[str, Any] | None:
        if path == "/.well-known/oauth-authorization-server":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        if path != "/keys":
            return None
        self.asked += 1
        algorithm = jwt.algorithms.RSAAlgorithm
        keys = {kid: json.loads(algorithm.to_jwk(key.public_key())) for kid, key in self.keys.items()}
        return {"keys": [{**key, "kid": kid, "use": "sig"} for kid, key in keys.items()]}


@pytest.fixture(scope="module")
def module_issuer() -> Iterator[StandIn]:
    issuer = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = issuer.told(self.path) if issuer.answers else None
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found or {}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield issuer
        server.shutdown()


@pytest.fixture
def issuer(module_issuer: StandIn) -> StandIn:
    module_issuer.asked, module_issuer.answers = 0, True
    return module_issuer


@pytest.fixture
def guarded(start: Start, issuer: StandIn) -> Iterator[Http]:
    with ExitStack() as stack:
        yield stack.enter_context(start("--oauth-issuer", issuer.url, "--oauth-audience", AUDIENCE))


@pytest.mark.parametrize("era", ERAS)
async def test_a_token_of_the_issuer_is_a_person(guarded: Http, issuer: StandIn, era: str) -> None:
    async with guarded.client(issuer.token(), era) as client:
        stored = await call(client, "memory_store", content="The harbour opens at noon", type="learning")
    assert stored["id"] == 1


def test_who_has_none_is_told_where_to_get_one(guarded: Http, issuer: StandIn) -> None:
    refusal = post(guarded)
    assert refusal.status_code == 401
    about = "https://memory.example.com/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{about}"' in refusal.headers["www-authenticate"]
    metadata = httpx2.get(guarded.base("/.well-known/oauth-protected-resource/mcp")).json()
    assert metadata["resource"] == AUDIENCE
    assert [each.rstrip("/") for each in metadata["authorization_servers"]] == [issuer.url]
    assert metadata["bearer_methods_supported"] == ["header"]


def test_a_token_of_the_file_is_taken_too(guarded: Http) -> None:
    given = token(guarded.servers, "ben")
    assert post(guarded, authorization=f"Bearer {given}").status_code == 200


def test_what_is_no_token_for_this_server_is_refused(guarded: Http, issuer: StandIn) -> None:
    elliptic = ec.generate_private_key(ec.SECP256R1())
    refused = {
        "of another key": issuer.token(key=made_key()),
        "of an unknown key": issuer.token(kid="two", key=made_key()),
        "for another server": issuer.token(aud="https://other.example.com/mcp"),
        "for none": issuer.token(aud=None),
        "of another issuer": issuer.token(iss="https://evil.example"),
        "expired": issuer.token(exp=time.time() - 60),
        "for ever": issuer.token(exp=None),
        "not yet": issuer.token(nbf=time.time() + 600),
        "of nobody": issuer.token(sub=None),
        "of another algorithm": issuer.token(key=elliptic, alg="ES256"),
        "signed with what is public": jwt.encode(
            {"iss": issuer.url, "aud": AUDIENCE, "sub": "ada", "exp": time.time() + 600}, "x" * 64, "HS256",
            headers={"kid": "one"},
        ),
        "unsigned": jwt.encode({"iss": issuer.url, "aud": AUDIENCE, "sub": "ada"}, None, "none"),  # type: ignore[arg-type]
        "of a name that is too long": issuer.token(sub="x" * 101),
        "no token": "a.b.c",
    }  # fmt: skip
    for what, given in refused.items():
        answer = post(guarded, authorization=f"Bearer {given}")
        assert (what, answer.status_code) == (what, 401)
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert post(guarded, authorization=f"Bearer {issuer.token()}").status_code == 200


def test_an_issuer_that_does_not_answer_is_told_as_such(guarded: Http, issuer: StandIn) -> None:
    issuer.answers = False
    answer = post(guarded, authorization=f"Bearer {issuer.token()}")
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    issuer.answers = True
    assert post(guarded, authorization=f"Bearer {issuer.token()}").status_code == 200


def test_claims_name_the_person_and_the_projects(issuer: StandIn) -> None:
    oauth = OAuth(Issuer(issuer.url, AUDIENCE, "email", "groups"))
    for groups, projects in (
        (["shop", 7], {"shop"}),
        ("shop ledger", {"shop", "ledger"}),
        (None, set()),
        (7, set()),
    ):
        known = oauth.check(issuer.token(email="ada@example.com", groups=groups))
        assert known is not None
        assert known.person == Person("ada@example.com", frozenset(projects))
        assert known.access_token.token != issuer.token()
    assert oauth.check(issuer.token()) is None
    open_to_all = OAuth(Issuer(issuer.url, AUDIENCE)).check(issuer.token())
    assert open_to_all is not None
    assert open_to_all.person.projects is None


def test_a_key_that_is_not_known_is_looked_for_and_not_with_each_token(issuer: StandIn) -> None:
    at = 0.0
    oauth = OAuth(Issuer(issuer.url, AUDIENCE), lambda: at)
    assert oauth.check(issuer.token()) is not None
    for _ in range(5):
        assert oauth.check(issuer.token(kid="new", key=issuer.keys["one"])) is None
    assert issuer.asked == 1
    issuer.keys["new"] = made_key()
    at += AGAIN + 1
    assert oauth.check(issuer.token(kid="new")) is not None
    assert issuer.asked == 2
    del issuer.keys["new"]


def test_keys_are_not_taken_in_the_clear_from_another_machine() -> None:
    with pytest.raises(Invalid, match="must have an https address"):
        OAuth(Issuer("http://login.example.com", AUDIENCE))
