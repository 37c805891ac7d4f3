"""What `python scripts/lab/bench` measures: files of any size, the calls on them, floors, and the servers of others."""
