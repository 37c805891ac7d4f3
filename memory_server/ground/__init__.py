"""The ground of a note: the lines of files that hold what it names, observed once and looked at again.

No database, no network, no git process: files are read, within a budget of CPU time.
"""

from memory_server.ground.anchors import Anchor, State, Verdict
from memory_server.ground.concerning import About, Touched, about, touched
from memory_server.ground.looking import look
from memory_server.ground.observing import observe
from memory_server.ground.remarks import remark, renewed

__all__ = [
    "About",
    "Anchor",
    "State",
    "Touched",
    "Verdict",
    "about",
    "look",
    "observe",
    "remark",
    "renewed",
    "touched",
]
