"""`memory-server install CLIENT` and `uninstall`: enters the server and its hooks in the files of a client."""
