"""The table `edges`: directed, named relations between memories."""

from memory_server.domain.edge import Edge
from memory_server.domain.memory import Caller
from memory_server.sqlite.database import WriteTx


def connect(tx: WriteTx, edge: Edge, caller: Caller) -> None:
    """Write the edge; where it exists its strength is renewed."""
    tx.execute(
        """
        INSERT INTO edges (source_id, target_id, relation, strength, valid_from, created_by)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (source_id, target_id, relation) WHERE valid_to IS NULL DO UPDATE SET strength = excluded.strength
        """,
        (edge.source, edge.target, edge.relation.value, edge.strength, tx.now, caller.client),
    )
