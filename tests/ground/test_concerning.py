"""Whether a note is about a file that is touched."""

import pytest

from memory_server.ground import About, Anchor, Touched, about

ORDERS = Touched("src/api/orders.py", "total = round_money(price)")


@pytest.mark.parametrize(
    ("note", "kind"),
    [
        ("Never log customers in `src/api/orders.py`", About.FILE),
        ("In api/orders.py the totals are in cents", About.FILE),
        ("orders.py must stay free of imports from the shop", About.FILE),
        ("In shop/orders.py the totals are in cents", About.NOTHING),
        ("orders.pyx is generated", About.NOTHING),
        ("orders are paid at once", About.NOTHING),
        ("All handlers under src/api/ return problem+json", About.FOLDER),
        ("Handlers in `api/` return problem+json", About.FOLDER),
        ("files under src/api never import the shop", About.FOLDER),
        ("The `api` folder is frozen", About.FOLDER),
        ("The src/ folder of a package", About.FOLDER),
        ("Everything under lib/api/ is generated", About.NOTHING),
        ("read/write access, and/or both", About.NOTHING),
        ("`*.py` files have a header", About.FOLDER),
        ("src/**/*.py has types", About.FOLDER),
        ("*.{py,pyi} has types", About.FOLDER),
        ("Every .py file has a header", About.FOLDER),
        ("*_test.py files are slow", About.NOTHING),
        ("*important*: **bold.** text", About.NOTHING),
        ("`round_money` is called once", About.NOTHING),
    ],
)
def test_a_note_is_about_what_it_names(note: str, kind: About) -> None:
    assert about(note, ORDERS) is kind


def test_of_several_files_of_a_name_a_note_means_the_one_that_it_was_seen_to_mean() -> None:
    note, elsewhere = "Never import models in `__init__.py`", Touched("a/__init__.py", is_alone=False)
    anchor = Anchor("", "a/__init__.py", 0, (), "", "", "")
    assert about(note, elsewhere) is About.NOTHING
    assert about(note, elsewhere, [anchor]) is About.FILE
    assert about(note, Touched("b/__init__.py", is_alone=False), [anchor]) is About.NOTHING


def test_a_name_counts_where_it_was_seen_to_be_of_this_tree_and_is_in_the_edit() -> None:
    anchor = Anchor("round_money", "src/money.py", 3, (), "", "", "")
    note = "`round_money` is called once"
    assert about(note, ORDERS, [anchor]) is About.NAME
    assert about(note, Touched("src/api/orders.py", "total = price"), [anchor]) is About.NOTHING
