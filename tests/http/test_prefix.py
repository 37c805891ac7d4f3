"""A server below a path of a host: pages, sign-in and calls."""

import re

import pytest

from tests.conftest import call
from tests.http.conftest import Start, token
from tests.http.test_pages import browser, form
from tests.web.conftest import HARBOUR

pytestmark = pytest.mark.anyio

ADDRESS = re.compile(r'\b(?:href|src|action|hx-get)="([^"]*)"')
INSIDE = (
    "/",
    "/?q=harbour",
    "/memory/1",
    "/new",
    "/now",
    "/timeline",
    "/sessions",
    "/map",
    "/graph",
    "/facts",
    "/triggers",
    "/review",
)


async def test_every_address_of_a_page_has_the_prefix(start: Start) -> None:
    with start("--http-prefix", "/memory/") as http:
        key = token(http.servers, "ada")
        async with http.client(key) as client:
            stored = await call(client, "memory_store", content=HARBOUR, type="decision")
        with browser(http) as client:
            asked = client.get("/memory/timeline?days=7")
            assert asked.headers["location"] == "/memory/enter?back=%2Ftimeline%3Fdays%3D7"
            assert 'action="/memory/enter"' in client.get("/memory/enter").text
            entered = client.post("/memory/enter", data={"token": key, "back": "/timeline?days=7"})
            assert entered.headers["location"] == "/memory/timeline?days=7"
            assert "Path=/memory;" in entered.headers["set-cookie"]
            client.headers["Cookie"] = entered.headers["set-cookie"].partition(";")[0]
            for path in INSIDE:
                page = client.get(f"/memory{path}")
                assert page.status_code == 200, path
                addresses = ADDRESS.findall(page.text)
                assert len(addresses) > 10
                assert [at for at in addresses if not at.startswith(("/memory/", "#"))] == [], path
            edited = client.get(f"/memory/memory/{stored['id']}")
            fields = {
                "csrf": form(edited),
                "content": "It opens at one",
                "type": "decision",
                "importance": "5",
            }
            saved = client.post(
                f"/memory/memory/{stored['id']}/edit", data=fields | {"tags": "", "project": ""}
            )
            assert saved.headers["location"].startswith(f"/memory/memory/{stored['id']}?done=changed")
            assert client.get("/memory/static/style.css").status_code == 200


async def test_what_only_begins_like_the_prefix_is_no_page(start: Start) -> None:
    with start("--http-prefix", "/memory") as http, browser(http, None) as client:
        assert client.get("/memoryx").headers["location"].startswith("/memory/enter?back=%2Fmemoryx")
