"""What services may ask of a database, whichever it is."""
