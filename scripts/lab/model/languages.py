"""Measure the directions that tell languages apart in the vectors of texts: `python scripts/lab/model/languages.py`.

The model's own correction takes out the direction that questions and texts have in common. Texts alone keep more of
their language, and German is not corrected at all. Writes memory_server/domain/languages.json.
"""

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402

PAIRS = Path(__file__).with_name("pairs.json")
TARGET = ROOT / "memory_server" / "domain" / "languages.json"
DECIMALS = 4


def main() -> None:
    texts = [pair for pair in json.loads(PAIRS.read_text(encoding="utf-8")) if "de" in pair]
    embedder = BundledEmbedder()
    english, german, chinese = (
        np.mean(embedder.embed_documents([text[language] for text in texts]), axis=0)
        for language in ("en", "de", "zh")
    )
    directions, _ = np.linalg.qr(np.array([german - (english + chinese) / 2, chinese - english]).T)
    rows = [json.dumps([round(float(number), DECIMALS) for number in row]) for row in directions.T]
    TARGET.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
