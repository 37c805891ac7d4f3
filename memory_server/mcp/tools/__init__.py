"""The tools that a client can call: signature, description, one service call."""
