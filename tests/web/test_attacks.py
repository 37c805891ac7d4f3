"""Who may not see the pages does not, and no other site can write."""

import http.client
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import new_place, until
from tests.web.conftest import HARBOUR, View, keep, services, viewing

WRONG = (
    "/?n=-5 /?n=x /?type=x /?since=x /?q=%00%ff /memory/99999999999999999999 /graph/1?depth=x /fact/x/y /now?tokens=x "
    "/timeline?days=-1 /triggers?order=&from=100 /trigger/none /turn/77 /said/77 /facts?scope=x "
    "/triggers?order=x&from=-1"
).split()

OUTSIDE = [
    "/static/../site.py",
    "/static/%2e%2e/site.py",
    "/static//etc/passwd",
    "/language/en?back=//evil.example",
]


def ask(
    view: View, path: str, form: Mapping[str, str] | None = None, **headers: str
) -> http.client.HTTPResponse:
    """A request as any program sends it; with the cookie unless another one is given."""
    cookies = [] if view.state is None else view.state["cookies"]
    sent = {"Cookie": "; ".join(f"{each['name']}={each['value']}" for each in cookies)}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=10)
    body = None if form is None else urlencode(form)
    if body is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("GET" if form is None else "POST", path, body, sent)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def csrf(view: View) -> str:
    with view.page("/memory/1") as page:
        return str(page.locator("[name=csrf] >> nth=0").get_attribute("value"))


def test_the_token_opens_once_and_leaves_the_address(own: View) -> None:
    with own.page("/") as page:
        page.goto(own.address)  # the browser that has the cookie is led on
        assert page.url == own.base + "/"
    (cookie,) = own.state["cookies"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    path = own.address.removeprefix(own.base)
    assert ask(own, path, Cookie="").status == 403
    assert ask(own, "/", Cookie="").status == 403
    assert ask(own, "/", Cookie=f"{cookie['name']}={'0' * 64}").status == 403
    assert ask(own, "/static/style.css", Cookie="").status == 403
    assert ask(own, "/").status == 200


def test_what_is_refused_is_told_in_the_language_of_the_browser(own: View) -> None:
    def told(path: str, **headers: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", own.port, timeout=10)
        connection.request("GET", path, headers={"Accept-Language": "zh-CN,zh;q=0.9", **headers})
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    own.enter()
    (cookie,) = own.state["cookies"]
    mine = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    assert told(own.address.removeprefix(own.base)).startswith("此地址已用过，或属于另一个浏览器。")
    assert told("/nowhere", **mine) == "没有这个页面。\n"
    assert told("/undo", **mine) == "此页面不支持这种请求。\n"


def test_the_command_line_of_the_browser_that_is_opened_holds_no_token(
    browser: Any, tmp_path: Path, user_folders: dict[str, str], store: str
) -> None:
    """A page of the user alone leads it to the address; it goes away with the server."""
    opened, opener = tmp_path / "opened", tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$*" > {opened}.new && mv {opened}.new {opened}\n')
    opener.chmod(0o755)
    folders = {**user_folders, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with viewing(new_place(store, tmp_path), browser, folders, "--open") as view:
        until(opened.exists, "the browser is opened")
        page = Path(opened.read_text())
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        assert view.address in page.read_text()
        with browser.new_context() as context:
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_url(f"{view.base}/")
            assert tab.locator("#q").count() == 1
        assert view.ended() == 0
    assert not page.exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example:{port}", ""]
)
def test_a_foreign_host_is_refused(seen: View, host: str) -> None:
    seen.enter()
    assert ask(seen, "/", Host=host.format(port=seen.port)).status in (400, 421)


def test_a_form_of_another_site_changes_nothing(own: View) -> None:
    token = csrf(own)
    form = {"csrf": token}
    host = f"127.0.0.1:{own.port}"
    with services(own.place) as made:
        id = keep(made, "To be stolen")
    path, mine = f"/memory/{id}/forget", {"Origin": own.base}
    assert ask(own, path, form).status == 403
    assert ask(own, path, form, Origin="https://evil.example").status == 403
    assert ask(own, path, form, Origin="null").status == 403
    assert ask(own, path, form, Origin=f"http://127.0.0.1:{own.port + 1}").status == 403
    assert ask(own, path, form, **mine, Sec_Fetch_Site="cross-site").status == 403
    assert ask(own, path, form, **mine, Sec_Fetch_Site="same-site").status == 403
    assert ask(own, path, {}, **mine).status == 403
    assert ask(own, path, {"csrf": "0" * 64}, **mine).status == 403
    assert ask(own, path, form, Origin=own.base, Host="evil.example").status == 421
    assert ask(own, f"/memory/{id}").status == 200
    assert ask(own, path, form, **mine, Host=host).status == 303
    assert ask(own, f"/memory/{id}").status == 404


def test_no_page_can_be_framed(own: View) -> None:
    with own.page("/") as page:
        told = page.evaluate(
            """async () => {
                const frame = document.createElement('iframe');
                frame.src = '/'; document.body.append(frame);
                await new Promise(done => setTimeout(done, 300));
                return frame.contentDocument ? frame.contentDocument.querySelectorAll('.hit').length : 0;
            }"""
        )
        assert told == 0
    own.errors.clear()  # the console tells that it was refused


def test_every_answer_has_the_headers_that_keep_scripts_out(seen: View) -> None:
    seen.enter()
    for path in ("/", "/memory/3", "/static/page.js", "/nowhere"):
        answer = ask(seen, path)
        policy = answer.getheader("Content-Security-Policy") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Server") is None


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_address_leads_out(seen: View, path: str) -> None:
    seen.enter()
    answer = ask(seen, path)
    assert answer.status == 404 or answer.getheader("Location") == "/"


@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_address_is_explained(seen: View, path: str) -> None:
    seen.enter()
    assert ask(seen, path).status in (200, 400, 404)


def test_a_form_without_its_fields_is_explained(own: View) -> None:
    form, mine = {"csrf": csrf(own)}, {"Origin": own.base}
    for path in (
        "/memory/1/edit",
        "/memory/1/connect",
        "/undo",
        "/memory/1/supersede",
        "/triggers/try",
        "/new",
    ):
        assert ask(own, path, form, **mine).status == 400
    assert ask(own, "/memory/1/supersede", form | {"content": "x" * 100_001}, **mine).status == 400
    assert ask(own, "/memory/1/supersede", form | {"content": "🌊" * 100_000}, **mine).status == 303
    for wrong in ({}, {"pick": "m1"}, {"pick": "x1", "do": "forget"}, {"pick": "m1", "do": "tag", "tags": " "},
                  {"pick": "t1", "do": "move", "target": "ledger"}, {"pick": "m1", "do": "confirm"},
                  {"pick": "m1", "do": "move", "target": ""}):  # fmt: skip
        assert ask(own, "/selected", form | wrong, **mine).status == 400
    gone = ask(own, "/selected", form | {"pick": "m999", "do": "tag", "tags": "x"}, **mine)
    assert gone.status == 404
    fact = form | {"as": "json", "version": "0", "back": "/fact/global/x"}
    for value in ("[" * 100_000, "NaN", "{", "[" * 101 + "]" * 101):
        assert ask(own, "/fact/global/x/write", fact | {"value": value}, **mine).status == 400
    assert ask(own, "/fact/global/x/write", fact | {"value": '"\\ud800"'}, **mine).status == 303
    assert ask(own, "/undo", form | {"change": "d99"}, **mine).status == 404


def test_read_only_shows_no_form_and_takes_none(
    browser: Any, tmp_path: Path, user_folders: dict[str, str], store: str
) -> None:
    where = new_place(store, tmp_path)
    with services(where) as made:
        keep(made, HARBOUR)
    with viewing(where, browser, user_folders, "--read-only") as view:
        with view.page("/memory/1") as page:
            assert page.locator("form[method=post]").count() == 0
            assert page.locator(".content").inner_text() == HARBOUR
        with view.page("/triggers") as page:
            token = page.locator("[name=csrf]").get_attribute("value")
        with view.page("/?q=harbour") as page:
            assert page.locator(".hit").count() == 1
            assert page.locator("[type=checkbox]").count() == 0
        for path in ("/memory/1/forget", "/memory/1/edit", "/undo", "/doctor/purge", "/new", "/selected"):
            assert ask(view, path, {"csrf": token}, Origin=view.base).status == 403
        assert view.errors == []
