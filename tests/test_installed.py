"""The built wheel, installed alone: everything it needs is inside, and it serves."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from packaging.requirements import Requirement

from memory_server import __version__
from tests.conftest import ROOT, call

pytestmark = pytest.mark.anyio


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    isolation = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    run(sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


def wanted(texts: Iterable[str], extras: Iterable[str] = ()) -> list[Requirement]:
    """Those of the requirements that hold on this machine, and with these extras."""
    parts = map(Requirement, texts)
    return [
        part
        for part in parts
        if part.marker is None or any(part.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def needed_by(wheel: Path) -> set[str]:
    """The distributions that a wheel needs without any of its extras, and those that these need."""
    info = zipfile.Path(wheel, f"memory_server-{__version__}.dist-info/")
    needed, new = dict[str, str](), wanted(metadata.PathDistribution(info).requires or ())
    while new:
        part = new.pop()
        if str(part) not in needed:
            needed[str(part)] = part.name
            new += wanted(metadata.requires(part.name) or (), part.extras)
    return set(needed.values())


def top_level(name: str) -> set[Path]:
    """The modules and folders of a distribution among the packages."""
    files = metadata.files(name) or []
    parts = {file.parts[0] for file in files} - {"..", "__pycache__"}
    return {Path(str(metadata.distribution(name).locate_file(part))) for part in parts}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel and what it depends on, and nothing else: no extra.

    The dependencies come from the tests' own environment, as links.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for entry in {entry for name in needed_by(wheel) for entry in top_level(name)}:
        (packages / entry.name).symlink_to(entry)
    scripts = Path(sysconfig.get_path("scripts", vars={"base": str(folder)}))
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        scripts / "python",
        "install",
        "--no-deps",
        "--no-index",
        wheel,
    )
    return scripts


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    migrations = {f"memory_server/migrations/{path.name}" for path in (ROOT / "migrations").glob("*.sql")}
    assert migrations
    wanted = {
        *migrations,
        "memory_server/embedding/e5_small/model.onnx",
        "memory_server/embedding/e5_small/tokenizer.json",
        "memory_server/embedding/e5_small/NOTICE.md",
        "memory_server/demo/worklog.jsonl",
        "memory_server/domain/confidence.json",
        "memory_server/language/background.json",
    }
    assert wanted - names == set()
    assert {name.partition("/")[0] for name in names} == {
        "memory_server",
        f"memory_server-{__version__}.dist-info",
    }
    assert [name for name in names if name.endswith(".pyc") or "__pycache__" in name] == []


def test_the_wheel_states_its_licences_and_its_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"memory_server-{__version__}.dist-info"
    metadata = archive.read(f"{info}/METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert "memory-server = memory_server.__main__:main" in archive.read(f"{info}/entry_points.txt").decode()
    assert f"{info}/licenses/LICENSE" in archive.namelist()


def test_the_installed_package_is_the_wheels_own(installed: Path) -> None:
    code = "import memory_server, sys; print(memory_server.__file__)"
    assert run(installed / "python", "-I", "-c", code).startswith(str(installed.parent))


async def test_the_installed_command_stores_and_finds_by_meaning(
    installed: Path, tmp_path: Path, user_folders: dict[str, str]
) -> None:
    parameters = StdioServerParameters(
        command=str(installed / "memory-server"),
        args=["--db", str(tmp_path / "memory.db")],
        env={**user_folders, "PATH": os.environ["PATH"]},
        cwd=tmp_path,
    )
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(parameters, errlog=errors), read_timeout_seconds=60) as client:
            stored = await call(client, "memory_store", content="The standup moved to ten", type="decision")
            found = await call(client, "memory_search", query="晨会几点开始")
    assert [hit["id"] for hit in found["results"]] == [stored["id"]]
    assert found["embedder"].startswith("bundled:")
    assert log.read_text(encoding="utf-8") == ""


OF_EXTRAS = ("jinja2", "psycopg", "sentence_transformers")


def test_a_bare_installation_has_no_extra(installed: Path) -> None:
    code = f"import importlib.util as u; print([name for name in {OF_EXTRAS!r} if u.find_spec(name)])"
    assert run(installed / "python", "-I", "-c", code) == "[]\n"


def refused(installed: Path, folder: Path, env: dict[str, str], *words: str) -> str:
    """What a command says that needs an extra."""
    done = subprocess.run(
        [str(installed / "memory-server"), *words, "--embedder", "hashing"],
        env={"MEMORY_SERVER_DB": str(folder / "m.db"), **env, "PATH": os.environ["PATH"]},
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done
    return done.stderr


@pytest.mark.parametrize(
    ("words", "missing", "extra"),
    [
        (("view", "--port", "0"), "A look at the memory in a browser needs jinja2", "view"),
        (("serve", "--http", "0"), "Serving over HTTP needs jinja2", "http"),
        (("stats", "--db", "postgresql://a@localhost/b"), "needs psycopg", "postgres"),
    ],
)
def test_a_part_that_is_not_installed_says_which_line_installs_it(
    installed: Path, tmp_path: Path, user_folders: dict[str, str], words: list[str], missing: str, extra: str
) -> None:
    said = refused(installed, tmp_path, user_folders, *words)
    assert missing in said
    assert "Install it with: uv pip install --python " in said  # there is no pip in it
    assert f"'memory-server[{extra}] @ file://" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("receipt", "command"),
    [("pipx_metadata.json", "pipx install --force "), ("uv-receipt.toml", "uv tool install --force ")],
)
def test_that_line_is_for_the_installer_that_was_used(
    installed: Path, tmp_path: Path, user_folders: dict[str, str], receipt: str, command: str
) -> None:
    (installed.parent / receipt).touch()
    said = refused(installed, tmp_path, user_folders, "view")
    (installed.parent / receipt).unlink()
    assert f"Install it with: {command}'memory-server[view] @ file://" in said
