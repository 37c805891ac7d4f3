"""JavaScript in a worker process."""
