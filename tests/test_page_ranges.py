"""Page ranges, as people write them and as they get them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklift.documents import Document
from forklift.errors import PageRangeError
from tests.made_documents import write_pdf


@pytest.mark.parametrize(
    ("pages", "numbers"),
    [
        (None, (1, 2, 3)),
        ("2", (2,)),
        ("1-2", (1, 2)),
        ("1,3", (1, 3)),
        ("2-", (2, 3)),
        ("1\u20132", (1, 2)),  # en dash
        (" 1 - 2 , 3 ", (1, 2, 3)),
        ("3,1,1-2", (1, 2, 3)),  # each once, in page order
    ],
)
def test_page_ranges_select(tmp_path: Path, pages: str | None, numbers: tuple[int, ...]) -> None:
    with Document.open(write_pdf(tmp_path / "a.pdf"), pages=pages) as document:
        assert tuple(page.number for page in document) == numbers
        assert len(document) == len(numbers)
        assert document.page_count == 3


@pytest.mark.parametrize(
    ("pages", "names"),
    [
        ("3-1", "3-1"),
        ("-1", "-1"),
        ("1,,2", "1,,2"),
        ("", '""'),
        ("0", "page 0"),
        ("0-2", "page 0"),
        ("a", '"a"'),
        ("1-2-3", "1-2-3"),
        ("1.5", "1.5"),
        ("٣", "٣"),  # digits of another script are no page numbers
        ("4", "has 3 pages"),
        ("2-4", "has 3 pages"),
        ("10-12", "has 3 pages"),
        ("4-", "has 3 pages"),
    ],
)
def test_bad_page_ranges_are_named_with_the_accepted_forms(tmp_path: Path, pages: str, names: str) -> None:
    path = write_pdf(tmp_path / "a.pdf")
    with pytest.raises(PageRangeError) as caught:
        Document.open(path, pages=pages)
    assert names in str(caught.value)
    assert '"1-3,5" or "5-"' in str(caught.value)
    assert caught.value.exit_code == 2
