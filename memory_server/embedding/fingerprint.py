"""Computes the fingerprint of a space."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from memory_server.domain.embedding import Space


def fingerprinted(space: Space, origin: str) -> Space:
    """The space with the sha256 of all its other fields and of `origin`, its files or hub commit."""
    fields = asdict(space)
    del fields["fingerprint"]
    canonical = json.dumps([fields, origin], sort_keys=True, ensure_ascii=True)
    return replace(space, fingerprint=hashlib.sha256(canonical.encode()).hexdigest())


def digest_of_files(folder: Path, files: Iterable[Path]) -> str:
    """One sha256 over the contents of the files, and over their paths below `folder`."""
    whole = hashlib.sha256()
    for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        with file.open("rb") as stream:
            part = hashlib.file_digest(stream, "sha256").hexdigest()
        whole.update(f"{name} {part}\n".encode())
    return whole.hexdigest()
