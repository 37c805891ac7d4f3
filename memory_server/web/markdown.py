"""Renders the Markdown of a stored text as HTML: nothing disappears but the marks, and HTML in the text stays text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
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
_LINE_END = re.compile(r"\r\n?|\n")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_BARE = re.compile(
    r"https?://[^\s<>\"'`|，。；、！？）】」》]*[^\s<>\"'`|，。；、！？）】」》.,;:!?)\]}]", re.IGNORECASE
)


def laid_out(text: str) -> Markup:
    """Return a text as HTML, all of it escaped but what its Markdown makes.

    Where Markdown would leave out something, such as a cell of a table that has no heading, that block stands as it is.
    """
    if len(text) > LONGEST:
        return _as_it_is(text)
    return Markup('<div class="markdown">{}</div>').format(Markup("").join(_blocks(text)))


def _blocks(text: str) -> Iterator[Markup]:
    """Yield the HTML of each block of a text."""
    environment: dict[str, int] = {}
    tokens, lines = _MARKDOWN.parse(text, environment), _LINE_END.split(text)
    starts = [place for place, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    for start, end in pairwise([*starts, len(tokens)]):
        html = _MARKDOWN.renderer.render(tokens[start:end], _MARKDOWN.options, environment)
        block = "\n".join(lines[_line(tokens, start) : _line(tokens, end)]).strip("\n")
        yield _as_it_is(block) if _loses(block, html) else Markup(html)  # noqa: S704 : of escaped text


def _line(tokens: Sequence[Token], place: int) -> int | None:
    """Return the line at which a block begins; None behind the last one."""
    return (tokens[place].map or [0])[0] if place < len(tokens) else None


def _as_it_is(text: str) -> Markup:
    return Markup("").join(Markup('<div class="piece">{}</div>').format(piece) for piece in _pieces(text))


def _loses(text: str, html: str) -> bool:
    """True if a reader of HTML does not see each letter and digit of a text."""
    return bool(_letters(text) - _shown(html))


def _letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, text))


def _shown(html: str) -> Counter[str]:
    """Count what a reader of HTML can see, with the addresses and the numbers that its tags have."""
    values = unescape(" ".join(_VALUES.findall(html)))
    return _letters(unescape(_TAG.sub("", html))) + (_letters(values) | _letters(unquote(values)))


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


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table, unless a cell of it has no heading: such a table stands there line by line."""
    before = len(state.tokens)
    if start < state.env.get("refused", 0) or not table(state, start, end, silent):
        return False
    if silent:
        return True
    cells = " ".join(token.content for token in state.tokens[before:])
    if not _letters(state.getLines(start, state.line, 0, False)) - _letters(cells):
        return True
    del state.tokens[before:]
    state.env["refused"] = state.line  # else each line of it is tried as the head of a table
    state.line = start
    return False


def _whole_lines(state: StateCore) -> None:
    """Let a line of text stand as it is where its marks would take a letter of it away."""
    for block in state.tokens:
        html = _MARKDOWN.renderer.render([block], _MARKDOWN.options, state.env) if block.children else ""
        if block.children and _loses(block.content, html):
            lines = block.content.split("\n")
            parts = [(Token("text", "", 0, content=line), Token("hardbreak", "br", 0)) for line in lines]
            block.children = [token for part in parts for token in part][:-1]


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
    parts = ["" if tokens[place + 1].content == address else address, tokens[place].attrGet("title")]
    says = " ".join(str(part) for part in parts if part)
    title = Markup(' title="{}"').format(says) if says else ""
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
    markdown.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    markdown.core.ruler.push("whole_lines", _whole_lines)
    markdown.core.ruler.push("bare_links", _bare_links)
    markdown.core.ruler.push("headings", _as_a_part_of_a_page)
    markdown.add_render_rule("link_open", lambda _, tokens, place, *__: _link(tokens, place))
    markdown.add_render_rule("fence", lambda _, tokens, place, *__: _fence(tokens, place))
    return markdown


_MARKDOWN = _markdown()
