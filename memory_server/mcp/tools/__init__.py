"""What a client can call: signature, description, one service call."""
