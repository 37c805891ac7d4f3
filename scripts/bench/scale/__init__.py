"""What `python scripts/bench` measures: files of any size, the calls on them, floors, and the servers of others."""
