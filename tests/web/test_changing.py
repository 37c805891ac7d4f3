"""What a person changes on the pages, and what others change meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import MemoryChange, MemoryId
from memory_server.services import backups
from tests.conftest import new_place
from tests.web.conftest import CLAUDE, HARBOUR, ORCHID, View, faults, keep, services, viewing


def stored(view: View, *texts: str) -> list[MemoryId]:
    """What another process stores."""
    with services(view.place) as made:
        return [keep(made, text) for text in texts]


@pytest.mark.both_stores
def test_a_memory_is_edited_and_the_edit_undone(own: View) -> None:
    (id,) = stored(own, "The old quay is closed")
    with own.page(f"/memory/{id}") as page:
        page.click("summary:text('Edit')")
        page.fill("[name=content]", "The harbour opens at one\n\nsecond line")
        page.fill("[name=importance]", "9")
        page.fill("[name=tags]", "sea，港口")
        page.click("button:text('Save')")
        page.wait_for_selector("[role=status]:has-text('Changed.')")
        assert page.locator(".content").inner_text() == "The harbour opens at one\n\nsecond line"
        assert page.locator(".tags .tag").all_inner_texts() == ["sea", "港口"]
        page.click("[role=status] button")
        page.wait_for_selector("[role=status]:has-text('Undone.')")
        assert page.locator(".content").inner_text() == "The old quay is closed"


@pytest.mark.both_stores
def test_forgetting_says_what_it_takes_and_is_undone(own: View) -> None:
    (id,) = stored(own, ORCHID)
    with own.page(f"/memory/{id}", language="zh-CN") as page:
        page.click("summary:text('删除')")
        taken = page.locator(".tool.danger li").all_inner_texts()
        assert taken == ["它的内容", "它在搜索中的位置"], taken
        page.click("button.danger")
        page.wait_for_selector("[role=status]")
        assert page.locator(".hit:has-text('兰花')").count() == 0
        page.click("[role=status] button")
        page.wait_for_url(f"**/memory/{id}?done=undone")
        assert page.locator(".content").inner_text() == ORCHID
        page.click("summary:text('删除')")
        page.check("[name=purge]")
        page.click("button.danger")
        page.wait_for_selector("[role=status]:has-text('已彻底清除')")
        assert page.locator("[role=status] button").count() == 0
        page.goto(f"{own.base}/memory/{id}")
        assert "没有成功" in page.locator("h1").inner_text()
    own.errors.clear()  # the console tells of the answer 404


@pytest.mark.both_stores
def test_memories_are_connected_and_superseded(own: View) -> None:
    one, other = stored(own, "The ferry leaves at nine", "Nobody sails in a storm")
    with own.page(f"/memory/{one}") as page:
        page.click("summary:text('Connect')")
        page.fill("[name=other]", f"m{other}")
        page.select_option("[name=relation]", "causes")
        page.click("button:text('Connect')")
        page.wait_for_selector(".edge:has-text('causes')")
        page.click(".edge button")
        page.wait_for_selector("[role=status]")
        assert page.locator(".edge").count() == 0
        page.click("summary:text('Supersede')")
        page.fill("form[action$=supersede] textarea", "The harbour is closed for good")
        page.click("button:text('Supersede')")
        page.wait_for_url(f"**/memory/{other + 1}?*")
        assert page.locator(".edge").inner_text().startswith("this supersedes →")
        page.goto(f"{own.base}/memory/{one}")
        assert f"m{other + 1}" in page.locator(".notice").inner_text()


@pytest.mark.both_stores
def test_a_memory_is_added_and_one_that_says_the_same_is_merged(own: View) -> None:
    text = "The **customs house** opens at eight\n\n- on Mondays at nine"
    with own.page("/") as page:
        page.click("a.add")
        page.fill("[name=content]", text)
        page.select_option("[name=type]", "decision")
        page.fill("[name=tags]", "customs，海关")
        page.click("button:text('Save')")
        page.wait_for_selector("[role=status]:has-text('Stored.')")
        address = page.url.partition("?")[0]
        assert page.locator(".content strong").inner_text() == "customs house"
        assert page.locator(".meta a").inner_text() == "ledger"
        assert page.locator(".tags .tag").all_inner_texts() == ["customs", "海关"]
        assert page.locator(".chip >> nth=0").inner_text() == "decision"
        page.goto(f"{own.base}/new")
        page.fill("[name=content]", text)
        page.select_option("[name=type]", "decision")
        page.click("button:text('Save')")
        page.wait_for_selector("[role=status]:has-text('Merged into this memory')")
        assert page.url.partition("?")[0] == address


@pytest.mark.both_stores
def test_several_memories_are_tagged_moved_and_forgotten_each_undone_by_one_click(own: View) -> None:
    ids = stored(own, "Pilot boats are white", "Tug boats are black", "Rowing boats are green")
    with own.page("/?q=boats") as page:
        expect(page.locator(".selected")).not_to_be_visible()
        for act, field, value in [("tag", "tags", "boats"), ("move", "target", "-"), ("forget", "", "")]:
            for id in ids[:2]:
                page.check(f".pick [value=m{id}]")
            page.fill("[name=tags]", value) if field == "tags" else None
            page.select_option("[name=target]", value) if field == "target" else None
            page.click(f".selected [value={act}]")
            page.wait_for_selector("[role=status] button")
            assert page.url.startswith(f"{own.base}/?q=boats&done=")
            shown = {"tag": ":has(.tag)", "move": ":not(:has-text('ledger'))", "forget": ""}[act]
            expect(page.locator(f".hit:has-text('boats'){shown}")).to_have_count(1 if act == "forget" else 2)
            page.click("[role=status] button")
            page.wait_for_selector("[role=status]:has-text('Undone.')")
            page.goto(f"{own.base}/?q=boats")
            expect(page.locator(".hit:has-text('ledger'):not(:has(.tag)):has-text('boats')")).to_have_count(3)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("x")
        expect(page.locator(".pick :checked")).to_have_count(1)
        expect(page.locator(".selected")).to_be_visible()


def test_tags_may_stand_between_chinese_commas_and_only_memories_get_them(own: View) -> None:
    (id,) = stored(own, "Lantern posts are green")
    with own.page("/?q=lantern", language="zh-CN") as page:
        page.check(f".pick [value=m{id}]")
        page.fill("[name=tags]", "支付、主机，网关")
        page.click(".selected [value=tag]")
        page.wait_for_selector("[role=status] button")
        assert page.locator(".hit >> nth=0").locator(".tag").all_inner_texts() == ["支付", "主机", "网关"]
        page.evaluate(f"document.querySelector('.pick [value=m{id}]').value = 's1'")
        page.check(".pick [value=s1]")
        expect(page.locator(".selected [value=tag]")).not_to_be_visible()
        expect(page.locator(".selected .unfit")).to_have_text("只有记忆可以改标签和项目。")


def test_the_bar_is_three_keys_behind_a_box_and_asks_for_the_field_that_it_needs(own: View) -> None:
    stored(own, "Ferries leave at nine", "Ferries return at ten")
    with own.page("/?q=ferries") as page:
        page.focus(".pick input >> nth=0")
        for key in ("Space", "Tab", "Tab"):
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == "To what is selected"
        assert faults(page) == []
        for key in ("Enter", "Tab"):
            page.keyboard.press(key)
        page.wait_for_selector("[name=tags]:focus")
        page.click(".selected [value=tag]")
        page.wait_for_selector("[name=tags]:focus:invalid")
        page.fill("[name=tags]", "boats")
        page.click(".selected [value=move]")
        page.wait_for_selector("[name=target]:focus:invalid")
        page.evaluate("document.querySelector('.picking').noValidate = true")
        page.click(".selected [value=move]")
        page.wait_for_selector("main:has-text('Choose a project first.')")
        page.click("a:text('Back')")
        page.wait_for_url("**/?q=ferries*")
        page.focus(".hit >> nth=0")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "pick"  # nothing is ticked: no way to the bar
    own.errors.clear()  # the console tells of the answer 400


def test_a_wrong_form_is_explained_and_changes_nothing(own: View) -> None:
    with own.page("/memory/1") as page:
        page.click("summary:text('Connect')")
        page.fill("[name=other]", "1")
        page.click("button:text('Connect')")
        page.wait_for_selector("h1:text('That did not work')")
        assert "two memories" in page.locator("main").inner_text()
        page.goto(own.base + "/fact/nowhere/key")
        assert page.locator("h1").inner_text() == "That did not work"
    own.errors.clear()  # the console tells of the answers 400


def test_a_form_that_fails_gives_back_the_text_that_was_written(own: View) -> None:
    text = "The quay opens at nine\n\n<b>in summer</b>"
    with own.page("/new") as page:
        page.fill("[name=content]", text)
        page.fill(
            "[name=tags]", "one tag that is far longer than fifty characters can be, so that the form fails"
        )
        page.click("main form button")
        page.wait_for_selector("h1:text('That did not work')")
        assert page.input_value("textarea[readonly]") == text
    own.errors.clear()  # the console tells of the answer 400


def test_a_fact_is_written_again_and_undone(own: View) -> None:
    with services(own.place) as made:
        made.facts.write(FactDraft("deploy.days", {"days": ["Tue"]}), Scope.PROJECT, CLAUDE)
    with own.page("/fact/project/deploy.days") as page:
        page.click("summary:text('Edit')")
        page.fill("[name=value]", '{"days": ["Tue", "Thu"]}')
        page.click("button:text('Save')")
        page.wait_for_selector("[role=status]")
        assert page.locator(".content").inner_text() == "days:\n    • Tue\n    • Thu"
        page.click("[role=status] button")
        page.wait_for_url("**/timeline?done=undone")
        page.goto(own.base + "/fact/project/deploy.days")
        assert page.locator(".content").inner_text() == "days:\n    • Tue"
        assert "version 3" in page.locator(".meta >> nth=0").inner_text()


@pytest.mark.parametrize("name", ["..", ".", "~..", "~", "a/../b"])
def test_a_name_that_a_browser_takes_for_a_folder_has_a_page(own: View, name: str) -> None:
    with services(own.place) as made:
        made.facts.write(FactDraft(name, "dotted"), Scope.PROJECT, CLAUDE)
        made.long_term.add(LongTermDraft(name, "Mind the dots.", "1 > 2", None), None, CLAUDE)
    with own.page("/facts") as page:
        page.click(f"td a:has(code:text-is('{name}'))")
        assert page.locator("h1").inner_text() == name
        assert page.locator(".content").inner_text() == "dotted"
        page.goto(own.base + "/triggers")
        page.click(f".hit:has(b:text-is('{name}'))")
        assert "Mind the dots." in page.locator("main").inner_text()
        page.click("summary:text('Forget')")
        page.click("button.danger")
        page.wait_for_selector("[role=status]")
        assert page.locator(f".hit:has(b:text-is('{name}'))").count() == 0


@pytest.mark.both_stores
def test_what_another_process_writes_appears_without_a_reload(own: View) -> None:
    with own.page("/") as page:
        page.evaluate("window.same = 1")
        stored(own, "A new lighthouse stands there")
        page.wait_for_selector(".hit:has-text('new lighthouse')")
        assert page.evaluate("window.same") == 1
        page.goto(own.base + "/memory/1")
        page.click("summary:text('Edit')")
        page.fill("[name=content]", "half written")
        with services(own.place) as made:
            made.memories.update(MemoryId(1), MemoryChange(importance=2), CLAUDE)
        page.wait_for_selector("#news:visible")
        assert page.input_value("[name=content]") == "half written"


@pytest.mark.both_stores
def test_a_backup_is_written_and_what_is_forgotten_is_erased(own: View) -> None:
    with services(own.place) as made:
        made.memories.forget(keep(made, "Soon forgotten"), False, CLAUDE)
    with own.page("/doctor") as page:
        page.click("button:text('Back up now')")
        page.wait_for_selector("#work:has-text('Backup: /'):not(:has-text('No such file'))")
        (backup,) = backups.folder(own.place).glob("*-*.db")
        assert backup.stat().st_size > 10_000
        page.click("summary:text('Erase what is forgotten')")
        page.click("button:text('Erase for good')")
        page.wait_for_selector("#work:has-text('Erasing: ')")
        page.wait_for_selector(".figure:has-text('forgotten') b:text('0')")


def test_an_empty_memory_says_what_to_do(
    browser: Any, tmp_path: Path, user_folders: dict[str, str], store: str
) -> None:
    with viewing(new_place(store, tmp_path), browser, user_folders) as view:
        with view.page("/", language="zh-CN") as page:
            assert "memory-server install" in page.locator(".welcome").inner_text()
            with services(view.place) as made:
                keep(made, HARBOUR)
            page.wait_for_selector(".hit")
        for path in ("/now", "/timeline", "/graph", "/facts", "/triggers", "/doctor"):
            with view.page(path) as page:
                assert page.locator("h1").count() == 1
        assert view.errors == []
        assert view.ended() == 0
