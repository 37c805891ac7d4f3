"""The gist of an error, and what ended it."""

import pytest

from memory_server.domain.mending import OpenError, Remedy, gist, line_of, remedy_of, seems_failed

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/main.py", line 12, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""


@pytest.mark.parametrize(
    ("output", "essence"),
    [
        (TRACEBACK, "ModuleNotFoundError: No module named 'yaml'"),
        ("/tmp/a1/b.c:12:5: error: expected ';' before '}' token\n", "b.c:#:#: error: expected ';' before '}' token"),
        ("make: *** No rule to make target 'x'.  Stop.\nmake: *** [Makefile:3: all] Error 1\n",
         "make: *** No rule to make target 'x'. Stop."),
        ("To /srv/a.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'x'\n",
         "! [rejected] main -> main (fetch first)"),
        ("E   assert 3 == 4\n1 failed in 0.03s\n", "assert # == #"),
        ("\x1b[31mbash: line 3: foo: command not found\x1b[0m\n", "bash: line #: foo: command not found"),
        ("2026-11-20T10:00:01Z connection to 0x7ffe12 refused\n", "connection to # refused"),
        ("Exit code 1\n", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_gist_of_an_error_is_the_same_the_next_time(output: str, essence: str) -> None:
    assert gist(output) == essence


def test_a_line_does_another_one_in_another_way_and_not_another_thing() -> None:
    failed = line_of("pytest tests/api")
    assert line_of("cd x && PYTHONPATH=. pytest -q tests/api 2>&1 | tail").does(failed)
    assert line_of("pip install x && pytest tests/api").does(failed)
    assert line_of("python3 a.py").does(line_of("python a.py"))
    assert line_of("npm test").does(line_of("npm test"))
    assert not line_of("pytest tests/web").does(failed)
    assert not line_of("pytest tests/web").does(line_of("pytest"))
    assert not line_of("ls tests/api").does(failed)
    assert not line_of("make clean").does(line_of("make"))


def test_what_was_done_ended_it_and_many_steps_are_those_that_name_what_the_error_names() -> None:
    error = OpenError(line_of("pytest -q"), "No module named 'yaml'", ["edited a.py", "pip install pyyaml"])
    assert error.remedy(line_of("pytest -q")) == Remedy(
        "pytest", "No module named 'yaml'", "pytest -q", ("edited a.py", "pip install pyyaml")
    )
    many = OpenError(error.line, error.error, ["make a", "make b", "pip install pyyaml", "edited a.py"])
    remedy = many.remedy(line_of("pytest -q"))
    assert remedy is not None
    assert remedy.steps == ("pip install pyyaml",)


def test_another_way_to_run_it_is_what_ended_it_and_a_pipe_is_no_other_way() -> None:
    error = OpenError(line_of("pytest tests"), "No module named 'app'")
    remedy = error.remedy(line_of("PYTHONPATH=. pytest tests"))
    assert remedy is not None
    assert remedy.steps == ("PYTHONPATH=. pytest tests",)
    assert error.remedy(line_of("pytest tests | tail -3")) is None


def test_a_mend_is_read_from_the_metadata_that_it_writes() -> None:
    remedy = Remedy("pytest", "No module", "pytest -q", ("pip install x", "edited a.py"))
    assert remedy_of(remedy.metadata) == remedy
    assert remedy_of({}) is None
    assert str(remedy) == "`pytest -q` failed: No module. What ended it: `pip install x`; edited a.py."


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (TRACEBACK, True),
        ("bash: line 1: foo: command not found\n", True),
        ("cat: nope.txt: No such file or directory\n", True),
        ("3 failed, 10 passed in 0.2s\n", True),
        ("Makefile:2: *** missing separator.  Stop.\n", True),
        ("src/a.c:3:1: error: expected ';'\n", True),
        ("0 failed, 10 passed in 0.2s\n", False),
        ("error handling is in errors.py\nno errors found\n", False),
        ("On branch main\nnothing to commit\n", False),
        ("", False),
    ],
)
def test_a_command_has_failed_by_its_last_lines(output: str, failed: bool) -> None:
    assert seems_failed(output) is failed
