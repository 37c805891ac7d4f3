"""People of several memories at one server: each token says its tenant, and one that is down fails alone."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from select import select
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from mcp import MCPError

from memory_server.where import Postgres
from tests import warm
from tests.conftest import PATIENCE, Servers, call, eventually, until
from tests.http.conftest import Http, started
from tests.http.test_door import HELLO, JSON
from tests.postgres_server import new_database

pytestmark = pytest.mark.anyio

DOWN = "postgresql://memory@127.0.0.1:1/none"
"""Nothing listens there."""


class Company:
    """A file with tenants, and a server for them."""

    def __init__(self, servers: Servers, **places: str) -> None:
        self.servers = servers
        self.file = servers.folder / "tenants.txt"
        self.places = places
        self.write()

    def write(self) -> None:
        lines = [f"{name} = {place}" for name, place in self.places.items()]
        self.file.write_text("\n".join(["# the teams", *lines, ""]))

    def token(self, person: str, tenant: str) -> str:
        done = subprocess.run(
            warm.program("token", "add", person, "--all-projects", "--tenants", str(self.file), "--tenant", tenant),
            env={**os.environ, **self.servers.env}, cwd=self.servers.folder, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[Http]:
        with started(self.servers, "--tenants", str(self.file), *arguments) as http:
            yield http


@pytest.fixture
def company(server: Servers, tmp_path: Path) -> Company:
    """Two teams with a file each, and one whose database is down."""
    return Company(server, shop=str(tmp_path / "shop.db"), ledger=str(tmp_path / "ledger.db"), lost=DOWN)


def ask(http: Http, token: str) -> httpx2.Response:
    return httpx2.post(http.url, json=HELLO, headers={**JSON, "Authorization": f"Bearer {token}"}, timeout=60)


async def store(http: Http, token: str, content: str) -> None:
    async with http.client(token) as client:
        await call(client, "memory_store", content=content, type="decision", project="docks")


async def seen(http: Http, token: str) -> list[str]:
    async with http.client(token) as client:
        found = await call(client, "memory_search", query="paint", limit=50)
        return sorted(hit["content"] for hit in found["results"])


async def test_each_token_reaches_the_memory_of_its_tenant(company: Company) -> None:
    ada, ben = company.token("ada", "shop"), company.token("ada", "ledger")
    with company.serving() as http:
        await store(http, ada, "The crane is painted red")
        await store(http, ben, "The boats are painted blue")
        assert await seen(http, ada) == ["The crane is painted red"]
        assert await seen(http, ben) == ["The boats are painted blue"]
        swapped = ada.replace(".shop", ".ledger")
        for wrong in (swapped, ada.removesuffix(".shop"), ada.replace(".shop", ".none"), "msrv_x.shop"):
            assert ask(http, wrong).status_code == 401
        assert httpx2.post(http.url, json=HELLO, headers=JSON).status_code == 401
        assert http.end() == 0


async def test_a_database_that_is_down_fails_its_own_people_alone(company: Company) -> None:
    ada = company.token("ada", "shop")
    with company.serving() as http:
        answers = [ask(http, "msrv_x.lost") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [503] * 3
        told = answers[0].json()["error"]
        assert told["message"] == "Tokens cannot be checked now. Call again in 5 s."
        assert told["data"] == {"error": "unavailable"}
        await store(http, ada, "The crane is painted red")
        assert await seen(http, ada) == ["The crane is painted red"]
        assert httpx2.get(http.base("/metrics")).status_code == 200
        assert http.log.read_text().lower().count(f"checked: the database {DOWN} cannot be reached") == 1


async def test_nobody_waits_for_the_database_of_others_that_takes_everything_and_answers_nothing(
    company: Company,
) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    company.places["lost"] = f"postgresql://memory@127.0.0.1:{silent.getsockname()[1]}/none"
    company.write()
    ada = company.token("ada", "shop")
    with (
        silent,
        company.serving() as http,
        ThreadPoolExecutor(60) as people,
        httpx2.Client(timeout=60) as shared,
    ):
        assert ask(http, ada).status_code == 200
        headers = {**JSON, "Authorization": "Bearer msrv_x.lost"}  # a client of its own takes 30 ms of CPU
        lost = [people.submit(shared.post, http.url, json=HELLO, headers=headers) for _ in range(60)]
        until(lambda: select([silent], [], [], 0)[0], "the first of them waits for their database")
        await store(http, ada, "The crane is painted red")
        assert await seen(http, ada) == ["The crane is painted red"]
        assert not any(answer.done() for answer in lost)
        assert {answer.result().status_code for answer in lost} == {503}


async def test_a_changed_file_adds_and_removes_and_moves_tenants_without_a_restart(
    company: Company, tmp_path: Path
) -> None:
    ada = company.token("ada", "shop")
    with company.serving() as http:
        await store(http, ada, "The crane is painted red")
        company.file.write_text("nonsense")
        until(lambda: "the tenants stay as they were" in http.log.read_text(), "the wrong file is told")
        assert await seen(http, ada) == ["The crane is painted red"]
        company.places |= {"harbour": str(tmp_path / "harbour.db")}
        company.write()
        cid = company.token("cid", "harbour")

        async def is_there() -> bool:
            return ask(http, cid).status_code == 200

        await eventually(is_there, "the new tenant is served")
        del company.places["shop"]
        company.write()
        until(lambda: ask(http, ada).status_code == 401, "the tenant is gone")
        company.places["shop"] = str(tmp_path / "harbour.db")
        company.write()
        moved = cid.replace(".harbour", ".shop")
        until(lambda: ask(http, moved).status_code == 200, "the tenant is another database")


async def test_rates_counts_audit_and_pages_are_of_the_tenant(company: Company, tmp_path: Path) -> None:
    audit = tmp_path / "audit.log"
    ada, ben = company.token("ada", "shop"), company.token("ben", "ledger")
    with company.serving("--http-rate", "60", "--audit", str(audit)) as http:
        await store(http, ada, "The crane is painted red")
        await store(http, ben, "The boats are painted blue")
        here = {"Origin": http.base("")}
        with httpx2.Client(follow_redirects=True, timeout=60) as browser:
            page = browser.post(http.base("/enter"), data={"token": ada, "back": "/?q=painted"}, headers=here)
            assert "The crane is" in page.text
            assert "boats" not in page.text
        until(lambda: ask(http, ada).status_code == 429, "one token is out of requests")
        assert ask(http, ben).status_code == 200  # both are the first token of their memory
        metrics = httpx2.get(http.base("/metrics")).text
        assert 'memory_server_calls_total{tool="memory_store"} 2' in metrics
        assert 'memory_server_tenant_calls_total{tenant="shop"} 1' in metrics
        assert 'memory_server_tenant_calls_total{tenant="ledger"} 1' in metrics
        elsewhere = {"X-Forwarded-For": "10.0.0.7", "Authorization": f"Bearer {ben}"}
        others = httpx2.get(http.base("/metrics"), headers=elsewhere).text
        assert 'memory_server_calls_total{tool="memory_store"} 2' in others
        assert "shop" not in others
        assert ask(http, "msrv_x.ledger").status_code == 401
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    stored = [(line["tenant"], line["person"]) for line in lines if line["call"] == "memory_store"]
    assert stored == [("shop", "ada"), ("ledger", "ben")]
    assert [line["tenant"] for line in lines if line["call"] == "(login)"] == ["ledger"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "names no tenant"),
        ("shop", "line 1 of"),
        ("a b = x.db", "line 1 of"),
        ("# x\nshop = a.db\nshop = b.db", "line 3 of"),
        ("shop = postgresql://h/d?tenant=", "the tenant must have 1 to 200 characters"),
    ],
)
def test_a_file_that_is_wrong_is_told_in_one_line(server: Servers, lines: str, why: str) -> None:
    file = server.folder / "tenants.txt"
    file.write_text(lines)
    with server.process("serve", "--http", "0", "--tenants", str(file)) as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert why in told.decode()
    assert told.count(b"\n") == 1


@pytest.mark.second_store
async def test_two_databases_of_which_one_goes_down_and_comes_back(server: Servers, era: str) -> None:
    one, other = new_database(), new_database()
    name_of_one = urlsplit(one).path.removeprefix("/")
    company = Company(
        server, shop=Postgres(one, "shop").given, till=Postgres(one, "till").given, ledger=other
    )
    tokens = {name: company.token("ada", name) for name in company.places}
    with company.serving() as http, psycopg.connect(other, autocommit=True) as admin:
        for name, token in tokens.items():
            await store(http, token, f"The {name} is painted red")
        connected = http.client(tokens["shop"], era)
        client = await connected.__aenter__()
        allow = f"ALTER DATABASE {name_of_one} WITH ALLOW_CONNECTIONS"
        admin.execute(f"{allow} false".encode())
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name_of_one,)
        )
        for name in ("shop", "till"):
            until(lambda: ask(http, tokens[name]).status_code == 503, "its people are told")  # noqa: B023
            with pytest.raises(MCPError, match=r"cannot be checked now\. Call again in 5 s"):
                await client.call_tool("memory_stats", {})
            assert await seen(http, tokens["ledger"]) == ["The ledger is painted red"]
        admin.execute(f"{allow} true".encode())
        for name, token in tokens.items():
            until(lambda: ask(http, token).status_code == 200, "all are served again")  # noqa: B023
            assert await seen(http, token) == [f"The {name} is painted red"]
        assert (await call(client, "memory_stats"))["total"] == 1
        await connected.__aexit__(None, None, None)


@pytest.mark.second_store
async def test_the_tenants_of_a_database_share_its_connections(server: Servers) -> None:
    url = new_database()
    company = Company(
        server, **{f"team{number}": Postgres(url, f"team{number}").given for number in range(12)}
    )
    tokens = [company.token("ada", name) for name in company.places]
    with company.serving() as http, psycopg.connect(url, autocommit=True) as admin:
        for token in tokens:
            await store(http, token, "The crane is painted red")
            assert await seen(http, token) == ["The crane is painted red"]
        (number,) = admin.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone() or (0,)
        assert number <= 9
