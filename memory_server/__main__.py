"""The program: `memory-server`, and `python -m memory_server` alike."""

import gc
import sys


def main() -> int:
    """The imports make a hundred thousand objects that all stay: to look for garbage meanwhile costs a tenth."""
    gc.disable()
    from memory_server.cli.main import main as run

    gc.freeze()
    gc.enable()
    return run()


if __name__ == "__main__":
    sys.exit(main())
