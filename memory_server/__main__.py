"""The program: `memory-server`, and `python -m memory_server` alike."""

import gc
import sys

FOR_PEOPLE = ("log", "captured", "forget", "learnt", "unlearn", "-h", "--help")
"""What follows `hook` where a person types it. All else is a client's event, which must never fail."""


def main() -> int:
    """Run the program. The imports create 100,000 objects that all stay: looking for garbage among them costs 10 %.

    A hook and the version import nothing of the server.
    """
    gc.disable()
    match sys.argv[1:]:
        case ["--version"]:
            from memory_server import __version__

            sys.stdout.write(f"memory-server {__version__}\n")
            return 0
        case ["hook", event, *_] if event not in FOR_PEOPLE:
            try:
                from memory_server.hook.main import main as hook
            except ImportError:  # half an installation must not keep a person from working
                return 0
            return hook(sys.argv[2:])
    from memory_server.cli.main import main as run

    gc.freeze()
    gc.enable()
    return run()


if __name__ == "__main__":
    sys.exit(main())
