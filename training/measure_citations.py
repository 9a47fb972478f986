"""How well values are found on the pages: `python -m training.measure_citations --documents 300`.

The true values of held-out generated documents are looked up as if they had been read right, in the text layer of
the PDF; the generator knows where it drew each glyph. A box is right when the cited words hold every glyph that the
value is read from and no box of the citation is without one of them. (A currency that is drawn at several amounts may
be cited at any of them; everything else stands where the generator says.) Then some values are falsified, one
character or digit each, as a misreading would, and must come out as `grounded: False`. No model takes part.
"""

from __future__ import annotations

import argparse
import datetime
import string
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from forklift.citations import PageText, cite
from forklift.confidence import leaves
from forklift.documents import Document as OpenDocument
from forklift.results import Citation, Field
from forklift.schema import Schema
from training.leaf import Document, Leaf
from training.seeds import make_heldout
from training.tasks import answer_json
from training.values import SYMBOLS

FALSIFIED = 0.3  # share of a document's values that are falsified at once


def true_leaves(tree: Any, pointer: str = "") -> Iterator[tuple[str, Leaf]]:
    if isinstance(tree, Leaf):
        yield pointer, tree
        return
    for name, child in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from true_leaves(child, f"{pointer}/{name}")


def holds(citations: tuple[Citation, ...], leaf: Leaf) -> bool:
    """Whether the cited boxes are those of the value's glyphs and no others."""
    glyphs = [place for place in leaf.places[:-1] if place is not None]

    def inside(citation: Citation, place: Any) -> bool:
        box = citation.box
        return citation.page == place.page + 1 and box.left <= place.x <= box.right and box.top <= place.y <= box.bottom

    return (
        bool(glyphs)
        and all(any(inside(citation, place) for citation in citations) for place in glyphs)
        and all(any(inside(citation, place) for place in glyphs) for citation in citations)
    )


def shows_currency(citations: tuple[Citation, ...], leaf: Leaf, document: Document) -> bool:
    """Whether the one cited box holds the glyphs of a sign or code that the document draws for the same currency."""
    spellings = (leaf.text, SYMBOLS.get(leaf.text, leaf.text))
    for run in document.sheet.runs:
        for spelling in spellings:
            at = run.text.find(spelling)
            if at >= 0 and holds(citations, Leaf(leaf.value, leaf.text, (*run.places[at : at + len(spelling)], None))):
                return True
    return False


def falsify(random: Random, value: str | int | float, currencies: tuple[str, ...]) -> str | int | float:
    """The value with one character misread; a date a few days on, a currency another one."""
    if isinstance(value, str) and value in currencies:
        return random.choice([code for code in currencies if code != value])
    if isinstance(value, str):
        try:
            day = datetime.date.fromisoformat(value)
        except ValueError:
            pass
        else:
            return (day + datetime.timedelta(days=random.randint(1, 25))).isoformat()
    text = value if isinstance(value, str) else (str(value) if isinstance(value, int) else f"{value:.2f}")
    places = [index for index, character in enumerate(text) if character.isalnum()]
    at = random.choice(places)
    if text[at].isdigit():
        other = random.choice([digit for digit in "0123456789" if digit != text[at] and (digit != "0" or at)])
    else:
        letters = string.ascii_uppercase if text[at].isupper() else string.ascii_lowercase
        other = random.choice([letter for letter in letters if letter != text[at]])
    text = text[:at] + other + text[at + 1 :]
    return type(value)(text) if not isinstance(value, str) else text


def page_texts(path: Path) -> list[PageText]:
    with OpenDocument.open(path) as document:
        return [PageText(page.number, page.size, page.words()) for page in document.pages]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="index of the first held-out document")
    parser.add_argument("--kind", help="only this kind; otherwise invoices and receipts in turn")
    parser.add_argument("--misses", type=int, default=20, help="how many misses of each sort to print")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    misses: dict[str, list[str]] = {"not cited": [], "wrong box": [], "false value found": []}
    seconds = 0.0
    for index in range(arguments.first, arguments.first + arguments.documents):
        document, task = make_heldout(index, arguments.kind)
        seconds += measure(index, document, task.schema, task.answer, counts, misses)
    cited, right = counts["cited"] / counts["values"], counts["right box"] / max(counts["cited"], 1)
    print(f"{arguments.documents} documents, {counts['values']} printed values, {seconds:.1f} s")
    print(f"cited {cited:.2%}; of these on the value {right:.2%}")
    print(
        f"of {counts['falsified']} falsified values grounded False {counts['denied'] / counts['falsified']:.2%}", end=""
    )
    print(f", undecided {counts['undecided'] / counts['falsified']:.2%}")
    true = counts["beside"]
    print(f"of {true} true values beside them grounded {counts['beside grounded'] / max(true, 1):.2%}")
    names = sorted({key.partition(" ")[2] for key in counts if key.startswith("field ")})
    for name in names:
        total = counts[f"field {name}"]
        print(
            f"  {name:28} cited {counts[f'cited {name}'] / total:6.1%}  on the value "
            f"{counts[f'right {name}'] / max(counts[f'cited {name}'], 1):6.1%}  false ones denied "
            f"{counts[f'denied {name}'] / max(counts[f'falsified {name}'], 1):6.1%}  of {total}"
        )
    for sort, lines in misses.items():
        for line in lines[: arguments.misses]:
            print(f"{sort}: {line}")


def measure(
    index: int,
    document: Document,
    schema_source: dict[str, Any],
    answer: dict[str, Any],
    counts: Counter[str],
    misses: dict[str, list[str]],
) -> float:
    schema = Schema(schema_source)
    truth = dict(true_leaves(answer))
    data = answer_json(answer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document.pdf"
        path.write_bytes(document.sheet.pdf())
        start = time.perf_counter()
        pages = page_texts(path)
    fields = [Field(pointer, value) for pointer, value in leaves(data)]
    cited = cite(fields, pages, schema)
    seconds = time.perf_counter() - start
    for field in cited:
        leaf = truth.get(field.pointer)
        if leaf is None or leaf.value is None:
            continue
        name = "/".join(part for part in field.pointer.split("/")[1:] if not part.isdigit())
        counts["values"] += 1
        counts[f"field {name}"] += 1
        if not field.citations:
            misses["not cited"].append(f"{index} {field.pointer} {field.value!r} {field.grounded}")
            continue
        counts["cited"] += 1
        counts[f"cited {name}"] += 1
        if holds(field.citations, leaf) or (name == "currency" and shows_currency(field.citations, leaf, document)):
            counts["right box"] += 1
            counts[f"right {name}"] += 1
        else:
            boxes = [(one.text, tuple(round(v) for v in vars(one.box).values())) for one in field.citations]
            glyph = next((p for p in leaf.places if p), None)
            misses["wrong box"].append(f"{index} {field.pointer} {field.value!r}: {boxes}, drawn at {glyph}")
    random = Random(index)
    currencies = ("EUR", "USD", "GBP", "CHF", "SEK")
    chosen = {
        field.pointer: falsify(random, field.value, currencies)
        for field in fields
        if field.value is not None and isinstance(field.value, str | int | float) and random.random() < FALSIFIED
    }
    altered = [Field(field.pointer, chosen.get(field.pointer, field.value)) for field in fields]
    for field in cite(altered, pages, schema):
        if field.pointer in chosen:
            name = "/".join(part for part in field.pointer.split("/")[1:] if not part.isdigit())
            counts["falsified"] += 1
            counts[f"falsified {name}"] += 1
            counts["denied"] += field.grounded is False
            counts[f"denied {name}"] += field.grounded is False
            counts["undecided"] += field.grounded is None
            if field.grounded:
                text = " / ".join(one.text for one in field.citations)
                misses["false value found"].append(
                    f"{index} {field.pointer} {truth[field.pointer].value!r} as {field.value!r}: {text}"
                )
        elif field.value is not None and isinstance(field.value, str | int | float):
            counts["beside"] += 1
            counts["beside grounded"] += field.grounded is True
    return seconds


if __name__ == "__main__":
    main()
