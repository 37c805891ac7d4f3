"""The parts of transformers that its documentation does not promise, all in one place.

Checked with transformers 5.23.0; tests/embedding/test_compat.py names that version.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def hub_commit(model: "SentenceTransformer") -> str | None:
    """The commit of the hub that a model was loaded from, if transformers recorded it."""
    network = model.transformers_model
    commit: str | None = getattr(network.config, "_commit_hash", None) if network is not None else None
    return commit
