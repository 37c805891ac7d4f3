"""Anchors of notes: what becomes one, and what does not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_server.ground import Anchor
from memory_server.ground.mentions import mentions
from tests.ground.conftest import Repository

FILES = {
    "config.py": 'HOST = "db.local"\nPORT = 5433\nTIMEOUT_MS = 30_000\nMODE = "fast"\nmax_retries = 7  # all\n',
    "package.json": '{\n  "engines": {"node": ">=22.1.0"},\n  "dependencies": {"react": "^18.2.0"}\n}\n',
    "src/shop.ts": "export class Shop {\n  sellAll(): void {}\n  run('--no-cache', '--no-cache-dir')\n}\n",
    "src/app/main.rs": "fn load_page() {}\nfn main() { load_page(); ignore::Walk::new(); }\n",
    "LICENSE": "MIT\n",
    "Dockerfile": "FROM node:22-alpine\nEXPOSE 8080\n",
}


@pytest.fixture
def shop(repository: Repository) -> Repository:
    repository.commit(FILES)
    return repository


def named(anchors: Sequence[Anchor]) -> list[str]:
    """Return each anchor as `path name=value`."""
    return [f"{a.path} {a.name}={a.value}".removesuffix("=").strip() for a in anchors]


@pytest.mark.parametrize(
    ("note", "anchors"),
    [
        ("port is 5433; it is set in config.py line 1", ["config.py PORT=5433"]),
        ("The port (5433) is in `config.py:2`.", ["config.py PORT=5433"]),
        ("PORT=5433", ["config.py PORT=5433"]),
        ("端口是 5433。", ["config.py PORT=5433"]),
        ("在config.py中把端口设置为5433", ["config.py PORT=5433"]),
        ("超时30秒", ["config.py TIMEOUT_MS=30000"]),
        ("We have a timeout of 30 s.", ["config.py TIMEOUT_MS=30000"]),
        ("a 30-second timeout", ["config.py TIMEOUT_MS=30000"]),
        ("the timeout is 30,000 ms", ["config.py TIMEOUT_MS=30000"]),
        ('The mode is "fast" in config.py', ["config.py MODE=fast"]),
        ("host “db.local”", ["config.py HOST=db.local"]),
        ("react 18.2 is used", ["package.json react=18.2"]),
        ("Node 22, see package.json", ["package.json node=22"]),
        ("Node 22, see the Dockerfile", ["Dockerfile node=22"]),
        ("it exposes port 8080", ["Dockerfile EXPOSE=8080"]),
        ("it listens to port 8081", []),
        ("max_retries is 7 in config.py", ["config.py max_retries=7"]),
    ],
)
def test_a_value_is_observed_beside_its_name(shop: Repository, note: str, anchors: list[str]) -> None:
    assert named(shop.observe(note)) == anchors


@pytest.mark.parametrize(
    ("note", "anchors"),
    [
        ("`load_page` is slow", ["src/app/main.rs load_page"]),
        ("load_page() is slow", ["src/app/main.rs load_page"]),
        ("load_page的速度很慢", ["src/app/main.rs load_page"]),
        ("Shop.sellAll is slow", ["src/shop.ts sellAll"]),
        ("sellAll is slow", ["src/shop.ts sellAll"]),
        ("ignore::Walk is slow", ["src/app/main.rs ignore::Walk"]),
        ("use --no-cache", ["src/shop.ts --no-cache"]),
        ("TIMEOUT_MS is odd", ["config.py TIMEOUT_MS"]),
        ("Other.sellAll is slow", []),
        ("the shop and the page load with this mode", []),
        ("we use GitHub and PostgreSQL", []),
        ("the license is free", []),
    ],
)
def test_a_name_is_observed_in_the_file_that_holds_it(
    shop: Repository, note: str, anchors: list[str]
) -> None:
    assert named(shop.observe(note)) == anchors


@pytest.mark.parametrize(
    "note",
    [
        "see src/app/main.rs",
        "see `src/app/main.rs:2`.",
        r"see src\app\main.rs",
        "see ./src/app/main.rs, line 2",
        "see app/main.rs#L2-L3",
        "see SRC/App/Main.rs",
        "见src/app/main.rs。",
        "see https://github.com/acme/shop/blob/main/src/app/main.rs#L2",
        r"see C:\work\shop\src\app\main.rs",
        "see /other/machine/shop/src/app/main.rs",
    ],
)
def test_a_path_is_found_however_it_is_written(shop: Repository, note: str) -> None:
    shop.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    assert named(shop.observe(note)) == ["src/app/main.rs"]


def test_an_absolute_path_counts_inside_of_the_tree_alone(shop: Repository, tmp_path: Path) -> None:
    (tmp_path / "alone.toml").touch()
    assert named(shop.observe(f"see {shop.root}/src/shop.ts")) == ["src/shop.ts"]
    assert shop.observe(f"see {tmp_path}/alone.toml") == ()
    assert shop.observe("see ../alone.toml") == ()


def test_a_url_of_another_repository_names_nothing(shop: Repository) -> None:
    shop.git("remote", "add", "origin", "https://github.com/acme/shop")
    assert shop.observe("see https://github.com/acme/shop-two/blob/main/src/shop.ts") == ()
    assert shop.observe("see https://example.com/load_page/PORT_5433") == ()


def test_a_name_that_stands_everywhere_anchors_nothing(shop: Repository) -> None:
    shop.commit({"many.py": "use_it()\n" * 12, **{f"f{n}.py": "call_it()\n" for n in range(3)}})
    assert named(shop.observe("use_it")) == ["many.py use_it"]
    assert named(shop.observe("call_it")) == [f"f{n}.py call_it" for n in range(3)]
    shop.commit({"many.py": "use_it()\n" * 13, "f3.py": "call_it()\n"})
    assert shop.observe("use_it and call_it") == ()
    assert named(shop.observe("use_it and call_it in f3.py")) == ["f3.py call_it"]


@pytest.mark.parametrize(
    "line",
    [
        "def draw_it(a):",
        "    async def draw_it(a):",
        "export const draw_it = 3",
        "func (p *Page) draw_it() {",
        "draw_it = Page()",
        "draw_it: int = 3",
        "static int draw_it(void)",
        "#define draw_it 3",
        "pub fn draw_it<T>() {",
    ],
)
def test_a_name_is_observed_where_it_is_defined(shop: Repository, line: str) -> None:
    shop.commit(
        {"a.py": "if x == draw_it(1):\n    return draw_it(2)\n", "b.py": f"{line}\n", "c.py": "p.draw_it()\n"}
    )
    assert named(shop.observe("draw_it is slow")) == ["b.py draw_it"]


def test_files_that_the_session_has_read_come_before_the_others(shop: Repository) -> None:
    shop.commit({f"f{n}.py": "call_it()\nversion = '3.2.1'\n" for n in range(5)})
    assert shop.observe("call_it and 3.2.1") == ()
    assert named(shop.observe("call_it and 3.2.1", "f4.py")) == ["f4.py call_it", "f4.py version=3.2.1"]
    assert named(shop.observe("call_it", str(shop.root / "f4.py"))) == ["f4.py call_it"]


def test_a_note_has_eight_anchors_at_most(shop: Repository) -> None:
    shop.commit({"n.py": "".join(f"name_{n} = {n}\n" for n in range(20))})
    assert len(shop.observe(" ".join(f"name_{n}" for n in range(20)))) == 8


def test_an_anchor_says_where_it_was_observed(shop: Repository) -> None:
    (anchor,) = shop.observe("port 5433 in config.py")
    assert (anchor.line, len(anchor.digests), anchor.branch) == (2, 1, "main")
    assert anchor.commit == shop.git("rev-parse", "HEAD")[:12]
    assert {len(digest) for digest in anchor.digests} == {16}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "`",
        "``` ```",
        "....",
        "::",
        "(((",
        "/",
        "\\",
        "a" * 100_000,
        "`" * 9_999,
        "5 " * 9_999,
        '"x ' * 7_000,
        "x 5 " * 5_000,
        "\0 \ud800",
    ],
)
def test_no_text_is_too_odd(shop: Repository, text: str) -> None:
    assert shop.observe(text) == ()
    mentions(text * 2, "https://example.com/a/b")
