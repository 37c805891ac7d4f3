"""A browser and a client below a path of a host, behind the nginx of docs/http.md, where nginx and chromium are."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import browser as browsers
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import PATIENCE, Servers, call
from tests.http.conftest import Start, token
from tests.http.test_proxy import Proxy, below_a_path, proxied

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
pytestmark = pytest.mark.skipif(
    not (shutil.which("nginx") and shutil.which("openssl") and browsers.found()),
    reason="nginx, openssl and chromium are not installed",
)

MOST = 60
"""Pages that are opened; links that differ in their numbers alone count as one."""


@pytest.fixture
def below(start: Start, tmp_path: Path) -> Iterator[Proxy]:
    with (
        start("--http-prefix", "/memory") as http,
        proxied(http, tmp_path, below_a_path(), "/memory/health") as proxy,
    ):
        yield proxy


def test_every_link_form_and_look_for_news_works_in_a_browser(server: Servers, below: Proxy) -> None:
    key = token(server, "ada")
    root, wrong = below.url("/memory"), []
    with browsers.launched() as launched:
        page = launched.new_context(ignore_https_errors=True).new_page()
        page.set_default_timeout(10_000)

        def look(response: Any) -> None:
            if not response.url.startswith(f"{root}/") or response.status >= 400:
                wrong.append(f"{response.status} {response.url}")

        page.on("response", look)
        page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
        page.goto(f"{root}/timeline?days=7")
        page.fill("[name=token]", key)
        page.click("button")
        page.wait_for_url(f"{root}/timeline?days=7")
        change_things(page, root)
        opened = crawl(page, root)
        assert {"/map", "/sessions", "/memory/0", "/new", "/review", "/rules"} <= opened
        page.goto(f"{root}/timeline")
        with page.expect_response(f"{root}/stamp"):
            pass
        page.click("text=Sign out")
        page.wait_for_url(f"{root}/enter")
    assert wrong == []


def change_things(page: Any, root: str) -> None:
    """Add two memories, edit and undo one, find the other as one types, select both, and speak Chinese."""
    for text in ("The harbour opens at noon", "灯塔的编号是七"):
        page.goto(f"{root}/new")
        page.fill("[name=content]", text)
        page.click("main button")
        page.wait_for_selector(".done")
    page.click("summary:text('Edit')")
    page.fill("[name=content]", "灯塔的编号是八")
    page.click("text=Save")
    page.click(".done >> text=Undo")
    page.wait_for_selector(".content:has-text('七')")
    page.keyboard.press("/")
    page.wait_for_url(f"{root}/")
    page.keyboard.type("harbour")
    page.wait_for_selector(".hits li:first-child mark")
    page.wait_for_url(f"{root}/?q=harbour*")
    page.locator(".pick input").first.check()
    page.fill("[name=tags]", "sea")
    page.click("text=Add tags")
    page.wait_for_selector(".done")
    page.click("text=中文")
    page.wait_for_selector("html[lang=zh-CN]")
    page.click("text=English")
    page.wait_for_selector("html[lang=en]")


def crawl(page: Any, root: str) -> set[str]:
    """Open every link of these pages; return the paths, with 0 for each number."""
    opened: set[str] = set()
    waiting = [f"{root}/"]
    while waiting and len(opened) < MOST:
        address = waiting.pop(0)
        path = re.sub(r"\d+", "0", address.removeprefix(root).partition("?")[0])
        if path in opened or "/language/" in path:
            continue
        opened.add(path)
        page.goto(address)
        waiting += page.evaluate(
            "[...document.querySelectorAll('a[href]')].map(link => new URL(link.getAttribute('href'), location))"
            ".map(url => url.origin + url.pathname + url.search)"
        )
    return opened


@pytest.mark.anyio
async def test_calls_and_streams_pass(server: Servers, below: Proxy) -> None:
    key = token(server, "ada")
    async with (
        below.client(Authorization=f"Bearer {key}", Host=f"127.0.0.1:{below.port}") as sent,
        Client(
            streamable_http_client(below.url("/memory/mcp"), http_client=sent), read_timeout_seconds=60
        ) as client,
    ):
        with anyio.fail_after(PATIENCE):
            async with client.listen(resource_subscriptions=["memory://recent"]) as events:
                await call(client, "memory_store", content="The ferry leaves at one", type="decision")
                async for event in events:
                    assert type(event).__name__ == "ResourceUpdated"
                    break
