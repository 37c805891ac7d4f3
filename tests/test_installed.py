"""The built wheel, installed alone: everything it needs is inside, and it serves."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel; what it depends on comes from the tests' own environment.

    A path in a `.pth` file is searched for packages, but its own `.pth` files are not read: the
    editable installation that the tests run from is out of sight.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
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
