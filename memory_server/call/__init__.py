"""A call while it runs: for whom, until when, whether it is repeated, and where its threads wait."""
