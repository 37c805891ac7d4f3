"""The pages over HTTP: for those with a token, each within their rights."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from memory_server.web.door import COOKIE, LONGEST
from memory_server.web.site import PAGES, WRITES
from tests.conftest import call, until
from tests.http.conftest import Http, Start, revoke, token
from tests.rights.prey import HUNT, OF_SHOP, OWN, Prey, fill

pytestmark = pytest.mark.anyio

HTML = {"Accept": "text/html"}


@contextmanager
def browser(http: Http, key: str | None = None) -> Iterator[httpx2.Client]:
    """A client that keeps cookies, signed in with a token."""
    with httpx2.Client(base_url=http.base("/").rstrip("/"), headers=HTML, timeout=60) as client:
        client.headers["Origin"] = http.base("")
        if key is not None:
            assert client.post("/enter", data={"token": key}).status_code == 303
        yield client


def form(page: httpx2.Response) -> str:
    """The secret that a form of this page sends."""
    found = re.search(r'name="csrf" value="(\w+)"', page.text)
    assert found is not None
    return found[1]


def test_a_browser_shows_a_token_once(start: Start) -> None:
    with start() as http, browser(http) as client:
        key = token(http.servers, "ada")
        asked = client.get("/timeline?days=7")
        assert (asked.status_code, asked.headers["location"]) == (303, "/enter?back=%2Ftimeline%3Fdays%3D7")
        assert client.get("/stamp", headers={"Accept": "*/*"}).status_code == 401
        assert client.get("/static/style.css").status_code == 200
        assert 'name="back" value="/timeline?days=7"' in client.get(asked.headers["location"]).text
        wrong = client.post("/enter", data={"token": f"{key}x"})
        assert (wrong.status_code, "not valid" in wrong.text, COOKIE in client.cookies) == (403, True, False)
        entered = client.post("/enter", data={"token": key, "back": "/timeline?days=7"})
        assert (entered.status_code, entered.headers["location"]) == (303, "/timeline?days=7")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert key not in cookie
        page = client.get("/timeline?days=7")
        assert page.status_code == 200
        assert "ada" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert client.post("/leave").headers["location"] == "/enter"
        assert client.get("/").status_code == 303


def test_nobody_enters_by_another_way(start: Start) -> None:
    with start() as http, browser(http) as client:
        key = token(http.servers, "ada")
        client.cookies.set(COOKIE, key)
        assert client.get("/").status_code == 303
        client.cookies.clear()
        away = client.post("/enter", data={"token": key, "back": "//elsewhere.example"})
        assert away.headers["location"] == "/"
        client.cookies.clear()
        for name, value, status in (
            ("Origin", "https://elsewhere.example", 403),
            ("Host", "elsewhere.example", 421),
        ):
            assert client.post("/enter", data={"token": key}, headers={name: value}).status_code == status
        long = client.post("/enter", data={"token": key, "back": "/" * LONGEST})
        assert (long.status_code, COOKIE in client.cookies) == (403, False)
        assert (
            httpx2.get(http.base("/"), headers={**HTML, "Authorization": f"Bearer {key}"}).status_code == 200
        )


def test_what_a_client_sends_amiss_is_no_failure_of_the_server(start: Start) -> None:
    with start() as http:
        head = (
            f"POST /enter HTTP/1.1\r\nHost: localhost:{http.port}\r\nOrigin: http://localhost:{http.port}\r\n"
        )
        for sent in (f"{head}Content-Length: 9\r\n\r\ntoken=", f"{head}Content-Length: 1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", http.port)) as connection:
                connection.sendall(sent.encode())
        with browser(http) as client:
            for language in ("zh;q=1.2.3", "en;q=..", "zh;q=", "zh;q=9"):
                assert client.get("/enter", headers={"Accept-Language": language}).status_code == 200
            # The path is that of the request, whatever the header Host makes of it.
            away = client.get("/nowhere", headers={"Host": "localhost:1/enter?"})
            assert away.status_code == 303
        http.end()
        assert "Traceback" not in http.log.read_text()


@pytest.mark.both_stores
def test_a_token_that_is_revoked_opens_nothing_more(start: Start) -> None:
    with start() as http, browser(http, token(http.servers, "ada")) as client:
        assert client.get("/").status_code == 200
        revoke(http.servers, "ada")
        until(lambda: client.get("/").status_code == 303, "the browser has to sign in")


def test_while_nobody_has_a_token_nobody_sees_the_pages(start: Start) -> None:
    with start() as http, browser(http) as client:
        assert client.get("/").status_code == 303
        assert client.post("/enter", data={"token": ""}).status_code == 403


@pytest.mark.both_stores
async def test_nobody_sees_what_is_of_somebody_else(start: Start) -> None:
    others = "SELECT content FROM memories WHERE person IS NULL OR person <> 'ben' ORDER BY id"
    with start() as http:
        async with http.client(token(http.servers, "ana"), project="shop") as ana:
            prey = await fill(ana)
        before = http.servers.rows(others)
        assert before
        with (
            browser(http, token(http.servers, "ana")) as own,
            browser(http, token(http.servers, "cleo", "--project", "shop")) as colleague,
            browser(http, token(http.servers, "ben", "--project", "blog")) as stranger,
        ):
            pages = {name: [each.get(path).text for path in addresses(prey)] for name, each in
                     (("ana", own), ("cleo", colleague), ("ben", stranger))}  # fmt: skip
            # Whoever owns it sees it: so the pages look at it at all.
            assert len(words("".join(pages["ana"]), OWN)) > len(OWN) / 2
            assert words("".join(pages["cleo"]), OF_SHOP)
            for name, forbidden in (("cleo", OWN), ("ben", (*OWN, *OF_SHOP))):
                shown = zip(addresses(prey), pages[name], strict=True)
                assert [
                    (path, told)
                    for path, page in shown
                    if (told := words(page, forbidden) - words(path, OWN))
                ] == []
            secret = form(stranger.get("/triggers"))
            for path in sorted(WRITES):
                fields = {"csrf": secret, "content": HUNT, "text": HUNT, "value": HUNT, "change": "1", "target": "1",
                          "relation": "causes", "type": "decision", "importance": "5", "scope": "global"}  # fmt: skip
                for address in filled(path, prey):
                    answer = stranger.post(address, data=fields)
                    assert words(answer.text, OWN + OF_SHOP) <= words(address, OWN), address
        assert http.servers.rows(others) == before


@pytest.mark.both_stores
async def test_who_may_only_read_changes_nothing(start: Start) -> None:
    with start() as http:
        async with http.client(token(http.servers, "ada")) as ada:
            stored = await call(ada, "memory_store", content="The bell rings at six", type="decision")
        with browser(http, token(http.servers, "ada", "--read-only")) as client:
            page = client.get(f"/memory/{stored['id']}")
            assert "The bell rings at six" in page.text
            refused = client.post(f"/memory/{stored['id']}/forget", data={"csrf": "x"})
            assert (refused.status_code, "read-only" in refused.text) == (403, True)


@pytest.mark.both_stores
async def test_a_colleague_erases_nothing_and_changes_no_shared_fact_on_the_pages(start: Start) -> None:
    with start() as http:
        own = token(http.servers, "ana")
        async with http.client(own, project="shop") as ana:
            stored = await call(
                ana, "memory_store", content="The bell rings at six", type="decision", project="shop"
            )
            await call(ana, "write_memory", key="bell", value="six", scope="shared")
            await call(ana, "write_memory", key="till", value="nine", scope="project")
        with browser(http, token(http.servers, "cleo", "--project", "shop")) as client:
            purge = {"csrf": form(client.get("/triggers")), "purge": "yes", "project": "shop"}
            for address in (f"/memory/{stored['id']}/forget", "/fact/project/till/forget"):
                assert "done=not_erased" in client.post(address, data=purge).headers["location"]
            written = {"value": "seven", "version": "1", "back": "/facts"}
            for address, fields in (
                ("forget", purge),
                ("forget", {**purge, "purge": ""}),
                ("write", {**purge, **written}),
            ):
                refused = client.post(f"/fact/shared/bell/{address}", data=fields)
                assert (refused.status_code, "A shared fact is changed only by" in refused.text) == (
                    400,
                    True,
                )
        assert http.servers.rows("SELECT value, version FROM facts") == [('"six"', 1)]
        assert http.servers.rows("SELECT count(*) FROM trash") == [(1,)]
        assert http.servers.rows("SELECT value FROM fact_history WHERE key = 'till' AND version = 1") == [
            ('"nine"',)
        ]


def test_the_file_itself_is_for_whoever_runs_the_server(start: Start) -> None:
    with start() as http, browser(http, token(http.servers, "ada")) as client:
        page = client.get("/doctor?check=1")
        assert page.status_code == 200
        assert str(http.servers.folder) not in page.text
        secret = form(client.get("/triggers"))
        for path in ("/doctor/backup", "/doctor/purge"):
            refused = client.post(path, data={"csrf": secret})
            assert (refused.status_code, "at its terminal" in refused.text) == (400, True)
        assert not list(http.servers.folder.glob("backups/*"))


def words(text: str, among: tuple[str, ...]) -> set[str]:
    """Which of some words stand in a text."""
    return set(re.findall(r"(?:kumquat|rambutan)\d+", text)) & set(among)


def addresses(prey: Prey) -> list[str]:
    """All pages, with everything that ana has in their addresses."""
    found = [address for path in PAGES if path != "/language/{code}" for address in filled(path, prey)]
    return [
        *found,
        f"/?q={HUNT}",
        "/?project=*",
        "/?q=lamp&project=shop",
        "/timeline?days=90",
        "/doctor?check=1",
    ]


def filled(path: str, prey: Prey) -> list[str]:
    """An address for each thing that a pattern could mean."""
    ids = sorted({prey.memory, prey.other, prey.merged, prey.deleted, prey.shop, prey.shop_other, prey.turn,
                  prey.deleted_turn, prey.short_term})  # fmt: skip
    path = path.replace("{scope}", "global").replace("{name:path}", "wick")
    if "{id:int}" in path:
        return [path.replace("{id:int}", str(id)) for id in ids]
    if "{key:path}" in path:
        keys = ("current.task", "gone", f"own.{OWN[9]}")
        return [path.replace("{key:path}", key).replace("global", scope) for key in keys for scope in
                ("global", "project", "session", "shared")]  # fmt: skip
    return [path]
