"""The speed of the server, and all that shows it.

python scripts/bench --render    write docs/performance.md and the READMEs anew from docs/performance/
"""

import argparse

from show import pages


def main() -> None:
    parser = argparse.ArgumentParser(
        "python scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--render", action="store_true", required=True)
    parser.parse_args()
    for path in pages.write():
        print(f"{path} is written")


if __name__ == "__main__":
    main()
