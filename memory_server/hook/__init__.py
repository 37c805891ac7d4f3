"""The face for clients' hooks: a process for each event, which starts in a tenth of a second and never fails."""

VERBS = ("log", "captured", "forget", "learnt", "unlearn")
"""What a person types behind `hook` in place of an event."""
