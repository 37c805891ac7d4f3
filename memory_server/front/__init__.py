"""The front: what a client starts. It answers what is the same in every session, and relays all else to an engine."""
