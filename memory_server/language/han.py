"""Traditional Chinese characters and the simplified ones that mean the same.

The pairs are those of OpenCC 1.4.2 (`TSCharacters.txt`, Apache-2.0): of each line the first form, one character to one.
In `han.txt` a line of traditional characters stands above the line of their simplified ones. The table
`character_forms` in the database has the same pairs, so that SQL triggers can fold text.
"""

from pathlib import Path

_LINES = Path(__file__).with_name("han.txt").read_text(encoding="utf-8").split()

TRADITIONAL, SIMPLIFIED = "".join(_LINES[::2]), "".join(_LINES[1::2])

TO_SIMPLIFIED = str.maketrans(TRADITIONAL, SIMPLIFIED)
"""The pairs for `str.translate`."""
