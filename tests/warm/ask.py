"""Has a fork run the program: `ask.py SOCKET ARGUMENT…`. It ends as the fork ends; for an engine it ends at once.

Thousands of tests start it, so it imports what is compiled in: with `json`, `signal` and `socket` a start costs three
times as much.
"""

import marshal
import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOL_SOCKET, socket

signal = __import__("_signal")

STREAMS = (0, 1, 2)

fork = 0
early: list[int] = []
"""Signals that came before the number of the fork, which may answer its first calls before this reads that."""


def hand_on(signal_number: int, _: object) -> None:
    if fork:
        os.kill(fork, signal_number)
    else:
        early.append(signal_number)


for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(signal_number, hand_on)
server = socket(AF_UNIX)
server.connect(sys.argv[1])
asked = marshal.dumps((sys.argv[2:], dict(os.environ), os.getcwd()))  # noqa: PTH109 - pathlib costs a start
streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in STREAMS)
server.sendmsg([len(asked).to_bytes(8, "big")], [(SOL_SOCKET, SCM_RIGHTS, streams)])
server.sendall(asked)
told = b""


def number() -> int:
    """The next line of the answer."""
    global told
    while b"\n" not in told:
        piece = server.recv(64)
        assert piece, "the process that forks has ended"
        told += piece
    line, _, told = told.partition(b"\n")
    return int(line)


fork = number()
if sys.argv[2:4] == ["engine", "run"]:  # nobody's child, as an engine is
    os._exit(0)
for signal_number in early:
    try:  # noqa: SIM105 - contextlib costs a start
        os.kill(fork, signal_number)
    except ProcessLookupError:  # it has ended meanwhile
        pass
for stream in STREAMS:  # the fork alone holds them now
    os.close(stream)
code = number()
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
