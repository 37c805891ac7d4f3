"""What is known about languages: text, Han characters, function words, queries, keys. No feature is known here."""
