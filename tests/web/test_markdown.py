"""Markdown becomes HTML, and nothing else of a stored text does; no word of it is lost."""

import re
from collections import Counter
from html import unescape
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.web.markdown import laid_out

LINK = 'rel="noopener noreferrer nofollow" target="_blank">'


def inside(text: str) -> str:
    return laid_out(text).removeprefix('<div class="markdown">').removesuffix("</div>").strip()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Why\n\n- a\n- **b**", "<h2>Why</h2>\n<ul>\n<li>a</li>\n<li><strong>b</strong></li>\n</ul>"),
        ("1. a\n3. c", '<ol>\n<li value="1">a</li>\n<li value="3">c</li>\n</ol>'),
        ("one\ntwo", "<p>one<br />\ntwo</p>"),
        ("这是**重点**。", "<p>这是<strong>重点</strong>。</p>"),
        ("`a<b`", "<p><code>a&lt;b</code></p>"),
        ("```sh\nrm <x>\n```", '<pre><span class="quiet">sh</span>\n<code>rm &lt;x&gt;\n</code></pre>'),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("edit __init__.py and C:\\_tmp\\*x", "<p>edit __init__.py and C:\\_tmp\\*x</p>"),
        ("2*3*4 &amp; 5", "<p>2*3*4 &amp;amp; 5</p>"),
        ("[x]: is a box", "<p>[x]: is a box</p>"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"),
        ("[a](//evil.example)", "<p>[a](//evil.example)</p>"),
        ("see http://a.example/b_c.", f'<p>see <a href="http://a.example/b_c" {LINK}'
                                      "http://a.example/b_c</a>.</p>"),
        ('[a](https://b.example/"x)', f'<p><a href="https://b.example/%22x" title="https://b.example/%22x" {LINK}'
                                      "a</a></p>"),
        ("![i](https://b.example/i.png)", '<p>!<a href="https://b.example/i.png" title="https://b.example/i.png" '
                                          f"{LINK}i</a></p>"),
    ],
)  # fmt: skip
def test_marks_become_html_and_all_else_is_escaped(text: str, html: str) -> None:
    assert inside(text) == html


@pytest.mark.parametrize(
    ("awkward", "html"),
    [
        ("|a|\n|-|\n|`b|c`|", "<p>|a|<br />\n|-|<br />\n|<code>b|c</code>|</p>"),
        ("**x** [a](http://例子.example/)",
         f'<p>**x** [a](<a href="http://例子.example/" {LINK}http://例子.example/</a>)</p>'),
        ("> |a|\n> |-|\n> |b|c|", "<blockquote>\n<p>|a|<br />\n|-|<br />\n|b|c|</p>\n</blockquote>"),
    ],
)  # fmt: skip
def test_a_block_that_would_lose_a_word_stands_as_it_is_and_those_around_it_are_rendered(
    awkward: str, html: str
) -> None:
    assert inside(f"# Why\n\n{awkward}\n\n**end**") == f"<h2>Why</h2>\n{html}\n<p><strong>end</strong></p>"


def test_the_title_of_a_link_is_shown_behind_its_address() -> None:
    link = f'<a href="https://b.example/" title="https://b.example/ the plan" {LINK}a</a>'
    assert inside('[a](https://b.example/ "the plan")') == f"<p>{link}</p>"


def test_a_long_text_and_a_deep_list_stand_as_they_are() -> None:
    assert laid_out("# a\n" * 6_000).count('<div class="piece">') == 6
    deep = "\n".join(" " * 2 * depth + f"- x{depth}" for depth in range(60))
    assert inside(f"# Why\n\n{deep}") == f'<h2>Why</h2>\n<div class="piece">{deep}</div>'
    assert laid_out("") == '<div class="markdown"></div>'


MARKS = st.sampled_from([
    "# ", "- ", "1. ", "> ", "**", "*", "`", "```\n", "``` ", "_", "|", "|-|\n", "|a|\n|-|\n|", "[", "](", ")", "!",
    "<", ">", "\n", "  ", "    ", "\\", "&lt;", "~~", "---\n", "===\n", "http://", "[x]: ", '"', "<b>", "<!-- ", "é",
])  # fmt: skip
WORDS = re.compile(r"word\d+|港口")


@given(st.lists(st.one_of(MARKS, st.sampled_from([" word1 ", "word2", "港口", "word3\n"])), max_size=40))
def test_no_word_is_lost_and_no_tag_is_foreign(parts: list[str]) -> None:
    text = "".join(parts)
    html = laid_out(text)
    links = re.findall(r'href="([^"]*)"', html)
    shown = unescape(re.sub(r"<[^>]*>", "", html))
    titles = re.findall(r'title="([^"]*)"', html)
    assert not Counter(WORDS.findall(text)) - Counter(WORDS.findall(f"{shown} {unquote(' '.join(titles))}"))
    assert all(link.startswith("http://") for link in links)
    assert set(re.findall(r"</?([a-z0-9]+)", html)) <= set(
        "div span h2 h3 h4 p ul ol li strong em code pre blockquote hr br table thead tbody tr th td a s".split()
    )
