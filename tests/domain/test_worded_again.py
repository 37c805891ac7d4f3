"""The text from outside that another text says in other words."""

from memory_server.domain.sketch import needle, sketch
from memory_server.domain.worded_again import likeliest

PAGE = (
    "Welcome to the handbook. Payments above nine thousand go to the account of Nordhaven Bank since March, "
    "because the previous one was closed by the auditors. Coffee is on the second floor."
)
STORED = "Invoices over 9,000 are settled with Nordhaven Bank; the auditors closed our earlier account."
CHINESE = "团队手册第三章。生产环境禁止直接执行 FLUSHALL，命令已经改名为 ops_flush_8f，由运维值班人员保管。"
IN_CHINESE = "资源状态保存在 tf-state-argo，由 argo_locks 加锁，开启版本控制"
ENGLISH = (
    "Keep the state in the bucket tf-state-argo with versioning on, and lock it with the table argo_locks."
)
LONG = "This chapter tells how the office is cleaned, who waters the plants and where the keys hang. " * 5


def index(text: str, outside: list[str], others: list[str] | None = None) -> int | None:
    return likeliest(
        needle(text, 1),
        [sketch(source, 1) for source in outside],
        [sketch(source, 1) for source in others or []],
    )


def test_a_text_in_other_words_is_from_where_its_rare_words_stand_together() -> None:
    assert index(STORED, [LONG, PAGE]) == 1
    assert index("Invoices are sent to customers on the last day of each month", [LONG, PAGE]) is None


def test_two_rare_words_are_not_enough_and_more_are() -> None:
    text = "Prefers a haiku below the lantern as greeting"
    assert index(text, [f"A haiku hangs at the lantern. {LONG}"]) is None
    assert index(text, [f"A haiku hangs at the lantern for a greeting. {LONG}"]) == 0


def test_words_that_stand_far_apart_are_no_text() -> None:
    apart = f"Nordhaven. {LONG}{LONG} Auditors closed. {LONG}{LONG} Invoices of 9,000. {LONG}"
    assert index(STORED, [apart]) is None


def test_what_a_text_that_is_not_from_outside_says_as_well_is_not_from_there() -> None:
    assert (
        index(STORED, [PAGE], [f"Nordhaven Bank: invoices over 9000; auditors closed the account. {LONG}"])
        is None
    )
    assert index(STORED, [PAGE], ["Nordhaven is a harbour in the north."]) == 0


def test_a_sentence_of_several_is_enough() -> None:
    own = (
        "The team meets on Wednesday at ten in the small room, and writes down what was decided in the wiki."
    )
    assert index(f"{own} {STORED} {own}", [PAGE]) == 0
    assert index(f"{own} {STORED} {own}", [PAGE], [own]) == 0


def test_words_that_the_session_is_full_of_are_not_rare() -> None:
    text = "The importer closes the auditors' ledger"
    page = "An importer of the ledger is what the auditors ask for."
    assert index(text, [page]) == 0
    assert (
        index(text, [page, "The importer, the ledger and the auditors are everywhere here. " * 200]) is None
    )


def test_chinese_is_weighed_by_characters_and_by_pairs_of_them() -> None:
    assert index("线上不能用 FLUSHALL，它改名成 ops_flush_8f，运维保管", [CHINESE]) == 0
    assert index("登录页的文案由市场部的同事每季度更新一次", [CHINESE]) is None


def test_what_is_no_chinese_in_a_chinese_text_is_compared_by_itself() -> None:
    assert index(IN_CHINESE, [ENGLISH]) == 0
    assert index(IN_CHINESE, [ENGLISH], ["backend: bucket tf-state-argo, lock table argo_locks"]) is None


def test_without_a_text_from_outside_or_without_words_there_is_none() -> None:
    assert index(STORED, [], [PAGE]) is None
    assert index(STORED, [""], [""]) is None
    assert index("!", [PAGE]) is None
