"""Memory that nobody uses is given back to the system."""

import subprocess
import sys

import pytest

from memory_server.engine import arenas

FREED = """
import threading
from memory_server.engine import arenas

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

arenas.keep_few()
blocks = [bytes(2000) for _ in range(30_000)]
last = blocks[-1]
del blocks
before = resident()
arenas.LOADED = 0
arenas.give_back_what_loading_took()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
print(before - resident())
"""
"""Frees 60 MB before a block that stays: such memory glibc keeps."""


@pytest.mark.skipif(arenas._glibc() is None, reason="only glibc has arenas")
def test_what_loading_took_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 40_000_000


SPARSE = """
from memory_server.engine import arenas
arenas.keep_few()
import numpy

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

before = resident()
there = numpy.zeros(128_000_000, numpy.uint8)
there[::4_000_000] = 1
print(resident() - before)
"""
"""Writes 32 bytes of 128 MB."""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_array_takes_only_the_pages_that_are_written() -> None:
    done = subprocess.run([sys.executable, "-c", SPARSE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 8_000_000
