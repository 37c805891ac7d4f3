"""Has a fork run the program: `ask.py SOCKET ARGUMENT…`. It ends as the fork ends."""

import json
import os
import signal
import socket
import sys

STREAMS = (0, 1, 2)

server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
asked = json.dumps([sys.argv[2:], dict(os.environ), os.getcwd()]).encode()  # noqa: PTH109 - pathlib costs a start
socket.send_fds(server, [len(asked).to_bytes(8, "big")], STREAMS)
server.sendall(asked)
answers = server.makefile()
fork = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda given, _: os.kill(fork, given))
for stream in STREAMS:  # the fork alone holds them now
    os.close(stream)
code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
