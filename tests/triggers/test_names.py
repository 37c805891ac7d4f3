"""The light reading of JavaScript: names that are mentioned and not declared, regular expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.triggers.javascript import names
from memory_server.triggers.javascript.names import position
from memory_server.triggers.reading import MOST_CHARACTERS, MOST_TOKENS, SourceReading
from tests.triggers.hostile import HOSTILE


def undeclared(source: str) -> dict[str, int]:
    return names.undeclared(SourceReading.of(source))


def regexes(source: str) -> list[tuple[str, int]]:
    return [(token.text, token.at) for token in SourceReading.of(source).tokens if token.kind == "regex"]


@pytest.mark.parametrize(
    ("source", "mentioned"),
    [
        ("a && b || !c", "a b c"),
        ("a ? b : c", "a b c"),
        ("a ? b.c : d[e]", "a b d e"),
        ("a.b.c?.d(e)", "a e"),
        ("f(...a)", "f a"),
        ("'a' + \"b\" + `c ${d + `${e}`} f` + g", "d e g"),
        ("// a\n/* b */ c", "c"),
        ("/a/.test(b) / c / d", "b c d"),
        ("x / a / y", "x a y"),
        ("[/a[/]b/g, 1 / c]", "c"),
        ("({ a: b, c, 'd': e, f() { return g } })", "b c e g"),
        ("const a = b, { c, d: [e], ...f } = g; a + c + e + f + h", "b g h"),
        ("let a; var b = 1; for (const c of d) c + a + b", "d"),
        ("for (let i = 0; i < n; i++) i", "n"),
        ("function f(a, { b }) { return a + b + c } f()", "c"),
        ("messages.some(m => m.x === y)", "messages y"),
        ("messages.some((m, i) => m.x === i + y)", "messages y"),
        ("messages.some(({ role, content }) => role + content)", "messages"),
        ("(async x => await x)", ""),
        ("x = 1; x + y", "y"),
        ("x == y", "x y"),
        ("if (a) { b } else c", "a b c"),
        ("while (a) { b }", "a b"),
        ("try { a } catch (e) { e } finally { b }", "a b"),
        ("try { a } catch { b }", "a b"),
        ("outer: for (;;) { break outer }", ""),
        ("switch (a) { case b: c; default: d }", "a b c d"),
        ("class A extends B { #p = 1; m(x) { return this.#p + x + y } } new A()", "B y"),
        ("typeof a === 'undefined' || b", "b"),
        ("1e5 + 0x1f + 1_000n + .5 + a", "a"),
        ("a?.5:b", "a b"),
        ("生日 + é + $", "生日 é $"),
        ("new Date() instanceof Date", "Date"),
    ],
)
def test_names_that_are_not_declared(source: str, mentioned: str) -> None:
    assert sorted(undeclared(source)) == sorted(mentioned.split())


def test_a_name_is_found_where_it_is_first_mentioned() -> None:
    source = "true &&\r\n  (nobody || nobody)"
    assert [position(source, at) for at in undeclared(source).values()] == ["line 2, column 4"]


def test_regular_expressions_are_told_from_quotients() -> None:
    source = "a / b / c + /x[/]\\/y/gi.test('/z/') ? [/q/] : (/r/)"
    assert regexes(source) == [("/x[/]\\/y/gi", 12), ("/q/", 39), ("/r/", 47)]


@given(st.text(alphabet="ab'\"`${}()[]/\\=>:;,.? \n0", max_size=60))
def test_any_text_can_be_read(source: str) -> None:
    assert set(undeclared(source)) <= {"a", "b", "$"} | {
        name for name in undeclared(source) if set(name) <= set("ab0$")
    }
    assert all(source.startswith(regex, at) for regex, at in regexes(source))


@pytest.mark.parametrize("category", HOSTILE)
def test_hostile_sources_can_be_read(category: str) -> None:
    for source in HOSTILE[category]:
        for length in (len(source), MOST_CHARACTERS, MOST_TOKENS):
            undeclared(source[:length])
            regexes(source[:length])
