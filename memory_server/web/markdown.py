"""Renders the Markdown of a stored text as HTML: nothing disappears but the marks, and HTML in the text stays text."""

import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.token import Token
from markupsafe import Markup

LONGEST = 20_000
"""Characters of a text that is rendered: a longer one stands as it is."""

LAID_OUT = 4_000
"""Characters that a browser lays out at once: 100,000 in one piece took it seconds, and most are not in view."""

LEFT_OUT = ("code", "lheading", "reference", "html_block", "escape", "entity", "html_inline", "image")
"""Rules that would take something of a text away that was not meant as a mark: the backslashes of a path, an indent, a
line that looks like a definition; and pictures, which would be loaded from elsewhere."""

_TAG = re.compile(r"<[^>]*>")
_VALUES = re.compile(r' (?:title|value)="([^"]*)"')
_WEB = re.compile(r"https?://", re.IGNORECASE)
_BARE = re.compile(
    r"https?://[^\s<>\"'`|，。；、！？）】」》]*[^\s<>\"'`|，。；、！？）】」》.,;:!?)\]}]", re.IGNORECASE
)


def laid_out(text: str) -> Markup:
    """Return a text as HTML, all of it escaped but what its Markdown makes.

    Where Markdown would leave out something, such as a cell of a table that has no heading, the text stands as it is.
    """
    if len(text) <= LONGEST:
        html = _MARKDOWN.render(text)
        if not _letters(text) - _letters(_shown(html)):
            return Markup('<div class="markdown">{}</div>').format(Markup(html))  # noqa: S704 : of escaped text
    return Markup("").join(Markup('<div class="piece">{}</div>').format(piece) for piece in _pieces(text))


def _letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, text))


def _shown(html: str) -> str:
    """Return what a reader of HTML can see, with the addresses and the numbers that its tags have."""
    values = unescape(" ".join(_VALUES.findall(html)))
    return unescape(_TAG.sub("", html)) + values + unquote(values)


def _pieces(text: str) -> list[str]:
    """Return a text in pieces of at most LAID_OUT characters, each cut behind a line, else where it stands."""
    parts = []
    while len(text) > LAID_OUT:
        end = text.rfind("\n", 0, LAID_OUT) + 1 or LAID_OUT
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text]


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Read `*` as emphasis, but neither `_`, so that `__init__` stays, nor a product such as `2*3*4`."""
    around = state.src[max(0, state.pos - 1) : state.pos + 2]
    is_product = len(around) == 3 and around.isascii() and around[0].isalnum() and around[2].isalnum()
    return state.src[state.pos] == "*" and not is_product and emphasis.tokenize(state, silent)


def _bare_links(state: StateCore) -> None:
    """Make links of addresses that stand in a text."""
    for block in state.tokens:
        children: list[Token] = []
        inside = 0
        for token in block.children or ():
            inside += token.nesting if token.type in ("link_open", "link_close") else 0
            children += _linked(token) if token.type == "text" and not inside else [token]
        if block.children:
            block.children = children


def _linked(token: Token) -> list[Token]:
    tokens: list[Token] = []
    place = 0
    for match in _BARE.finditer(token.content):
        tokens += [
            Token("text", "", 0, content=token.content[place : match.start()]),
            Token("link_open", "a", 1, attrs={"href": match[0]}),
            Token("text", "", 0, content=match[0]),
            Token("link_close", "a", -1),
        ]
        place = match.end()
    return [*tokens, Token("text", "", 0, content=token.content[place:])] if tokens else [token]


def _link(tokens: Sequence[Token], place: int) -> str:
    address = tokens[place].attrGet("href")
    is_shown = tokens[place + 1].content == address
    title = "" if is_shown else Markup(' title="{}"').format(address)
    return Markup('<a href="{}"{} rel="noopener noreferrer nofollow" target="_blank">').format(address, title)


def _fence(tokens: Sequence[Token], place: int) -> str:
    """Return a block of code below what its fence says of it."""
    says = tokens[place].info.strip()
    info = Markup('<span class="quiet">{}</span>\n').format(says) if says else ""
    return Markup("<pre>{}<code>{}</code></pre>\n").format(info, tokens[place].content)


def _as_a_part_of_a_page(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.type == "list_item_open" and token.info:
            token.attrSet("value", token.info)  # else a list would be counted anew


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """True if an address may become a link."""
        return _WEB.match(url) is not None


def _markdown() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"]).disable(LEFT_OUT)
    markdown.inline.ruler.at("emphasis", _emphasis)
    markdown.core.ruler.push("bare_links", _bare_links)
    markdown.core.ruler.push("headings", _as_a_part_of_a_page)
    markdown.add_render_rule("link_open", lambda _, tokens, place, *__: _link(tokens, place))
    markdown.add_render_rule("fence", lambda _, tokens, place, *__: _fence(tokens, place))
    return markdown


_MARKDOWN = _markdown()
