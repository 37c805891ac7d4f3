"""The parts of quickjs-ng that its documentation does not promise are as they were when they were checked."""

import importlib
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from memory_server.triggers.javascript import compat, worker

CHECKED = "0.17.0.2"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [*sys.path, compat.engine_folder()])
    return importlib.import_module(compat.ENGINE)


def test_quickjs_is_the_version_that_was_checked() -> None:
    assert version("quickjs-ng") == CHECKED


def test_the_extension_module_is_found_in_its_folder(engine: Any) -> None:
    assert Path(engine.__file__).parent == Path(compat.engine_folder())


def test_the_worker_loads_the_same_extension_module(engine: Any) -> None:
    assert worker._engine(compat.engine_folder()) == (engine, "")


def test_the_engine_has_what_the_worker_uses(engine: Any) -> None:
    context = engine.Context()
    context.set_memory_limit(worker.HEAP)
    context.set_time_limit(1.0)
    assert context.eval("n => n + 1")(1) == 2
    with pytest.raises(engine.StackOverflow):
        context.eval("(function again() { again() })()")
    with pytest.raises(engine.JSException, match="ReferenceError: nobody is not defined"):
        context.eval("nobody")


def test_the_engine_names_a_lack_of_time_and_of_memory_as_the_worker_expects(engine: Any) -> None:
    hurried = engine.Context()
    hurried.set_time_limit(0.01)
    with pytest.raises(engine.JSException, match=r"^InternalError: interrupted"):
        hurried.eval("for (;;);")
    small = engine.Context()
    small.set_memory_limit(1_000_000)
    with pytest.raises(engine.JSException, match=r"^(null|InternalError: out of memory)"):
        small.eval("'x'.repeat(2 ** 24)")


def test_the_position_of_an_error_is_read_from_its_stack(engine: Any) -> None:
    stack = engine.Context().eval(
        "const run = eval; try { run('true;\\n  nobody') } catch (error) { error.stack }"
    )
    assert compat.position(stack) == (2, 3)


def test_an_error_inside_a_function_of_the_prelude_has_the_position_of_its_caller() -> None:
    stack = " at match_keys (<input>:200:7)\n at <eval> (<input>:3:5)\n at eval (native)\n at x (<input>:9:9)"
    assert compat.position(stack) == (3, 5)
    assert compat.position("    at native") is None
