"""Has an engine run in a fork: with this folder in PYTHONPATH, Python imports this file before the program.

A front starts its engine as it does for users. The process that it starts hands everything to a fork, and ends.
"""

import os
import sys

ENGINE = ["-P", "-m", "memory_server", "engine", "run"]

if sys.orig_argv[1:6] == ENGINE and "WARM_ENGINES" in os.environ:
    sys.argv = ["ask.py", os.environ["WARM_ENGINES"], *sys.orig_argv[4:]]
    sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - pathlib costs a start
    __import__("ask")  # never returns
