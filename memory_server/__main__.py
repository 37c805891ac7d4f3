"""`python -m memory_server` is the same program as `memory-server`."""

import sys

from memory_server.cli import main

if __name__ == "__main__":
    sys.exit(main())
