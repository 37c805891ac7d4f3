"""At the end of a turn, before a context is shortened, and at the end of a session: what is kept unasked."""

from pathlib import Path

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.hook import transcript
from memory_server.hook.event import Event, Name
from memory_server.language.told import Judge
from memory_server.services.capturing import CaptureService
from memory_server.services.learning import LearningService
from memory_server.storage.database import Database


def keep(
    event: Event, database: Database, caller: Caller, learns: bool, judge: Judge, one_machine: bool = True
) -> None:
    """Keep the last turn and the facts that it told, and learn what it used; at the end also what is left open.

    Nothing while the assistant goes on because a hook of its stop asked for it: the turn has not ended.
    """
    if event.again:
        return
    messages = transcript.last_turn(event.transcript) if event.transcript else []
    texts = {message.role: message.content for message in messages}
    turn = [
        Message("user", event.prompt or texts.get("user", "")),
        Message("assistant", event.reply or texts.get("assistant", "")),
    ]
    service = CaptureService(database)
    if service.keep_turn(turn, event.name, caller):
        service.keep_told(turn, event.name, caller, judge)
        LearningService(database, learns).judge(turn, caller)
    if event.transcript is not None:
        _follow(event.transcript, database, caller, one_machine)
    if event.name is Name.END:
        service.keep_left_open(turn, event.name, caller)


def _follow(path: Path, database: Database, caller: Caller, one_machine: bool) -> None:
    """Take in what a transcript has more, if one of the folder of its client was ever imported."""
    folder = transcript.folder_of(path)
    with database.read() as tx:
        is_followed = next(tx.turns.files(str(folder)), None) is not None
    if is_followed:
        from memory_server.transfer.transcripts import TranscriptService  # it imports numpy

        TranscriptService(database, one_machine).follow(path, folder, caller)
