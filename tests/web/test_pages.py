"""Each page, as a person sees it: in both languages, wide and narrow, light and dark, and by keyboard."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import ATTACK, HARBOUR, NARROW, WIDE, View, faults

PAGES = {
    "newest": "/?n=60",
    "search": "/?q=harbour",
    "new": "/new",
    "memory": "/memory/1",
    "attacked": "/memory/3",
    "long": "/memory/4",
    "markdown": "/memory/46",
    "turn": "/turn/1",
    "said": "/said/1",
    "now": "/now",
    "sessions": "/sessions",
    "session": "/session/s-1",
    "timeline": "/timeline",
    "years": "/timeline?days=3650",
    "graph": "/graph/1",
    "map": "/map",
    "map-meaning": "/map?by=meaning",
    "map-time": "/map?by=time&project=ledger",
    "facts": "/facts",
    "fact": "/fact/project/deep",
    "triggers": "/triggers",
    "trigger": "/trigger/zoo",
    "review": "/review",
    "health": "/doctor",
}
WIDTHS = (WIDE, NARROW, 1600)
LOOKS = [
    pytest.param(WIDE, "en-GB", "light", id="wide"),
    pytest.param(NARROW, "zh-CN", "dark", id="narrow-zh-dark"),
]


@pytest.mark.parametrize(("width", "language", "colours"), LOOKS)
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_a_page_fits_speaks_its_language_and_runs_no_script_of_what_is_stored(
    seen: View, path: str, width: int, language: str, colours: str
) -> None:
    with seen.page(path, width, language, colours) as page:
        for seen_width in (*WIDTHS, width):
            page.set_viewport_size({"width": seen_width, "height": 860})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), seen_width
        assert page.locator("html").get_attribute("lang") == ("zh-CN" if language == "zh-CN" else "en")
        nav = page.locator("nav >> nth=0").inner_text().split()
        assert ("搜索" in nav) == (language == "zh-CN")
        assert page.locator("h1").count() == 1
        assert page.evaluate("window.hit") is None
        assert "707" not in page.locator("h1").inner_text()
        assert faults(page) == []


def test_the_language_can_be_switched_and_stays(seen: View) -> None:
    with seen.page("/now", alone=True) as page:
        page.click("text=中文")
        page.wait_for_selector("h1:text('简报')")
        assert page.url == f"{seen.base}/now"
        page.goto(seen.base + "/facts")
        assert page.locator("h1").inner_text() == "事实"


def test_the_list_follows_what_is_typed_and_shows_why(seen: View) -> None:
    with seen.page("/") as page:
        page.locator("#q").press_sequentially("灯塔", delay=10)
        page.wait_for_selector(".hit:has-text('Lighthouse') .spoke")
        assert "q=" in page.url
        page.fill("#q", "harbour noon")
        page.wait_for_selector(".hits li:first-child:has-text('harbour')")
        shares = page.locator(".hits li:first-child .spoke b").all_inner_texts()
        assert len(shares) == 4
        assert int(shares[0]) > 50
        page.click(".filters summary")
        page.select_option("[name=kind]", "turn")
        page.wait_for_selector(".none, .hit .of-turn")
        assert page.locator(".hit .of-decision").count() == 0
        assert page.locator(".filters[open]").count() == 1


def test_what_others_write_while_one_searches_does_not_hold_the_list_back(seen: View) -> None:
    with seen.page("/?q=灯塔", alone=True) as page:
        held: list[Any] = []
        page.route("**/?q=harbour*", lambda route: held.append(route))
        with page.expect_request("**/?q=harbour*"):
            page.fill("#q", "harbour")
        page.evaluate("(async () => { stamp = 'of another file'; await look(); })()")
        held[0].continue_()
        expect(page.locator(".hit >> nth=0")).to_contain_text("harbour")


def test_found_words_are_marked_in_both_scripts(seen: View) -> None:
    with seen.page("/?q=灯塔的编号") as page:
        assert page.locator(".hit mark >> nth=0").inner_text() == "灯塔"
        page.goto(f"{seen.base}/?q=harbours")
        assert page.locator(".hit mark >> nth=0").inner_text() == "harbour"


def test_an_arrow_key_that_comes_before_the_answer_is_not_lost(seen: View) -> None:
    with seen.page("/") as page:
        page.keyboard.type("harbour")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".hits li:first-child:has-text('harbour') mark")
        page.wait_for_function("document.activeElement.matches('.hit')")
        page.keyboard.press("ArrowDown")
        page.wait_for_function("[...document.querySelectorAll('.hit')].indexOf(document.activeElement) > 0")


@pytest.mark.parametrize("path", ["/", "/?q=harbour", "/facts", "/sessions", "/triggers"])
def test_the_first_arrow_key_goes_to_the_first_of_each_list(seen: View, path: str) -> None:
    with seen.page(path) as page:
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement === document.querySelector('#main a.hit, #main a.row')")


def test_keys_go_on_from_a_box_that_was_ticked_by_hand(seen: View) -> None:
    with seen.page("/") as page:
        page.locator(".pick input >> nth=1").check()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("[...document.querySelectorAll('a.hit')].indexOf(document.activeElement)") == 2
        page.keyboard.press("x")
        assert page.locator(".pick :checked").count() == 2
        page.keyboard.press("/")
        page.wait_for_selector("#q:focus")


def test_a_box_that_is_ticked_after_typing_asks_for_no_new_list(seen: View) -> None:
    with seen.page("/", alone=True) as page:
        page.locator("#q").press_sequentially("harbour")
        page.wait_for_selector(".hits li:first-child mark")
        page.wait_for_url("**/?q=harbour*")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.locator(".pick input >> nth=0").check()
        page.locator(".pick input >> nth=1").check()
        assert page.locator(".pick :checked").count() == 2
        assert [url for url in asked if "q=" in url] == []


def test_what_is_superseded_shows_no_share_that_it_answers(seen: View) -> None:
    with seen.page("/?q=兰花每周") as page:
        old = page.locator(".hit:has-text('兰花')")
        assert "superseded by" in old.inner_text()
        assert old.locator(".score").count() == 0
        assert page.locator(".hit .score").count() > 0


def test_filters_choose_by_project_type_tag_and_day(seen: View) -> None:
    for path, found in {
        "/?tag=sea": 1,
        "/?type=learning&q=灯塔&importance=3": 7,
        "/?kind=fact": 3,
        "/?since=2100-01-01": 0,
        "/?project=-": 0,
        "/?kind=short_term&project=ledger": 1,
    }.items():
        with seen.page(path) as page:
            assert page.locator(".hit").count() == found, path


def test_everything_can_be_reached_by_keyboard(seen: View) -> None:
    with seen.page("/memory/1") as page:
        page.keyboard.press("/")
        page.wait_for_url(f"{seen.base}/")
        page.wait_for_selector("#q:focus")
        page.keyboard.type("harbour")
        page.wait_for_selector(".hits li:first-child:has-text('harbour')")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("[...document.querySelectorAll('.hit')].indexOf(document.activeElement)") == 1
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.wait_for_selector("#q:focus")
        page.keyboard.press("ArrowDown")
        address = page.evaluate("document.activeElement.href")
        page.keyboard.press("Enter")
        page.wait_for_url(address)


def test_a_memory_shows_its_text_history_edges_and_accesses(seen: View) -> None:
    with seen.page("/memory/1") as page:
        assert page.locator(".content").inner_text() == f"{HARBOUR} and closes at six"
        assert page.locator("ins").all_inner_texts() == [" and closes at six"]
        edges = page.locator(".edge").all_inner_texts()
        assert len(edges) == 43
        assert any("this causes →" in each for each in edges)
        assert any("→ related to this" in each for each in edges)
        assert "Claude" in page.locator("dl").inner_text()
        assert page.locator("section:has(h2:text('Similar')) .small").count() > 0


def test_the_markdown_of_a_memory_is_rendered_and_its_links_tell_no_other_site(seen: View) -> None:
    with seen.page("/memory/46") as page:
        assert page.locator(".content h2").inner_text() == "灯塔 list"
        assert page.locator(".content li").all_inner_texts() == ["one", "two"]
        assert page.locator(".content pre").inner_text().strip() == "sh\necho '<b>'"
        assert page.locator(".content a").get_attribute("rel") == "noopener noreferrer nofollow"


def test_a_memory_of_100_000_characters_is_shown_whole(seen: View) -> None:
    with seen.page("/memory/4") as page:
        assert len(page.locator(".content").text_content()) >= 99_990


def test_now_shows_the_briefing_item_by_item_and_what_hooks_said(seen: View) -> None:
    with seen.page("/now") as page:
        assert "move it again" in page.locator(".item:has(a[href*='current.task'])").inner_text()
        assert int(page.locator(".item .tokens >> nth=0").inner_text()) > 0
        assert ATTACK in page.locator("section >> nth=1").inner_text()


def test_a_trigger_is_tried_part_by_part(seen: View) -> None:
    with seen.page("/trigger/zoo") as page:
        assert "zebra" in page.locator(".history").inner_text()
        page.fill("[name=trigger]", "match_keys(messages, ['zebra']) > 0 && new Date().getMonth() === 0")
        page.fill("[name=messages]", "user: I saw a zebra\nassistant: really")
        page.fill("[name=at]", "2026-07-01T09:00")
        page.click("form[action='/triggers/try'] button")
        page.wait_for_selector("#tried tbody tr")
        assert page.locator("#tried tbody .chip").all_inner_texts() == ["true", "false"]
        assert page.locator(".verdict .chip").inner_text() == "false"
        page.fill("[name=trigger]", "match_keys(")
        page.click("form[action='/triggers/try'] button")
        page.wait_for_selector("#tried .notice:has-text('does not compile')")


def test_a_trial_and_the_changes_of_edges_are_told_in_chinese(seen: View) -> None:
    with seen.page("/triggers", language="zh-CN") as page:
        page.fill("[name=trigger]", "match_keys(messages, ['zebra']) > 0 && new Date().getDay() === 5")
        page.fill("[name=messages]", "user: I saw a zebra")
        page.fill("[name=at]", "2026-07-03T09:00")
        page.click("form[action='/triggers/try'] button")
        page.wait_for_selector("#tried tbody tr")
        assert page.locator("#tried tbody td:last-child").all_inner_texts() == [
            "用户消息中有 'zebra'：I saw a zebra",
            "今天是星期五",
        ]
        page.goto(seen.base + "/timeline")
        connected = page.locator(".step:has(.chip:text-is('建立关联')) .text").all_inner_texts()
        assert "相关 m1：" in connected[0]


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_the_graph_has_at_most_40_nodes_and_none_covers_another(
    seen: View, width: int, language: str
) -> None:
    with seen.page("/graph/1", width, language) as page:
        page.wait_for_selector(".plane path", state="attached")
        boxes = page.evaluate(
            "[...document.querySelectorAll('.node')].map(node => node.getBoundingClientRect())"
            ".map(box => [box.x, box.y, box.right, box.bottom])"
        )
        assert len(boxes) == 40
        assert not any(overlap(one, other) for place, one in enumerate(boxes) for other in boxes[:place])


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("path", ["/graph/1", "/graph/2?depth=4", "/graph/2?depth=1"])
def test_no_edge_of_the_graph_runs_behind_a_card(seen: View, path: str, width: int) -> None:
    with seen.page(path, width) as page:
        page.wait_for_selector(".plane path", state="attached")
        behind = page.evaluate(
            """() => {
                const room = document.querySelector(".room").getBoundingClientRect();
                const nodes = [...document.querySelectorAll(".node")].map((node) => node.getBoundingClientRect());
                const lines = [...document.querySelectorAll(".lines > path")];
                const inside = ({ x, y }, box) => x + room.left > box.left + 2 && x + room.left < box.right - 2
                    && y + room.top > box.top + 2 && y + room.top < box.bottom - 2;
                return lines.flatMap((line) => nodes.filter((box) => [...Array(200).keys()]
                    .some((part) => inside(line.getPointAtLength(part / 199 * line.getTotalLength()), box))));
            }"""
        )
        assert page.locator(".lines > path").count() == page.locator(".node").count() - 1
        assert behind == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_card_of_the_graph_is_cut(seen: View, width: int) -> None:
    with seen.page("/graph/1", width) as page:
        page.wait_for_selector(".plane path", state="attached")
        cut = page.evaluate(
            """() => {
                const box = (element) => element.getBoundingClientRect(), plane = box(document.querySelector(".plane"));
                return [...document.querySelectorAll(".node")].filter((node) => box(node).left < plane.left
                    || box(node).right > plane.right || box(node).top < plane.top || box(node).bottom > plane.bottom)
                    .map((node) => [node.dataset.id, box(node).left, box(node).right, plane.left, plane.right,
                                    box(node).top, box(node).bottom, plane.top, plane.bottom]);
            }"""
        )
        assert cut == []


@pytest.mark.parametrize("by", ["project", "meaning", "time"])
def test_each_memory_is_a_point_of_the_whole_that_leads_to_it(seen: View, by: str) -> None:
    with seen.page(f"/map?by={by}") as page:
        expect(page.locator(".map circle")).to_have_count(46)
        if by == "project":
            assert "ledger" in page.locator(".map figcaption").all_text_contents()
        page.locator(".map a[href='/memory/1']").dispatch_event("click")
        page.wait_for_url("**/memory/1")


def overlap(one: list[float], other: list[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_the_graph_goes_on_by_a_click_and_back_in_time_by_the_slider(seen: View) -> None:
    with seen.page("/graph/2?depth=1") as page:
        page.wait_for_selector(".plane path", state="attached")
        assert page.locator(".node").count() == 3
        page.locator("[name=at]").fill("0")
        expect(page.locator(".node")).to_have_count(1)
        page.locator("[name=at]").fill("100")
        expect(page.locator(".node")).to_have_count(3)
        page.click(".node[data-id='1']")
        page.wait_for_url("**/graph/1?depth=1")


def test_the_timeline_counts_what_happened_today(seen: View) -> None:
    with seen.page("/timeline") as page:
        figures = [int(text) for text in page.locator(".figure b").all_inner_texts()]
        assert figures[0] > 40
        assert figures[2:5] == [1, 1, figures[0] - 1]
        assert figures[5] > 0
        assert page.locator(".chart rect").count() >= 3
        assert page.locator("tbody tr:has-text('ledger') .number >> nth=0").inner_text() == str(
            figures[0] - 1
        )


def test_any_span_of_days_is_chosen_by_preset_or_by_date_and_stands_in_the_address(seen: View) -> None:
    with seen.page("/timeline?project=ledger") as page:
        for figure in ("tokens told", "tokens saved"):
            assert "(all projects)" in page.locator(f".figure:has-text('{figure}')").inner_text()
        stored = page.locator(".figure b >> nth=0")
        of_today = stored.inner_text()
        assert page.locator(".presets [aria-current]").inner_text() == "30 days"
        page.click(".presets >> text=all")
        page.wait_for_url("**/timeline?project=ledger&days=all")
        expect(stored).to_have_text(of_today)
        page.fill("[name=until]", "2026-01-02")
        page.fill("[name=since]", "2026-01-01")
        page.wait_for_url("**/timeline?project=ledger&since=2026-01-01&until=2026-01-02")
        expect(stored).to_have_text("0")
        page.wait_for_selector("[name=since]:focus")
        expect(page.locator(".axis").last).to_have_text("01-0101-02")
        expect(page.locator("h2:text('Questions without')")).to_have_count(0)
        page.goto(f"{seen.base}/timeline?since=2026-01-02&until=0002-01-01")
        assert page.input_value("[name=since]") == "1970-01-01"
        page.goto(f"{seen.base}/sessions?since=2026-01-01&until=2026-01-02")
        page.wait_for_selector(".none")
        page.click(".presets >> text=7 days")
        expect(page.locator("a.row")).to_have_count(1)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/timeline?days=abc", "`abc` is not a number. Write `days=30`, for example."),
        ("/timeline?since=soon", "`soon` is not a date. Write it as 2026-03-14"),
        ("/sessions?until=13/13/2026", "`13/13/2026` is not a date. Write it as 2026-03-14"),
        ("/?kind=poem", "`poem` is not one of memory, fact, turn, short_term, woken."),
        ("/now?tokens=many", "`many` is not a number. Write `tokens=500`, for example."),
    ],
)
def test_a_wrong_value_of_an_address_is_named_with_a_right_one_and_a_way_back(
    seen: View, path: str, why: str
) -> None:
    with seen.page(path) as page:
        assert why in page.locator("main").inner_text()
        page.click("a:text('Back')")
        page.wait_for_url(seen.base + path.partition("?")[0])
    seen.errors.clear()  # the console tells of the answer 400


def test_a_session_is_replayed_step_by_step(seen: View) -> None:
    with seen.page("/now") as page:
        page.click("a:text('Sessions')")
        page.click("a.row:has-text('s-1')")
        steps = page.locator(".step").all_inner_texts()
        assert [(ATTACK[:20] in step, "told by a hook" in step) for step in steps] == [(True, True)]
        assert page.locator(".step a").count() == 2
        assert page.locator(".figure:has-text('tokens told') b").inner_text() == "16"
        page.click(".step a[href='/memory/3']")
        page.wait_for_url("**/memory/3")


def test_a_chart_of_years_joins_days_and_shows_questions_without_an_answer(seen: View) -> None:
    with seen.page("/timeline?days=3650") as page:
        assert page.locator(".chart rect").count() <= 122 * 4
        assert " – " in page.locator(".chart title >> nth=0").text_content()
        assert (
            "Where do the <b>buoys</b> sleep?"
            in page.locator("section:has(h2:text('Questions without'))").inner_text()
        )


def test_health_shows_what_doctor_finds(seen: View) -> None:
    with seen.page("/doctor") as page:
        page.wait_for_selector("#checked .chip.good")
        assert str(seen.place) in page.locator("#checked").inner_text()


def test_health_and_a_copy_are_told_in_chinese(own: View) -> None:
    Path(f"{own.place}.before-version-7").write_bytes(b"")
    with own.page("/doctor", language="zh-CN") as page:
        page.wait_for_selector("#checked:not([aria-busy])")
        lines = page.locator("#checked dl").inner_text()
        assert "数据库结构" in lines
        assert "刚刚写入" in lines
        assert "schema" not in lines
