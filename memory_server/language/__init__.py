"""Language: text, Han characters, function words, queries, keys, token counts. Knows none of the server's features."""
