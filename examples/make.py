"""Draw the example documents and their expected answers: `python examples/make.py`.

Their seeds are of a range that training never uses: they are as new to the bundled model as to any other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from training.layouts import make_document  # noqa: E402  (the recipe is no installed package)
from training.leaf import Document  # noqa: E402
from training.scan import scanned  # noqa: E402
from training.seeds import example_random  # noqa: E402
from training.tasks import answer_json, plain_task  # noqa: E402

# file -> kind of document, index of its seed: documents that show every field of their schema
EXAMPLES = {
    "invoice.pdf": ("invoice", 1009),
    "receipt.png": ("receipt", 1088),
    "invoice_two_pages.pdf": ("invoice_two_pages", 2117),
}


def example(name: str) -> Document:
    kind, index = EXAMPLES[name]
    return make_document(example_random(index), kind)


def main() -> None:
    for name, (_, index) in EXAMPLES.items():
        document = example(name)
        path = FOLDER / name
        if path.suffix == ".pdf":
            path.write_bytes(document.sheet.pdf())
        else:
            (page,) = document.sheet.render(96)
            Image.fromarray(scanned(page, example_random(index))).save(path)
        answer = answer_json(plain_task(document).answer)
        text = json.dumps(answer, indent=2, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
