"""Documents side by side on one picture, to look at: `python -m training.contact_sheet invoice --number 8`."""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image

from training.layouts import PROFILES, make_document
from training.leaf import Document
from training.seeds import held_out_random
from training.wide.wear import wear


def pictures(document: Document) -> list[Image.Image]:
    """Every page, in colour unless it is a scan."""
    if document.noise != "clean":
        return [Image.fromarray(page).convert("RGB") for page in document.sheet.render()]
    import pypdfium2 as pdfium

    pdf = pdfium.PdfDocument(document.sheet.pdf())
    try:
        return [page.render(scale=96 / 72).to_pil().convert("RGB") for page in pdf]
    finally:
        pdf.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=PROFILES["wide"])
    parser.add_argument("--profile", choices=tuple(PROFILES), default="wide")
    parser.add_argument("--first", type=int, default=0, help="index of the first held-out document")
    parser.add_argument("--number", type=int, default=8)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--held-out", action="store_true", help="of the families that training never draws")
    parser.add_argument("--worn", action="store_true", help="as scans")
    parser.add_argument("--output", type=Path, default=Path("contact_sheet.png"))
    arguments = parser.parse_args()
    pages = []
    for index in range(arguments.first, arguments.first + arguments.number):
        random = held_out_random(index)
        document = make_document(random, arguments.kind, profile=arguments.profile, held_out=arguments.held_out)
        pages += pictures(wear(document, random) if arguments.worn else document)
    width, height = (max(page.size[axis] for page in pages) + 8 for axis in (0, 1))
    rows = -(-len(pages) // arguments.columns)
    sheet = Image.new("RGB", (width * arguments.columns, height * rows), (110, 110, 110))
    for index, page in enumerate(pages):
        sheet.paste(page, (index % arguments.columns * width, index // arguments.columns * height))
    sheet.save(arguments.output)
    print(f"{len(pages)} pages in {arguments.output}")


if __name__ == "__main__":
    main()
