"""What a briefing says: the items, how they are worded, and which of them in how many words."""
