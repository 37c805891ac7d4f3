"""The text of a briefing: its items, their wording, and the choice of items and lengths."""
