"""Use cases: the order of the steps, and the transaction around them."""
